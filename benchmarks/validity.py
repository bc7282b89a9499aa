"""Level and power of CI tests on nulls and alternatives of many kinds: how often is 'dependent' the answer?

    python benchmarks/validity.py --runs 100 --tests knn-cmi residual-dependence      # prints a table
    python benchmarks/validity.py --cases lin3s tanh6 --n 500
    python benchmarks/validity.py --runs 10 --tests knn-cmi "calibrate knn-cmi"        # what calibrate predicts
    python benchmarks/validity.py --results rates.csv --runs 200 --seconds 400        # goes on where it ended before
    python benchmarks/validity.py --results rates.csv --runs 0                        # the table of what is there

One row a case, as Markdown; above each group how many runs its cells have. The standard error of a rate r is
sqrt(r (1 - r) / runs). The tests are all that ship: the plugins kernel and tigramite have to be installed, or `--tests`
names others.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pyknnmi

Columns = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
Make = Callable[[np.random.Generator, int], Columns]

TESTS = [
    *("residual-dependence", "calibrated", "knn-cmi", "knn-cmi(null=local)", "fisher-z", "smooth-gcm"),
    *("kci", "rcit", "rcot", "gcm", "tigramite", "tigramite(test=parcorr)"),
]


def both(effect: Callable[[NDArray[np.float64]], NDArray[np.float64]], d: int, noise: float) -> Make:
    """Return a null: x and y have the same mean given z, and noise of their own."""

    def make(random: np.random.Generator, n: int) -> Columns:
        z = random.standard_normal((n, d))
        x, y = effect(z) + noise * random.standard_normal((2, n))
        return x, y, z

    return make


def cosine_and_square(random: np.random.Generator, n: int) -> Columns:
    z = random.standard_normal((n, 1))
    e = 0.3 * random.standard_normal((2, n))
    return np.cos(2 * z[:, 0]) + e[0], z[:, 0] ** 2 + e[1], z


def sine_and_cosine(random: np.random.Generator, n: int) -> Columns:
    z = random.standard_normal((n, 2))
    e = 0.3 * random.standard_normal((2, n))
    return np.sin(2 * (z[:, 0] + z[:, 1])) + e[0], np.cos(2 * (z[:, 0] - z[:, 1])) + e[1], z


def scale_of_one(random: np.random.Generator, n: int) -> Columns:
    z = random.standard_normal((n, 1))
    x, y = z[:, 0] + np.abs(z[:, 0]) * random.standard_normal((2, n))
    return x, y, z


def scale_of_three(random: np.random.Generator, n: int) -> Columns:
    z = random.standard_normal((n, 3))
    x, y = np.exp(z.sum(axis=1) / 2) * random.standard_normal((2, n))
    return x, y, z


def heavy_tails(random: np.random.Generator, n: int) -> Columns:
    z = random.standard_normal((n, 1))
    x, y = z[:, 0] + random.standard_t(2, (2, n))
    return x, y, z


def unequal_units(random: np.random.Generator, n: int) -> Columns:
    z = random.standard_normal((n, 3))
    x, y = z.sum(axis=1) + random.standard_normal((2, n))
    return 1000 * x, np.exp(y / 2), np.column_stack([1000 * z[:, 0], np.exp(z[:, 1]), z[:, 2]])


def irrelevant(random: np.random.Generator, n: int) -> Columns:
    x, y = random.standard_normal((2, n))
    return x, y, random.standard_normal((n, 3))


def random_signs(random: np.random.Generator, n: int) -> Columns:
    z = random.standard_normal((n, 1))
    x, y = random.choice([-1, 1], (2, n)) * z[:, 0] + 0.3 * random.standard_normal((2, n))
    return x, y, z


def correlated_z(random: np.random.Generator, n: int) -> Columns:
    z = np.sqrt(0.3) * random.standard_normal((n, 4)) + np.sqrt(0.7) * random.standard_normal((n, 1))
    e = 0.5 * random.standard_normal((2, n))
    return z[:, 0] + z[:, 1] + e[0], z[:, 2] + z[:, 3] + e[1], z


def given(
    z: Callable[[np.random.Generator, int], NDArray[np.float64]],
    draw: Callable[[np.random.Generator, NDArray[np.float64]], NDArray[np.float64]],
) -> Make:
    """Return a null: x and y are drawn one after the other given the sum of z over the root of its columns."""

    def make(random: np.random.Generator, n: int) -> Columns:
        columns = z(random, n)
        total = columns.sum(axis=1) / np.sqrt(columns.shape[1])
        return draw(random, total), draw(random, total), columns

    return make


def normal(d: int) -> Callable[[np.random.Generator, int], NDArray[np.float64]]:
    return lambda random, n: random.standard_normal((n, d))


def two_values(random: np.random.Generator, total: NDArray[np.float64]) -> NDArray[np.float64]:
    return (random.uniform(size=len(total)) < 1 / (1 + np.exp(-2 * total))).astype(float)


def tied_z(random: np.random.Generator, n: int) -> Columns:
    z = np.round(1.5 * random.standard_normal((n, 3)))
    x, y = z.sum(axis=1) + random.standard_normal((2, n))
    return x, y, z


def alternative(
    response: Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    d: int,
    strength: float = 1.0,
) -> Make:
    """Return an alternative: response(e, z_1, noise) is what y has beside the effect of z, and e what x has."""

    def make(random: np.random.Generator, n: int) -> Columns:
        z = random.standard_normal((n, d))
        total = strength * z.sum(axis=1) / np.sqrt(d)
        e, noise = random.standard_normal((2, n))
        return total + e, total + response(e, z[:, 0], noise), z

    return make


NULLS: dict[str, Make] = {
    "lin2": both(lambda z: 2 * z[:, 0], 1, 1.0),
    "weak1": both(lambda z: z[:, 0] / 2, 1, 1.0),
    "cosq": cosine_and_square,
    "strong1": both(lambda z: z[:, 0], 1, 0.05),
    "het": scale_of_one,
    "mult": both(lambda z: z[:, 0] * z[:, 1], 2, 0.3),
    "sincos": sine_and_cosine,
    "lin2s": both(lambda z: z.sum(axis=1), 2, 0.5),
    "lin3s": both(lambda z: z.sum(axis=1), 3, 0.5),
    "lin5s": both(lambda z: z.sum(axis=1), 5, 0.5),
    "lin2w": both(lambda z: z.sum(axis=1), 2, 1.0),
    "lin3w": both(lambda z: z.sum(axis=1), 3, 1.0),
    "lin5w": both(lambda z: z.sum(axis=1), 5, 1.0),
    "t2": heavy_tails,
    "scales": unequal_units,
    "irr3": irrelevant,
    "het3": scale_of_three,
    "signmix": random_signs,
    "tanh6": both(lambda z: np.tanh(1.5 * z).sum(axis=1), 6, 0.5),
    "corr4": correlated_z,
}
TIED: dict[str, Make] = {
    "two values, dz 1": given(normal(1), two_values),
    "two values, dz 3": given(normal(3), two_values),
    "rounded, dz 3": given(normal(3), lambda random, s: np.round(2 * s + 0.5 * random.standard_normal(len(s)))),
    "counts, dz 1": given(normal(1), lambda random, s: random.poisson(np.exp(0.7 * s)).astype(float)),
    "censored, dz 3": given(normal(3), lambda random, s: np.maximum(s + 0.5 * random.standard_normal(len(s)), 0)),
    "tied z, dz 3": tied_z,
}


def with_noise(random: np.random.Generator, total: NDArray[np.float64]) -> NDArray[np.float64]:
    return total + 0.3 * random.standard_normal(len(total))


def square_between(random: np.random.Generator, n: int) -> Columns:
    x = random.standard_normal(n)
    z = x**2 + 0.3 * random.standard_normal(n)
    return x, z + 0.3 * random.standard_normal(n), z[:, None]


UNFITTABLE: dict[str, Make] = {
    "sin of a sum": both(lambda z: np.sin(2 * z.sum(axis=1)), 3, 0.3),
    "two products": both(lambda z: z[:, 0] * z[:, 1] + z[:, 2] * z[:, 3], 4, 0.3),
    "gated slopes": both(lambda z: 2 * ((z[:, :3] > 0) * z[:, 3:]).sum(axis=1), 6, 0.5),
    "sin 8z": both(lambda z: np.sin(8 * z[:, 0]), 1, 0.1),
}
FURTHER: dict[str, Make] = {
    "exponentials, dz 2": given(normal(2), lambda random, s: np.exp(2 * with_noise(random, s))),
    "cubes, dz 3": given(normal(3), lambda random, s: with_noise(random, s) ** 3),
    "skewed noise, dz 3": given(normal(3), lambda random, s: s + 0.3 * random.exponential(size=len(s))),
    "Cauchy noise, dz 1": given(normal(1), lambda random, s: s + 0.3 * random.standard_cauchy(len(s))),
    "scale, t3 noise, dz 2": given(normal(2), lambda random, s: s + np.exp(s / 2) * random.standard_t(3, len(s))),
    "z of t3, dz 3": given(lambda random, n: random.standard_t(3, (n, 3)), with_noise),
    "z of clusters, dz 3": given(
        lambda random, n: 3.0 * random.integers(-1, 2, (n, 3)) + 0.3 * random.standard_normal((n, 3)), with_noise
    ),
    "z of counts, dz 3": given(lambda random, n: random.poisson(1.5, (n, 3)).astype(float), with_noise),
    "z nearly alike, dz 3": given(
        lambda random, n: random.standard_normal((n, 1)) + 0.1 * random.standard_normal((n, 3)), with_noise
    ),
    "linear, dz 8": given(normal(8), with_noise),
    "square between x and y": square_between,
    "five levels, dz 2": given(
        normal(2), lambda random, s: np.digitize(with_noise(random, s), [-1.5, -0.5, 0.5, 1.5]).astype(float)
    ),
    "step, dz 1": given(normal(1), lambda random, s: 2.0 * (s > 0) + with_noise(random, 0 * s)),
}
ALTERNATIVES: dict[str, Make] = {
    f"{name}, dz {d}": make
    for d in (1, 3)
    for name, make in {
        "linear": alternative(lambda e, z, noise: e / 2 + noise, d),
        "square": alternative(lambda e, z, noise: e**2 / 2 + 0.7 * noise, d),
        "scale": alternative(lambda e, z, noise: e * noise, d),
        "strong z": alternative(lambda e, z, noise: e / 2 + np.sqrt(0.75) * noise, d, 3.0),
        "interaction": alternative(lambda e, z, noise: 0.7 * e * z + noise, d, 0.0),
        "sign": alternative(lambda e, z, noise: np.sign(e * z) * np.abs(noise), d, 0.0),
        "irrelevant z": alternative(lambda e, z, noise: 0.4 * e + noise, d, 0.0),
        "sin 3x": alternative(lambda e, z, noise: np.sin(3 * e) + 0.3 * noise, d),
    }.items()
}
GROUPS = {
    "ordinary nulls": NULLS,
    "nulls with ties": TIED,
    "further nulls": FURTHER,
    "nulls that 200 rows cannot fit": UNFITTABLE,
    "alternatives": ALTERNATIVES,
}


Key = tuple[str, int, str]  # case, rows, test

_CALIBRATE = "calibrate "
_ROUND = 10  # runs of each case and test before more of the first


def rejections(case: str, make: Make, test: str, runs: Sequence[int], n: int) -> float:
    """Return how often the test says 'dependent'. Every test has the same data in a run.

    Of ``calibrate TEST`` it is how often `pyknnmi.calibrate` says that TEST would.
    """
    found = 0.0
    for run in runs:
        x, y, z = make(np.random.default_rng([zlib.crc32(case.encode()), run]), n)
        table = np.column_stack([x, y, z])
        given = list(range(2, table.shape[1]))
        if test.startswith(_CALIBRATE):
            spec = test.removeprefix(_CALIBRATE)
            tried = pyknnmi.calibrate(table, spec, [(0, 1, given)], draws=20, seed=run, threads=1).questions[0]
            found += tried.rejections / tried.draws
        else:
            found += not pyknnmi.ci_test(table, 0, 1, given, test, seed=run, threads=1).independent
    return found


class Counts:
    """Runs made and rejections found, in a file if there is one."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.found: dict[Key, tuple[int, float]] = {}
        if path and path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    key = row["case"], int(row["n"]), row["test"]
                    self.found[key] = int(row["runs"]), float(row["rejections"])

    def add(self, key: Key, runs: int, rejected: float) -> None:
        """Add some runs, and write the file anew."""
        before = self.found.get(key, (0, 0.0))
        self.found[key] = before[0] + runs, before[1] + rejected
        if self._path:
            with self._path.open("w", encoding="utf-8", newline="") as file:
                rows = csv.writer(file, lineterminator="\n")
                rows.writerow(["case", "n", "test", "runs", "rejections"])
                rows.writerows([*key, runs, f"{rejected:g}"] for key, (runs, rejected) in self.found.items())


