"""KCI: the kernel conditional independence test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pyknnmi.components import BoundTest, CIResult, CITest, Dataset, Run
from pyknnmi_kernel.kernels import centred_features, median_distance, unit_variance
from pyknnmi_kernel.memo import Memo
from pyknnmi_kernel.one_thread import one_thread
from pyknnmi_kernel.ridge import RidgeResiduals
from pyknnmi_kernel.weighted_chi_squared import gamma_tail, normal_score

Matrix = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class KCI(CITest):
    """Kernel conditional independence test: are smooth functions of x and of y correlated given z?

    With the centred Gaussian kernel matrices K of standardised columns, the statistic is tr(Kx Ky) when z is empty
    (Theorem 4, Eq. 9) and tr(R Kxz R R Ky R) otherwise (Proposition 5, Eq. 13), both without the factor 1/n. Here R =
    penalty (Kz + penalty I)^-1 takes out what ridge regression on z explains, and Kxz is the kernel of x together with
    z/2. Under independence the statistic is a weighted sum of chi-squared variables (Eq. 10 and 14).

    Time grows with n^2 to n^3 and memory with n^2: made for up to some thousand rows. The test rejects too often when
    one bandwidth and one penalty cannot follow how x and y depend on z, so with wiggly dependence or many columns in z.
    The statistic is not symmetric: of the two columns, the first by name is taken together with z.

    Parameters
    ----------
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    bandwidth : empirical, joint or median
        The kernels' standard deviation. ``empirical``, with fewer than 200, fewer than 1200, and more rows: 0.8, 0.5
        and 0.3 for empty z, otherwise 1.2, 0.7 and 0.4 times the square root of the number of columns in z. ``joint``:
        the median distance between the points (x, y), times the square root of half the number of columns in z if
        there are any. ``median``: the square root of 2 times the median distance between the points that a kernel
        compares.
    penalty : float, above 0
        Of the ridge regression on z.
    null : gamma or spectral
        The gamma distribution with the mean and variance of the weighted sum (Proposition 6), or draws of the sum with
        estimated weights: p = (K + 1) / (draws + 1), where K of the draws are at least the statistic.
    draws : int, at least 1
        Draws for ``null=spectral``.
    small_sample : bool
        Divide the statistic by how much too large it is on average under independence, since the weights are
        estimated from residuals, and these are too small. ``false`` is the published test; with 200 rows and five
        columns in z it rejects in 20 to 30 of 100 independent cases at alpha = 0.05, and with ``true`` in fewer than 5.

    References
    ----------
    Zhang, Peters, Janzing and Schölkopf (2011), "Kernel-based conditional independence test and application in causal
    discovery", UAI, doi:10.48550/arXiv.1202.3775. The bandwidths, the penalty and z/2 are those of the authors'
    program without its Gaussian process, and those of causal-learn. The bandwidth ``joint`` is that of the R package
    RCIT of Strobl (2018), with which the paper of 2018 compares.
    """

    name: ClassVar[str] = "kci"
    needs_seed: ClassVar[bool] = True

    alpha: float = 0.05
    bandwidth: Literal["empirical", "joint", "median"] = "empirical"
    penalty: float = 1e-3
    null: Literal["gamma", "spectral"] = "gamma"
    draws: int = 1000
    small_sample: bool = True

    def check(self) -> None:
        """Check the ranges."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")
        self.require(self.penalty > 0, "penalty", "above 0")
        self.require(self.draws >= 1, "draws", "at least 1")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        return BoundKCI(self, dataset, run)


@dataclass(frozen=True)
class Comparison:
    """A statistic, the same corrected for a small sample, and the mean and variance under independence."""

    statistic: float
    corrected: float
    mean: float
    variance: float


