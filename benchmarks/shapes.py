"""How the time of a permutation test grows with the rows, by the shape of the columns.

    python benchmarks/shapes.py --rows 2500 10000 --conditions 2 --out docs/benchmarks/shapes.csv

Each shape is made of the same Gaussian columns. Times are CPU seconds of one thread for 20 permutations, one run each.
Rows of the file that are measured again are replaced; the exponents are printed from all that it holds.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import data
import numpy as np
from scipy.stats import cauchy, norm, rankdata

import pyknnmi

Table = np.ndarray  # x, y, then z
PERMUTATIONS = 20
FIELDS = ("shape", "conditions", "rows", "seconds")


def columns(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Table], Table]:
    """Change all columns, given as ranks in (0, 1)."""
    return lambda table: change((rankdata(table, axis=0) - 0.5) / len(table))


def conditions(change: Callable[[Table], Table]) -> Callable[[Table], Table]:
    """Change the columns of z alone."""
    return lambda table: np.hstack([table[:, :2], change(table[:, 2:])])


def half_zero(table: Table) -> Table:
    """Set all columns to 0 in the same half of the rows."""
    return np.where(np.random.default_rng(2).random((len(table), 1)) < 0.5, 0.0, table)


SHAPES: dict[str, Callable[[Table], Table]] = {
    "Gaussian": lambda table: table,
    "rounded to one digit": lambda table: np.round(table, 1),
    "each column half constant": columns(lambda u: np.maximum(u, 0.5)),
    "half the rows equal": half_zero,
    "half the rows equal in z": conditions(half_zero),
    "two values in z": conditions(np.sign),
    "five values in z": conditions(columns(lambda u: np.floor(5 * u))),
    "thirty categories in z": conditions(columns(lambda u: np.floor(30 * u))),
    "constant z": conditions(np.zeros_like),
    "one constant in z": conditions(lambda z: np.where(np.arange(z.shape[1]) == 0, 0.0, z)),
    "counts": columns(lambda u: np.floor(np.exp(norm.ppf(u) + 0.5))),
    "one value of 1e9": lambda table: np.where(table == table.max(axis=0), 1e9, table),
    "lognormal, sigma = 2": lambda table: np.exp(2 * table),
    "Cauchy": columns(cauchy.ppf),
}

CATEGORIES = {"thirty categories in z"}  # whose z are no numbers


def seconds(shape: str, rows: int, count: int) -> float:
    """Return the CPU time of a test of this shape."""
    table = SHAPES[shape](np.hstack(data.gaussian(rows, count)))
    flags = [False, False] + count * [shape in CATEGORIES]
    before = time.process_time()
    pyknnmi.numbers.permutation_test(
        table[:, 0], table[:, 1], table[:, 2:], 3, permutations=PERMUTATIONS, threads=1, categories=flags
    )
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2500, 10000])
    parser.add_argument("--conditions", type=int, nargs="+", default=[2])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--out", type=Path, help="CSV file of all that was measured")
    options = parser.parse_args()
    seconds("Gaussian", 500, 2)  # loads what is needed
    found: dict[tuple[str, int, int], float] = {}
    if options.out and options.out.exists():
        with options.out.open(newline="") as stream:
            for record in csv.DictReader(stream):
                key = (record["shape"], int(record["conditions"]), int(record["rows"]))
                found[key] = float(record["seconds"])
    for count in options.conditions:
        for shape in options.shapes:
            for rows in options.rows:
                found[shape, count, rows] = round(seconds(shape, rows, count), 4)
                if options.out:
                    write(found, options.out)
            sizes = sorted(rows for name, z, rows in found if (name, z) == (shape, count))
            times = [found[shape, count, rows] for rows in sizes]
            slope = np.polyfit(np.log(sizes), np.log(times), 1)[0] if len(sizes) > 1 else float("nan")
            shown = ", ".join(f"{rows}: {value:.3f} s" for rows, value in zip(sizes, times, strict=True))
            print(f"{count} in z, {shape:<26} n^{slope:.2f}  {shown}", flush=True)


def write(found: dict[tuple[str, int, int], float], path: Path) -> None:
    """Write all that was measured."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows((*key, value) for key, value in sorted(found.items()))


if __name__ == "__main__":
    main()
