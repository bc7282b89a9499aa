"""GCM: the generalised covariance measure."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from pyknnmi.components import BoundTest, CIResult, CITest, Dataset, Run
from pyknnmi.numbers import standardized
from pyknnmi_kernel.memo import Memo
from pyknnmi_kernel.one_thread import one_thread
from pyknnmi_kernel.regressors import WORDS, is_regressor_name, make_regressor

Vector = NDArray[np.float64]

# A column is explained by z when less than this share of its variance is left, as in fisher-z.
_EXPLAINED = 1e-12


@dataclass(frozen=True, kw_only=True)
class GCM(CITest):
    """Generalised covariance measure: are the residuals of x and of y, each regressed on z, correlated?

    With R_i the product of the two residuals of row i, the statistic is |sqrt(n) mean(R) / sd(R)| (Eq. 3), against the
    standard normal, two-sided. It may be any regression of any number of columns in z. The level is right when the
    regressions come close to the true conditional means: the product of their errors must shrink faster than 1/n
    (Theorem 6).

    It has no power where x and y depend on each other without any correlation given z: y = x^2 + noise is called
    independent. A column that is explained by z is independent of everything.

    Parameters
    ----------
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    regressor : kernel-ridge, gradient-boosting, linear, or the dotted path of a scikit-learn regressor
        Such as ``'sklearn.neighbors.KNeighborsRegressor'``, in quotes; it is imported, made without arguments and
        given standardised columns. ``kernel-ridge`` has a Gaussian kernel of standard deviation sqrt(2 d), for d
        columns in z, and the penalty 0.1. With one that fits noise the test rejects too often: a random forest, or
        ``gradient-boosting`` with few rows, twice as often at 100.

    References
    ----------
    Shah and Peters (2020), "The hardness of conditional independence testing and the generalised covariance measure",
    Annals of Statistics 48, doi:10.1214/19-AOS1857.
    """

    name: ClassVar[str] = "gcm"
    needs_seed: ClassVar[bool] = True

    alpha: float = 0.05
    regressor: str = "kernel-ridge"

    def check(self) -> None:
        """Check the ranges."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")
        self.require(
            is_regressor_name(self.regressor), "regressor", f"{', '.join(WORDS)}, or a dotted path 'module.Class'"
        )

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data, or raise `ParameterError` if there is no such regressor."""
        make_regressor(self.regressor, columns=1)
        return BoundGCM(self, dataset, run)


class BoundGCM(BoundTest):
    """The generalised covariance measure on the columns of one data set."""

    def __init__(self, component: GCM, dataset: Dataset, run: Run) -> None:
        self._component = component
        self._run = run
        self._names = dataset.names
        self._values = standardized(dataset.values)
        self._residuals: Memo[Vector] = Memo(256)

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        statistic = self._statistic(x, y, z)
        log_p_value = min(math.log(2) + float(log_ndtr(-statistic)), 0.0)
        p_value = math.exp(log_p_value)
        return CIResult(
            statistic=statistic,
            p_value=p_value,
            independent=not p_value < self._component.alpha,
            n=len(self._values),
            decided_by="normal",
            log_p_value=log_p_value,
        )

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> Vector:
        """Return the statistics."""
        return np.array([self._statistic(x, y, z) for y in candidates])

    def _statistic(self, x: int, y: int, z: tuple[int, ...]) -> float:
        products = self._residual(x, z) * self._residual(y, z)
        mean = products.mean()
        # Where x and y are one two-valued column, all products are equal: the statistic stays finite.
        deviation = max(products.std(), sys.float_info.epsilon * abs(mean))
        return float(math.sqrt(len(products)) * abs(mean) / deviation) if deviation > 0 else 0.0

    def _residual(self, column: int, z: tuple[int, ...]) -> Vector:
        return self._residuals.get((column, z), lambda: self._regress(column, z)) if z else self._values[:, column]

    def _regress(self, column: int, z: tuple[int, ...]) -> Vector:
        regressor = make_regressor(self._component.regressor, len(z))
        if "random_state" in regressor.get_params():
            name = self._names[column]
            random = self._run.generator(name, name, [self._names[i] for i in z])
            regressor.set_params(random_state=int(random.integers(2**32)))
        given, target = self._values[:, z], self._values[:, column]
        with one_thread():
            residual: Vector = target - regressor.fit(given, target).predict(given)
        return residual if (residual**2).mean() > _EXPLAINED else np.zeros_like(residual)