class BoundKCI(BoundTest):
    """The kernel test on the columns of one data set.

    Every kernel matrix is kept as features, K = G G'.
    """

    def __init__(self, component: KCI, dataset: Dataset, run: Run) -> None:
        self._component = component
        self._run = run
        self._names = dataset.names
        self._values = unit_variance(dataset.values)
        self._features: Memo[Matrix] = Memo(128)
        self._distances: Memo[float] = Memo(1024)
        self._regressions: Memo[RidgeResiduals] = Memo(1)
        self._extended: Memo[tuple[Matrix, Matrix]] = Memo(1)

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        x, y = sorted((x, y))
        component = self._component
        with one_thread():
            found = self._compare(x, y, z)
            if component.null == "gamma":
                p_value = gamma_tail(found.corrected, found.mean, found.variance)
            else:
                p_value = self._share_of_draws(found.corrected, x, y, z)
        return CIResult(
            statistic=found.statistic,
            p_value=p_value,
            independent=not p_value < component.alpha,
            n=len(self._values),
            decided_by=component.null,
        )

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> Matrix:
        """Return the statistics as normal deviates, which rank as p-values of the gamma distribution do.

        Here it is always x that is taken together with z, so that all candidates share its kernel.
        """
        with one_thread():
            found = [self._compare(x, y, z) for y in candidates]
        return np.array([normal_score(one.corrected, one.mean, one.variance) for one in found])

    def _compare(self, x: int, y: int, z: tuple[int, ...]) -> Comparison:
        width = self._common_width(x, y, z)
        if not z:
            first, second = self._features_of((x,), width), self._features_of((y,), width)
            mean = _square(first) * _square(second) / len(first)
            variance = 2 * _square(first.T @ first) * _square(second.T @ second) / len(first) ** 2
            statistic = _square(first.T @ second)
            return Comparison(statistic, statistic, mean, variance)
        first, kernel = self._residuals_together(x, z, width)
        second = self._residuals(y, z, width)
        mean = float((first**2).sum(axis=1) @ (second**2).sum(axis=1))
        variance = 2 * _square(kernel * (second @ second.T))
        statistic = _square(first.T @ second)
        inflation = self._regression(z, width).inflation if self._component.small_sample else 1.0
        return Comparison(statistic, statistic / inflation, mean, variance)

    def _share_of_draws(self, statistic: float, x: int, y: int, z: tuple[int, ...]) -> float:
        width = self._common_width(x, y, z)
        if z:
            _, kernel = self._residuals_together(x, z, width)
            second = self._residuals(y, z, width)
            weights = np.linalg.eigvalsh(kernel * (second @ second.T))
        else:
            first, second = self._features_of((x,), width), self._features_of((y,), width)
            spectra = (np.linalg.eigvalsh(features.T @ features) for features in (first, second))
            weights = np.multiply.outer(*spectra).ravel() / len(first)
        weights = weights[weights > 1e-6 * weights.max()]
        random = self._run.generator(self._names[x], self._names[y], [self._names[i] for i in z])
        draws = (weights @ random.chisquare(1, len(weights)) for _ in range(self._component.draws))
        return (sum(bool(draw >= statistic) for draw in draws) + 1) / (self._component.draws + 1)

    def _residuals_together(self, x: int, z: tuple[int, ...], width: float | None) -> tuple[Matrix, Matrix]:
        """Return the features of x together with z/2 without what z explains, and their kernel matrix."""

        def compute() -> tuple[Matrix, Matrix]:
            points = np.column_stack([self._values[:, x], self._values[:, z] / 2])
            features = self._regression(z, width).of(centred_features(points, width or _own_width(points)))
            return features, features @ features.T

        return self._extended.get((x, z, width), compute)

    def _residuals(self, y: int, z: tuple[int, ...], width: float | None) -> Matrix:
        return self._regression(z, width).of(self._features_of((y,), width))

    def _regression(self, z: tuple[int, ...], width: float | None) -> RidgeResiduals:
        def compute() -> RidgeResiduals:
            return RidgeResiduals(self._features_of(z, width), self._component.penalty, between=2)

        return self._regressions.get((z, width), compute)

    def _features_of(self, columns: tuple[int, ...], width: float | None) -> Matrix:
        points = self._values[:, columns]
        return self._features.get((columns, width), lambda: centred_features(points, width or _own_width(points)))

    def _common_width(self, x: int, y: int, z: tuple[int, ...]) -> float | None:
        """Return the bandwidth of all kernels of a question, or None if each has its own."""
        if self._component.bandwidth == "median":
            return None
        if self._component.bandwidth == "joint":
            pair = sorted((x, y))
            distance = self._distances.get(tuple(pair), lambda: median_distance(self._values[:, pair], most=500))
            return distance * math.sqrt(len(z) / 2) if z else distance
        n = len(self._values)
        size = 0 if n < 200 else 1 if n < 1200 else 2
        return (1.2, 0.7, 0.4)[size] * math.sqrt(len(z)) if z else (0.8, 0.5, 0.3)[size]


def _own_width(points: Matrix) -> float:
    return math.sqrt(2) * median_distance(points, most=1000)


def _square(matrix: Matrix) -> float:
    """Return the sum of the squares of all entries."""
    return float(np.vdot(matrix, matrix))
