"""Level and power of the tests on tables as people have them: censored, filled up, counted, rounded, in time order.

    python benchmarks/real_tables.py --rows 200 --draws 200 ties
    python benchmarks/real_tables.py --rows 200 --draws 200 given
    python benchmarks/real_tables.py --rows 200 --draws 200 order
    python benchmarks/real_tables.py --rows 200 --draws 200 categories --out rows.csv

Two columns are made from normals with a correlation (0: level, 0.4: power), then censored, rounded and so on; for
`given` after both got a third column added, which is then censored, rounded and so on like them, and given.
Categories depend on those that they are given; in no row (level) or some rows (power) the second is the first.
The share of tests that reject at 0.05 is printed. With `--out` each row is kept, and not computed again.
"""

from __future__ import annotations

import argparse
import csv
import math
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from pyknnmi import Dataset, PyknnmiWarning, ci_test

Column = NDArray[np.float64]
Kind = Callable[[Column, np.random.Generator], Column]
ALPHA, PERMUTATIONS, CORRELATION = 0.05, 99, 0.4


def censored(share: float) -> Kind:
    return lambda u, random: np.maximum(u, np.quantile(u, share))


def clipped(share: float) -> Kind:
    return lambda u, random: np.clip(u, np.quantile(u, share), np.quantile(u, 1 - share))


def counts(u: Column, random: np.random.Generator) -> Column:
    """Return Poisson counts of a mean that follows the column."""
    return random.poisson(np.exp(1 + 0.7 * u)).astype(float)


def ages(u: Column, random: np.random.Generator) -> Column:
    """Return ages in years, half of them rounded to five."""
    years = 40 + 12 * u
    return np.where(random.random(len(u)) < 0.5, 5 * np.round(years / 5), np.round(years))


KINDS: dict[str, Kind] = {
    "continuous": lambda u, random: u,
    "censored 10 %": censored(0.1),
    "censored 30 %": censored(0.3),
    "censored 60 %": censored(0.6),
    "clipped at both ends, 20 % each": clipped(0.2),
    "one filler value in 30 %": lambda u, random: np.where(random.random(len(u)) < 0.3, 0.3, u),
    "zero or lognormal, 30 % zeros": lambda u, random: np.where(u < np.quantile(u, 0.3), 0.0, np.exp(u)),
    "counts": counts,
    "heaped ages": ages,
    "rounded to one digit": lambda u, random: np.round(u, 1),
    "rounded to two digits": lambda u, random: np.round(u, 2),
}
TIES = {
    "auto": "knn-cmi",
    "ksg": "knn-cmi(estimator=ksg)",
    "mixed": "knn-cmi(estimator=mixed)",
    "fisher-z": "fisher-z",
}
ORDER = {"auto": "knn-cmi", "block": "knn-cmi(null=block)", "fisher-z": "fisher-z"}


def tied_pairs(rows: int, draws: int, correlation: float, name: str) -> Iterator[NDArray[np.float64]]:
    kind = KINDS[name]
    for seed in range(draws):
        random = np.random.default_rng([seed, list(KINDS).index(name)])  # other draws for each kind
        u, noise = random.standard_normal((2, rows))
        v = correlation * u + math.sqrt(1 - correlation**2) * noise
        yield np.column_stack([kind(u, random), kind(v, random)])


def tied_triples(rows: int, draws: int, correlation: float, name: str) -> Iterator[NDArray[np.float64]]:
    kind = KINDS[name]
    for seed in range(draws):
        random = np.random.default_rng([seed, list(KINDS).index(name), 1])
        z, u, noise = random.standard_normal((3, rows))
        v = correlation * u + math.sqrt(1 - correlation**2) * noise
        yield np.column_stack([kind(column, random) for column in (u + z / 2, v + z / 2, z)])


