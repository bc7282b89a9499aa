"""Level and power of the tests on tables as people have them: censored, filled up, counted, rounded, in time order.

    python benchmarks/real_tables.py ties --rows 200
    python benchmarks/real_tables.py given given-two --rows 1000 --draws 100
    python benchmarks/real_tables.py --write

A part is about pairs of columns in which nothing depends (level), or y depends on x (power). Each case is drawn
`--draws` times for the level and half as often for the power, and the share of tests that reject at 0.05 is kept. The
rows go to `docs/benchmarks/real_tables.csv`, or to `--out`; those that are there already are not computed again.
`--write` writes the tables of docs/which_spec.md from the former.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from pyknnmi import Dataset, PyknnmiWarning, parse_test
from pyknnmi.components import Run

Column = NDArray[np.float64]
Table = NDArray[np.float64]
Random = np.random.Generator
Kind = Callable[[Column, Random], Column]
ALPHA, CORRELATION = 0.05, 0.4
DOCS = Path(__file__).resolve().parents[1] / "docs"
FOUND = DOCS / "benchmarks" / "real_tables.csv"


def censored(share: float) -> Kind:
    return lambda u, random: np.maximum(u, np.quantile(u, share))


def clipped(share: float) -> Kind:
    return lambda u, random: np.clip(u, np.quantile(u, share), np.quantile(u, 1 - share))


def counts(u: Column, random: Random) -> Column:
    """Return Poisson counts of a mean that follows the column."""
    return random.poisson(np.exp(1 + 0.7 * u)).astype(float)


def ages(u: Column, random: Random) -> Column:
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


def pair(correlation: float, rows: int, random: Random) -> tuple[Column, Column]:
    x, noise = random.standard_normal((2, rows))
    return x, correlation * x + math.sqrt(1 - correlation**2) * noise


def of_kind(given: str) -> Callable[[str, int, bool, Random], Table]:
    """Return what draws x, y and z: numbers of a kind (n), or of three values (c); x and y depend on each of z."""

    def draw(case: str, rows: int, dependent: bool, random: Random) -> Table:
        kind = KINDS[case]
        x, y = pair(CORRELATION * dependent, rows, random)
        zs = []
        for of in given:
            z = random.integers(0, 3, rows).astype(float) if of == "c" else kind(random.standard_normal(rows), random)
            part = (z - z.mean()) / z.std() / 2  # of what is seen of z: given more of it x and y would be dependent
            x, y = x + part, y + part
            zs.append(z)
        return np.column_stack([kind(x, random), kind(y, random), *zs])

    return draw


def autoregressive(*coefficients: float) -> Callable[[Table], Table]:
    def of(steps: Table) -> Table:
        values = np.zeros_like(steps)
        for i in range(len(coefficients), len(steps)):
            values[i] = steps[i] + sum(c * values[i - lag] for lag, c in enumerate(coefficients, start=1))
        return values

    return of


def season(steps: Table) -> Table:
    """Return waves of 12 rows, whose phases follow from the first steps, and as much noise again in deviations."""
    return np.sin(2 * np.pi * np.arange(len(steps))[:, None] / 12 + 100 * steps[0]) + steps


def changing_spread(steps: Table) -> Table:
    """Return series whose spread depends on the last step (ARCH)."""
    values = np.zeros_like(steps)
    for i in range(1, len(steps)):
        values[i] = steps[i] * np.sqrt(0.4 + 0.6 * values[i - 1] ** 2)
    return values


SERIES: dict[str, Callable[[Table], Table]] = {
    "autoregressive, coefficient 0.5": autoregressive(0.5),
    "autoregressive, coefficient 0.8": autoregressive(0.8),
    "autoregressive, coefficient 0.95": autoregressive(0.95),
    "autoregressive, in waves of 12 rows": autoregressive(1.6, -0.86),
    "moving average of 11 rows": lambda steps: np.cumsum(steps, axis=0)[11:] - np.cumsum(steps, axis=0)[:-11],
    "spread that depends on the last row": changing_spread,
    "random walk": autoregressive(1.0),
    "season of 12 rows": season,
    "trend over two deviations": lambda steps: steps + 2 * np.arange(len(steps))[:, None] / (len(steps) - 200),
}


def series(case: str, rows: int, dependent: bool, random: Random) -> Table:
    """Return a pair of series; the second is partly the first."""
    x, y = SERIES[case](random.standard_normal((rows + 200, 2)))[-rows:].T
    correlation = CORRELATION * dependent
    return np.column_stack([x, correlation * x + math.sqrt(1 - correlation**2) * y])


SHARES: dict[str, tuple[list[float], float]] = {
    "2 values": ([0.5, 0.5], 0.25),
    "2 values, one of 10 %": ([0.9, 0.1], 0.25),
    "3 values": ([1 / 3] * 3, 0.25),
    "5 values": ([0.2] * 5, 0.25),
    "5 values, two of 3 %": ([0.47, 0.27, 0.2, 0.03, 0.03], 0.25),
    "10 values": ([0.1] * 10, 0.25),
}
"""Shares of the values, and the share of rows in which y is x where it depends on it."""


def categories(given: int) -> Callable[[str, int, bool, Random], Table]:
    """Return what draws x, y, and categories of three values whose cells x and y both depend on."""

    def draw(case: str, rows: int, dependent: bool, random: Random) -> Table:
        shares, effect = SHARES[case]
        z = random.integers(0, 3, (rows, given))
        cell = z @ 3 ** np.arange(given)
        weights = 4 * len(shares) * np.array(shares)
        x, y = (
            (random.random((rows, 1)) > random.dirichlet(weights, 3**given).cumsum(axis=1)[cell, :-1]).sum(axis=1)
            for _ in "xy"
        )
        return np.column_stack([x, np.where(random.random(rows) < effect * dependent, x, y), z]).astype(float)

    return draw


def tables_of(x: Column, y: Column, z: Table) -> list[NDArray[np.int64]]:
    """Return the contingency table of each cell of z."""
    cells = np.unique(z, axis=0, return_inverse=True)[1].ravel() if z.shape[1] else np.zeros(len(x), dtype=int)
    shape = (cells.max() + 1, len(np.unique(x)), len(np.unique(y)))
    places = (cells, *(np.unique(column, return_inverse=True)[1] for column in (x, y)))
    return list(np.bincount(np.ravel_multi_index(places, shape), minlength=math.prod(shape)).reshape(shape))


def g_rejects(x: Column, y: Column, z: Table) -> bool:
    """The likelihood-ratio test of contingency tables, summed over the cells of z, by chi-squared tails."""
    statistic = freedom = 0.0
    for cell in tables_of(x, y, z):
        table = cell[cell.any(axis=1)][:, cell.any(axis=0)]
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        statistic += 2 * (table * np.log(np.where(table > 0, table / expected, 1))).sum()
        freedom += (table.shape[0] - 1) * (table.shape[1] - 1)
    return bool(chi2.sf(statistic, freedom) < ALPHA)


def cmh_rejects(x: Column, y: Column, z: Table) -> bool:
    """The test of Cochran, Mantel and Haenszel for categories without order, by chi-squared tails."""
    excess: float | Column = 0.0
    covariance: float | Table = 0.0
    for table in tables_of(x, y, z):
        n = table.sum()
        if n > 1:
            of_x, of_y = table.sum(axis=1), table.sum(axis=0)
            spreads = [n * np.diag(margin) - np.outer(margin, margin) for margin in (of_x, of_y)]
            excess = excess + (table - np.outer(of_x, of_y) / n)[:-1, :-1].ravel()
            covariance = covariance + np.kron(*(s[:-1, :-1] for s in spreads)) / (n**2 * (n - 1.0))
    statistic = excess @ np.linalg.pinv(covariance) @ excess
    return bool(chi2.sf(statistic, np.linalg.matrix_rank(covariance)) < ALPHA)


@dataclass(frozen=True)
class Part:
    """Cases, the tests that are compared on them, how a table is drawn, and which columns are categories."""

    tests: tuple[str, ...]
    cases: Sequence[str]
    draw: Callable[[str, int, bool, Random], Table]
    kinds: str

    def rejects(self, test: str, table: Table, seed: int) -> bool:
        if test in OTHERS:
            return OTHERS[test](table[:, 0], table[:, 1], table[:, 2:])
        names = ("x", "y", *(f"z{i}" for i in range(table.shape[1] - 2)))
        kinds = tuple("discrete" if of == "c" else "continuous" for of in self.kinds)
        bound = TESTS[test].bind(Dataset(table, names, kinds), Run(seed, 1))
        return not bound.test(0, 1, tuple(range(2, table.shape[1]))).independent

    def rates(self, case: str, rows: int, draws: int, dependent: bool) -> list[float]:
        found = np.zeros((draws, len(self.tests)))
        for seed in range(draws):
            table = self.draw(case, rows, dependent, np.random.default_rng([seed, self.cases.index(case), rows]))
            found[seed] = [self.rejects(test, table, seed) for test in self.tests]
        return [float(rate) for rate in found.mean(axis=0)]


NUMBERS = ("auto", "ksg", "mixed", "fisher-z")
TWO = ("auto", "mixed", "fisher-z")
CELLS = ("auto", "mixed", "G-test", "Cochran-Mantel-Haenszel")
SPECS = {
    "auto": "knn-cmi(permutations=99)",
    "ksg": "knn-cmi(permutations=99,estimator=ksg)",
    "mixed": "knn-cmi(permutations=99,estimator=mixed)",
    "block": "knn-cmi(permutations=99,null=block)",
    "fisher-z": "fisher-z",
}
TESTS = {name: parse_test(spec) for name, spec in SPECS.items()}
OTHERS = {"G-test": g_rejects, "Cochran-Mantel-Haenszel": cmh_rejects}
PARTS = {
    "ties": Part(NUMBERS, list(KINDS), of_kind(""), "nn"),
    "given": Part(NUMBERS, list(KINDS), of_kind("n"), "nnn"),
    "given-two": Part(TWO, list(KINDS), of_kind("nn"), "nnnn"),
    "given-category-and-number": Part(("auto", "mixed"), list(KINDS), of_kind("cn"), "nncn"),
    "given-two-categories": Part(("auto", "mixed"), list(KINDS), of_kind("cc"), "nncc"),
    "order": Part(("auto", "block", "fisher-z"), list(SERIES), series, "nn"),
    "categories": Part(CELLS, list(SHARES), categories(0), "cc"),
    "categories-given-one": Part(CELLS, list(SHARES), categories(1), "ccc"),
    "categories-given-two": Part(CELLS, list(SHARES), categories(2), "cccc"),
}
FIELDS = ["part", "rows", "case", "test", "level_draws", "level", "power_draws", "power"]


def read(file: Path) -> list[dict[str, str]]:
    """Return what was measured before."""
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def measured(part: str, rows: int, draws: int, out: Path) -> None:
    for case in PARTS[part].cases:
        if any((row["part"], row["rows"], row["case"]) == (part, str(rows), case) for row in read(out)):
            continue
        levels = PARTS[part].rates(case, rows, draws, dependent=False)
        powers = PARTS[part].rates(case, rows, draws // 2, dependent=True)
        is_new = not out.exists()
        with out.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if is_new:
                writer.writerow(FIELDS)
            for test, level, power in zip(PARTS[part].tests, levels, powers, strict=True):
                writer.writerow([part, rows, case, test, draws, round(level, 4), draws // 2, round(power, 4)])
                print(part, rows, case, test, f"{level:.3f} / {power:.2f}", flush=True)


def markdown(rows: Sequence[dict[str, str]]) -> str:
    """Return the rows about one part and number of rows as a table: level / power of each test."""
    tests = list(dict.fromkeys(row["test"] for row in rows))
    cells = {(row["case"], row["test"]): f"{float(row['level']):.3f} / {float(row['power']):.2f}" for row in rows}
    lines = [
        f"| {case} | {' | '.join(cells[case, test] for test in tests)} |"
        for case in dict.fromkeys(row["case"] for row in rows)
    ]
    level, power = (int(rows[0][f"{which}_draws"]) for which in ("level", "power"))
    errors = [math.sqrt(share * (1 - share) / draws) for share, draws in ((0.05, level), (0.5, power))]
    n = f"{int(rows[0]['rows']):,} rows"
    said = [
        f"{n}. Levels are from {level} draws, with a standard error of {errors[0]:.3f} near 0.05.",
        f"Powers are from {power}, with one of {errors[1]:.2f} at most.",
    ]
    head = " | ".join(f"`{test}`" if test in SPECS else test for test in tests)
    return "\n".join([*said, "", f"| | {head} |", f"|---|{'--:|' * len(tests)}", *lines])


def written(page: str, found: Sequence[dict[str, str]]) -> str:
    """Return a page with the tables of what was found, each after a comment that names part and number of rows."""

    def section(match: re.Match[str]) -> str:
        rows = [row for row in found if (row["part"], row["rows"]) == (match[2], match[3])]
        return f"{match[1]}\n{markdown(rows)}\n\n{match[4]}"

    return re.sub(r"(<!-- real_tables (\S+) (\d+) -->)\n.*?(<!-- end -->)", section, page, flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--out", type=Path, default=FOUND)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}")
    warnings.simplefilter("ignore", PyknnmiWarning)
    for part in options.parts:
        measured(part, options.rows, options.draws, options.out)
    if options.write:
        page = DOCS / "which_spec.md"
        page.write_text(written(page.read_text(), read(FOUND)))


if __name__ == "__main__":
    main()
