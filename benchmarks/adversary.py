"""Two ways to calibrate a test on the data at hand: by the response that the data suggest, and by the worst response.

    python benchmarks/adversary.py --tables 30

The first is ``calibrated(test=fisher-z)``. The second follows the idea of Pan, de Mathelin and Tansey (2026,
arXiv:2602.21036). It is a program with a search of its own, and says nothing of theirs. With x and z as they are, it
looks for a smooth response m(z) to which, with noise, Fisher's z-test answers "dependent" most often. The statistic is
then ranked among those of that response. Prints how often each test says "dependent", on cases of validity.py.
"""

from __future__ import annotations

import argparse
import math
import warnings
import zlib
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from validity import ALTERNATIVES, NULLS

import pyknnmi
from pyknnmi.numbers import standardized

Columns = NDArray[np.float64]

CASES = [
    "lin2",
    "lin3s",
    "het",
    "cosq",
    "mult",
    "tanh6",
    "linear, dz 1",
    "linear, dz 3",
    "strong z, dz 3",
    "irrelevant z, dz 3",
]
ALPHA = 0.05
SIGNAL = 3.0  # standard deviation of a response, in that of the noise
CENTERS, RESPONSES, ROUNDS, DRAWS = 20, 100, 4, 40  # of the search
RANKED = 999


def correlations(x: Columns, responses: Columns, z: Columns) -> Columns:
    """Return the absolute partial correlation of x and each column given z."""
    given = np.linalg.qr(np.column_stack([np.ones(len(z)), z]))[0]
    left = x - given @ (given.T @ x)
    others = responses - given @ (given.T @ responses)
    return np.abs(left @ others) / np.sqrt((left @ left) * (others**2).sum(axis=0))


def worst_response(x: Columns, z: Columns, random: np.random.Generator) -> Columns:
    """Return the response of unit noise that the z-test finds dependent on x most often."""
    n, d = z.shape
    centers = z[random.choice(n, CENTERS, replace=False)]
    squared = ((z[:, None] - centers) ** 2).sum(axis=2) / d
    basis = np.column_stack([z, *(np.exp(squared / (-2 * width**2)) for width in (0.5, 1.5))])
    basis -= basis.mean(axis=0)
    critical = math.tanh(NormalDist().inv_cdf(1 - ALPHA / 2) / math.sqrt(n - d - 3))
    best, rate = np.zeros(basis.shape[1]), -1.0
    for step in range(ROUNDS):
        weights = best + random.standard_normal((RESPONSES, basis.shape[1])) * 0.5**step
        for weight in weights:
            response = basis @ weight
            response *= SIGNAL / response.std()
            found = float(
                (correlations(x, response[:, None] + random.standard_normal((n, DRAWS)), z) > critical).mean()
            )
            if found > rate:
                best, rate, worst = weight / np.abs(weight).max(), found, response
    return worst


def adversarial_p_value(x: Columns, y: Columns, z: Columns, random: np.random.Generator) -> float:
    """Return the rank of the partial correlation of y among those of the worst response."""
    worst = worst_response(x, z, random)
    others = correlations(x, worst[:, None] + random.standard_normal((len(z), RANKED)), z)
    return float((1 + (others >= correlations(x, y[:, None], z)).sum()) / (RANKED + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=30)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--cases", nargs="+", default=CASES)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| case | `fisher-z` | `calibrated(test=fisher-z)` | worst response |\n|---|--:|--:|--:|")
    for case in options.cases:
        found = np.zeros(3)
        for run in range(options.tables):
            random = np.random.default_rng([zlib.crc32(case.encode()), run])
            x, y, z = {**NULLS, **ALTERNATIVES}[case](random, options.n)
            table = standardized(np.column_stack([x, y, z]))
            given = range(2, table.shape[1])
            for place, test in enumerate(("fisher-z", "calibrated(test=fisher-z)")):
                found[place] += not pyknnmi.ci_test(table, 0, 1, given, test, seed=run, threads=1).independent
            found[2] += adversarial_p_value(table[:, 0], table[:, 1], table[:, 2:], random) < ALPHA
        rates = " | ".join(f"{rate:.2f}" for rate in found / options.tables)
        print(f"| {case} | {rates} |", flush=True)


if __name__ == "__main__":
    main()
