"""Reference data computed by R, and R's random numbers, for tests that compare with it."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, rankdata


@dataclass(frozen=True)
class Reference:
    folder: Path

    def text(self, name: str) -> str:
        return gzip.decompress((self.folder / f"{name}.gz").read_bytes()).decode()

    def json(self, name: str) -> Any:
        return json.loads(self.text(name))

    def huge(self, name: str) -> Any:
        return self.json(f"huge/{name}.json")

    def raw(self, name: str) -> NDArray[np.float64]:
        """Return an input as it is; "cubed" is the elementwise cube of another."""
        stem = name.removesuffix("_cubed")
        data = np.loadtxt(self.text(f"inputs/{stem}_n500.csv").splitlines(), delimiter=",", skiprows=1)
        return data**3 if name.endswith("_cubed") else data

    @staticmethod
    def nonparanormal(data: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what huge.npn with shrinkage returns."""
        scores = norm.ppf(rankdata(data, axis=0) / (len(data) + 1))
        return np.asarray(scores / scores[:, 0].std(ddof=1))

    def normal_scores(self, name: str) -> NDArray[np.float64]:
        return self.nonparanormal(self.raw(name))


@pytest.fixture(scope="session")
def reference() -> Reference:
    return Reference(Path(__file__).resolve().parents[3] / "tests" / "data")


class RGenerator:
    """R's default generator: set.seed (Mersenne Twister) and sample (rejection, R 3.6 on).

    Source: R 4.2, files RNG.c, unique.c and random.c.
    """

    def __init__(self, seed: int) -> None:
        def scrambled(value: int) -> int:
            return (69069 * value + 1) % 2**32

        for _ in range(51):
            seed = scrambled(seed)
        words = []
        for _ in range(624):
            # The first of R's 625 words is a position, and overwritten.
            seed = scrambled(seed)
            words.append(seed)
        self._words = np.random.RandomState()
        self._words.set_state(("MT19937", np.array(words, dtype=np.uint32), 624))

    def _below(self, bound: int) -> int:
        bits = math.ceil(math.log2(bound))
        while True:
            value = 0
            for _ in range(0, bits + 1, 16):
                value = (value << 16) + (int(self._words.randint(0, 2**32, dtype=np.uint32)) >> 16)
            value &= (1 << bits) - 1
            if value < bound:
                return value

    def sample(self, n: int, size: int) -> NDArray[np.intp]:
        """Return what sample(n, size) returns."""
        pool = list(range(1, n + 1))
        drawn = []
        for remaining in range(n, n - size, -1):
            position = self._below(remaining)
            drawn.append(pool[position])
            pool[position] = pool[remaining - 1]
        return np.array(drawn)


@pytest.fixture(scope="session")
def r_generator() -> type[RGenerator]:
    return RGenerator


def edges(graph: NDArray[np.bool_]) -> list[list[int]]:
    return [[int(i), int(j)] for i, j in np.argwhere(np.triu(graph))]


@pytest.fixture(scope="session")
def edge_list() -> Any:
    return edges


def violation(
    covariance: NDArray[np.float64],
    penalty: float,
    precision: NDArray[np.float64],
    penalize_diagonal: bool = True,
) -> float:
    """Return by how much the optimality conditions of the graphical lasso are missed.

    They are inv(T) - S = l sign(T) where T is not zero, and |inv(T) - S| <= l elsewhere
    (Witten, Friedman and Simon 2011).
    """
    weights = np.full(covariance.shape, penalty)
    if not penalize_diagonal:
        np.fill_diagonal(weights, 0.0)
    gap = np.linalg.inv(precision) - covariance
    missed = np.where(
        precision == 0,
        np.maximum(np.abs(gap) - weights, 0),
        np.abs(gap - weights * np.sign(precision)),
    )
    return float(missed.max())


@pytest.fixture(scope="session")
def optimality_violation() -> Any:
    return violation
