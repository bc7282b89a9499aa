"""What RCIT and RCoT share: a kernel test on random Fourier features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pyknnmi.components import BoundTest, CIResult, CITest, Dataset, Run
from pyknnmi_kernel.kernels import median_distance, unit_variance
from pyknnmi_kernel.memo import Memo
from pyknnmi_kernel.one_thread import one_thread
from pyknnmi_kernel.ridge import RidgeResiduals
from pyknnmi_kernel.weighted_chi_squared import TAILS, normal_score

Matrix = NDArray[np.float64]

# Of the covariance of z's features, as in the authors' program: it only keeps the matrix invertible.
_PENALTY = 1e-10


@dataclass(frozen=True, kw_only=True)
class RandomFeatureTest(CITest):
    """Base of the tests on random Fourier features; see RCIT and RCoT."""

    needs_seed: ClassVar[bool] = True

    extended: ClassVar[bool]
    """Whether one of the two columns is taken together with z."""

    alpha: float = 0.05
    features: int = 5
    conditioning_features: int = 100
    null: Literal["lpb", "hbe", "gamma"] = "lpb"
    small_sample: bool = True

    def check(self) -> None:
        """Check the ranges."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")
        self.require(self.features >= 1, "features", "at least 1")
        self.require(self.conditioning_features >= 1, "conditioning_features", "at least 1")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        return BoundRandomFeatureTest(self, dataset, run)


@dataclass(frozen=True)
class Comparison:
    """A statistic, the same corrected for a small sample, and the weights of its sum under independence."""

    statistic: float
    corrected: float
    weights: Matrix


class BoundRandomFeatureTest(BoundTest):
    """A test on random features of the columns of one data set.

    Features are drawn once for each column, each conditioning set and, in RCIT, each column together with such a set,
    from a random stream of their names. So candidates share them, and no answer depends on what was tested before.
    """

    def __init__(self, component: RandomFeatureTest, dataset: Dataset, run: Run) -> None:
        self._component = component
        self._run = run
        self._names = dataset.names
        self._values = unit_variance(dataset.values)
        self._features: Memo[Matrix] = Memo(1024)
        self._extended: Memo[Matrix] = Memo(1)
        self._regressions: Memo[RidgeResiduals] = Memo(1)

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        x, y = sorted((x, y))
        component = self._component
        with one_thread():
            found = self._compare(x, y, z)
        p_value = TAILS[component.null](found.corrected, found.weights)
        return CIResult(
            statistic=found.statistic,
            p_value=p_value,
            independent=not p_value < component.alpha,
            n=len(self._values),
            decided_by=component.null,
        )

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> Matrix:
        """Return the statistics as normal deviates, which rank as p-values of the gamma distribution do.

        In RCIT it is always x that is taken together with z here, so that all candidates share its features.
        """
        with one_thread():
            found = [self._compare(x, y, z) for y in candidates]
        return np.array([normal_score(one.corrected, one.weights.sum(), 2 * (one.weights**2).sum()) for one in found])

    def _compare(self, x: int, y: int, z: tuple[int, ...]) -> Comparison:
        first = self._features_of(x, z if self._component.extended else ())
        second = self._features_of(y, ())
        if not z:
            statistic = _statistic(first, second)
            return Comparison(statistic, statistic, _weights(first, second))
        regression = self._regression(z)
        residuals = regression.of(first), regression.of(second)
        statistic = _statistic(first, residuals[1])
        inflation = regression.inflation if self._component.small_sample else 1.0
        return Comparison(statistic, statistic / inflation, _weights(*residuals))

    def _features_of(self, x: int, z: tuple[int, ...]) -> Matrix:
        name = self._names[x]
        kept = self._extended if z else self._features
        return kept.get((x, z), lambda: self._draw((x, *z), (name, name), z, self._component.features))

    def _regression(self, z: tuple[int, ...]) -> RidgeResiduals:
        n = len(self._values)
        count = max(1, min(self._component.conditioning_features, n // 2))

        def compute() -> RidgeResiduals:
            return RidgeResiduals(self._draw(z, ("", ""), z, count), _PENALTY * (n - 1), between=1)

        return self._regressions.get(z, compute)

    def _draw(self, columns: Sequence[int], stream: tuple[str, str], z: Sequence[int], count: int) -> Matrix:
        """Return random features of the columns, shape (n, count), with mean 0 and standard deviation 1.

        They are sqrt(2) cos(w'v + b) with w normal, of standard deviation 1 / bandwidth, and b uniform (Rahimi and
        Recht 2007).
        """
        points = self._values[:, list(columns)]
        random = self._run.generator(*stream, [self._names[i] for i in z])
        frequencies = random.standard_normal((len(columns), count)) / median_distance(points, most=500)
        phases = random.uniform(0, 2 * math.pi, count)
        return unit_variance(np.cos(points @ frequencies + phases))


def _statistic(first: Matrix, second: Matrix) -> float:
    """Return n times the sum of the squared covariances of centred features."""
    n = len(first)
    return n * float(((first.T @ second / (n - 1)) ** 2).sum())


def _weights(first: Matrix, second: Matrix) -> Matrix:
    """Return the eigenvalues of the second moments of all products of a first and a second residual."""
    n = len(first)
    products = (first[:, :, None] * second[:, None, :]).reshape(n, -1)
    weights: Matrix = np.maximum(np.linalg.eigvalsh(products.T @ products / n), 0.0)
    return weights