def autoregressive(coefficient: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    def of(steps: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.zeros_like(steps)
        for i in range(1, len(steps)):
            values[i] = coefficient * values[i - 1] + steps[i]
        return values

    return of


def season(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return waves of 12 rows, whose phases follow from the first steps, and as much noise again in deviations."""
    return np.sin(2 * np.pi * np.arange(len(steps))[:, None] / 12 + 100 * steps[0]) + steps


SERIES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "autoregressive, coefficient 0.5": autoregressive(0.5),
    "autoregressive, coefficient 0.8": autoregressive(0.8),
    "autoregressive, coefficient 0.95": autoregressive(0.95),
    "random walk": autoregressive(1.0),
    "moving average of 11": lambda steps: np.cumsum(steps, axis=0)[11:] - np.cumsum(steps, axis=0)[:-11],
    "season of 12 rows": season,
    "trend over two deviations": lambda steps: steps + 2 * np.arange(len(steps))[:, None] / (len(steps) - 200),
}


def series(rows: int, draws: int, correlation: float, name: str) -> Iterator[NDArray[np.float64]]:
    """Yield pairs of series; the second is partly the first."""
    for seed in range(draws):
        steps = np.random.default_rng(seed).standard_normal((rows + 200, 2))
        x, y = SERIES[name](steps)[-rows:].T
        yield np.column_stack([x, correlation * x + math.sqrt(1 - correlation**2) * y])


def categorical(
    rows: int, draws: int, effect: float, values: int, given: int
) -> Iterator[tuple[Column, Column, NDArray[np.float64]]]:
    """Yield x, y and the categories that both depend on, each of three values."""
    for seed in range(draws):
        random = np.random.default_rng([seed, values, given])
        z = random.integers(0, 3, (rows, given))
        cell = z @ 3 ** np.arange(given)
        x, y = (
            (random.random((rows, 1)) > random.dirichlet(np.full(values, 2.0), 3**given).cumsum(axis=1)[cell, :-1]).sum(
                axis=1
            )
            for _ in "xy"
        )
        yield x.astype(float), np.where(random.random(rows) < effect, x, y).astype(float), z.astype(float)


def knn_rejects(x: Column, y: Column, z: NDArray[np.float64], spec: str, seed: int) -> bool:
    names = ("x", "y", *(f"z{i}" for i in range(z.shape[1])))
    data = Dataset(np.column_stack([x, y, z]), names, ("discrete",) * len(names))
    return not ci_test(data, 0, 1, names[2:], spec, threads=1, seed=seed).independent


def g_rejects(x: Column, y: Column, z: NDArray[np.float64]) -> bool:
    """The likelihood-ratio test of contingency tables, summed over the cells of z, by chi-squared tails."""
    statistic = freedom = 0.0
    _, cell = np.unique(z, axis=0, return_inverse=True) if z.shape[1] else (None, np.zeros(len(x), dtype=int))
    for c in np.unique(cell):
        rows = cell.ravel() == c
        table = (x[rows, None, None] == np.unique(x[rows])[:, None]) & (y[rows, None, None] == np.unique(y[rows]))
        counts = table.sum(axis=0)
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
        statistic += 2 * (counts * np.log(np.where(counts > 0, counts / expected, 1))).sum()
        freedom += (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return bool(chi2.sf(statistic, freedom) < ALPHA)


def of_categories(rows: int, draws: int, case: str) -> list[str]:
    values, given, effect = CATEGORIES[case]
    cells = []
    for estimator in ("auto", "mixed", None):
        spec = f"knn-cmi(permutations=199,estimator={estimator})"
        rates = [
            np.mean(
                [
                    knn_rejects(*table, spec, seed) if estimator else g_rejects(*table)
                    for seed, table in enumerate(categorical(rows, draws, size, values, given))
                ]
            )
            for size in (0.0, effect)
        ]
        cells.append(f"{rates[0]:.3f} / {rates[1]:.2f}")
    return cells


def of_numbers(rows: int, draws: int, case: str, make: Callable[..., Any], tests: dict[str, str]) -> list[str]:
    cells = []
    for test in tests.values():
        level, power = (rejected(make(rows, draws, correlation, case), test) for correlation in (0.0, CORRELATION))
        cells.append(f"{level:.3f} / {power:.2f}")
    return cells


def rejected(tables: Iterator[NDArray[np.float64]], test: str) -> float:
    spec = test if "fisher" in test else f"{test.removesuffix(')')},".replace("knn-cmi,", "knn-cmi(")
    spec = spec if "fisher" in test else f"{spec}permutations={PERMUTATIONS})"
    found = [
        not ci_test(table, 0, 1, range(2, table.shape[1]), test=spec, threads=1, seed=seed).independent
        for seed, table in enumerate(tables)
    ]
    return float(np.mean(found))


CATEGORIES = {
    f"{values} values, given {given}, effect {effect}": (values, given, effect)
    for values, given, effect in (
        (2, 0, 0.2),
        (2, 1, 0.2),
        (2, 2, 0.3),
        (3, 1, 0.2),
        (4, 2, 0.35),
        (5, 1, 0.25),
        (5, 3, 0.4),
    )
}
PARTS: dict[str, tuple[list[str], list[str], Callable[[int, int, str], list[str]]]] = {
    "ties": (list(TIES), list(KINDS), partial(of_numbers, make=tied_pairs, tests=TIES)),
    "given": (list(TIES), list(KINDS), partial(of_numbers, make=tied_triples, tests=TIES)),
    "order": (list(ORDER), list(SERIES), partial(of_numbers, make=series, tests=ORDER)),
    "categories": (["auto", "mixed", "G-test"], list(CATEGORIES), of_categories),
}
"""The tests, the cases, and what gives a cell for each test."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=PARTS)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", PyknnmiWarning)
    tests, cases, cells_of = PARTS[options.what]
    print(f"n = {options.rows}: level / power, standard error at most {0.5 / math.sqrt(options.draws):.3f}")
    print(f"| | {' | '.join(tests)} |\n|---|{'---|' * len(tests)}")
    run = [options.what, str(options.rows), str(options.draws)]
    for case in cases:
        kept = list(csv.reader(options.out.open())) if options.out and options.out.exists() else []
        cells = next((row[4:] for row in kept if row[:4] == [*run, case]), None)
        if cells is None:
            cells = cells_of(options.rows, options.draws, case)
            if options.out:
                with options.out.open("a", newline="") as file:
                    csv.writer(file).writerow([*run, case, *cells])
        print(f"| {case} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
