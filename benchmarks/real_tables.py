"""Level and power of the tests on tables as people have them: censored, filled up, counted, rounded, in time order.

    python benchmarks/real_tables.py --rows 200 --draws 200 ties
    python benchmarks/real_tables.py --rows 200 --draws 200 order
    python benchmarks/real_tables.py --rows 200 --draws 200 categories

Two columns are made from normals with a correlation (0: level, 0.4: power), then censored, rounded and so on.
Categories depend on those that they are given; in no row (level) or some rows (power) the second is the first.
The share of tests that reject at 0.05 is printed.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator

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


def series(rows: int, draws: int, correlation: float, coefficient: float) -> Iterator[NDArray[np.float64]]:
    """Yield pairs of autoregressive series of order one; the second is partly the first."""
    for seed in range(draws):
        steps = np.random.default_rng(seed).standard_normal((rows + 200, 2))
        values = np.zeros_like(steps)
        for i in range(1, len(steps)):
            values[i] = coefficient * values[i - 1] + steps[i]
        x, y = values[200:].T
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


def print_categories(rows: int, draws: int) -> None:
    tests = {"auto": "auto", "mixed": "mixed", "G-test": ""}
    print(f"| | effect | {' | '.join(tests)} |\n|---|---|{'---|' * len(tests)}")
    for values, given, effect in (
        (2, 0, 0.2),
        (2, 1, 0.2),
        (2, 2, 0.3),
        (3, 1, 0.2),
        (4, 2, 0.35),
        (5, 1, 0.25),
        (5, 3, 0.4),
    ):
        cells = []
        for estimator in tests.values():
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
        print(f"| {values} values, given {given} | {effect} | {' | '.join(cells)} |", flush=True)


def rejected(tables: Iterator[NDArray[np.float64]], test: str) -> tuple[float, float]:
    spec = test if "fisher" in test else f"{test.removesuffix(')')},".replace("knn-cmi,", "knn-cmi(")
    spec = spec if "fisher" in test else f"{spec}permutations={PERMUTATIONS})"
    found = [not ci_test(table, 0, 1, test=spec, threads=1, seed=seed).independent for seed, table in enumerate(tables)]
    rate = float(np.mean(found))
    return rate, math.sqrt(rate * (1 - rate) / len(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["ties", "order", "categories"])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore", PyknnmiWarning)
    tests = TIES if options.what == "ties" else ORDER
    print(f"n = {options.rows}: level / power, standard error at most {0.5 / math.sqrt(options.draws):.3f}")
    if options.what == "categories":
        print_categories(options.rows, options.draws)
        return
    print(f"| | {' | '.join(tests)} |\n|---|{'---|' * len(tests)}")
    size = options.rows, options.draws
    for name in KINDS if options.what == "ties" else ("0.5", "0.8", "0.95"):
        cells = []
        for test in tests.values():
            rates = [
                rejected(
                    tied_pairs(*size, correlation, name)
                    if options.what == "ties"
                    else series(*size, correlation, float(name)),
                    test,
                )[0]
                for correlation in (0.0, CORRELATION)
            ]
            cells.append(f"{rates[0]:.3f} / {rates[1]:.2f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