def measure(cases: dict[str, Make], tests: Sequence[str], n: int, runs: int, counts: Counts, seconds: float) -> None:
    """Add runs until there are `runs` of each case and test, or the time is up."""
    end = time.monotonic() + seconds
    for upto in range(_ROUND, runs + _ROUND, _ROUND):
        for case, make in cases.items():
            for test in tests:
                made = counts.found.get((case, n, test), (0, 0))[0]
                if made < min(upto, runs):
                    if time.monotonic() > end:
                        return
                    missing = range(made, min(upto, runs))
                    counts.add((case, n, test), len(missing), rejections(case, make, test, missing, n))


def show(cases: dict[str, Make], tests: Sequence[str], n: int, counts: Counts) -> None:
    """Print the rates of each group of cases, as Markdown."""
    print(f"\n| n = {n} | {' | '.join(f'`{test}`' for test in tests)} |\n|---|{'---|' * len(tests)}")
    for group, alike in GROUPS.items():
        chosen = [case for case in alike if case in cases]
        if not chosen:
            continue
        rows = [[counts.found.get((case, n, test), (0, 0)) for test in tests] for case in chosen]
        print(f"| **{group}**, runs | {' | '.join(_runs([row[j][0] for row in rows]) for j in range(len(tests)))} |")
        for case, row in zip(chosen, rows, strict=True):
            print(f"| {case} | {' | '.join(_decimals(rejected, made) for made, rejected in row)} |")
        print(f"| *mean* | {' | '.join(_mean([row[j] for row in rows]) for j in range(len(tests)))} |")


def _runs(made: Sequence[int]) -> str:
    fewest, most = min(made), max(made)
    return str(most) if fewest == most else f"{fewest} to {most}"


def _decimals(rejected: float, made: int) -> str:
    return f"{rejected / made:.3f}".removeprefix("0") if made else ""


def _mean(counts: Sequence[tuple[int, float]]) -> str:
    """Return the mean rate and its standard error."""
    if not all(made for made, _ in counts):
        return ""
    rates = [rejected / made for made, rejected in counts]
    variance = sum(rate * (1 - rate) / made for rate, (made, _) in zip(rates, counts, strict=True))
    return f"{sum(rates) / len(rates):.3f} ± {math.sqrt(variance) / len(rates):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--tests", nargs="+", default=TESTS)
    parser.add_argument("--cases", nargs="+", help="names of cases, or of groups of cases; all when left out")
    parser.add_argument("--results", type=Path, help="a CSV file that keeps the counts")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin nothing new after so long")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of ties, once a run
    wanted = arguments.cases
    chosen = {
        case: make
        for group, cases in GROUPS.items()
        for case, make in cases.items()
        if not wanted or case in wanted or group in wanted
    }
    counts = Counts(arguments.results)
    measure(chosen, arguments.tests, arguments.n, arguments.runs, counts, arguments.seconds)
    show(chosen, arguments.tests, arguments.n, counts)


if __name__ == "__main__":
    main()
