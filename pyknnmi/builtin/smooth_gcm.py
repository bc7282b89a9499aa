"""The generalised covariance measure on features of smooth regressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pyknnmi.components import BoundTest, CIResult, CITest, Dataset, Kind, Run
from pyknnmi.regression import SmoothRegressions, direction_p_values, symmetric_p_value


@dataclass(frozen=True, kw_only=True)
class SmoothGCM(CITest):
    """Is what smooth regressions on z leave of x correlated with what they leave of functions of y, or vice versa?

    The regressions are those of `functional-anova`: normal scores on smooth functions of each column of z and of each
    two, with the smoothness that has the highest evidence. What they leave of x is multiplied with what they leave of
    six functions of y, and these products with functions of each column of z, so that interactions with z are seen. The
    statistic is minus the decimal logarithm of the p-value. Its tails are computed, so no number of permutations limits
    it. Columns of categories are taken as contrasts of their indicators.

    The level is nearly right where smooth functions of one and two columns explain x and y; an error of one regression
    counts only times that of the other. It sees dependence in the mean of normal scores, in at least one direction: if
    only the spread of each goes with the spread of the other, it may miss it. For fast oscillations `knn-cmi` is
    better.

    Parameters
    ----------
    alpha : float, in (0, 1)
        Dependent when p < alpha.

    References
    ----------
    Shah and Peters (2020), doi:10.1214/19-AOS1857; Scheidegger, Hörrmann and Bühlmann (2022), "The weighted generalised
    covariance measure", JMLR 23; Liu, Tang and Zhang (2009), doi:10.1016/j.csda.2008.11.025, for the tails.
    """

    name: ClassVar[str] = "smooth-gcm"

    alpha: float = 0.05

    def check(self) -> None:
        """Check the ranges."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")

    def accepts(self, kind: Kind) -> bool:
        """Return that columns of numbers and of categories can be used."""
        return kind in ("continuous", "discrete")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        return BoundSmoothGCM(self, dataset, run)


class BoundSmoothGCM(BoundTest):
    """The test on the features of one data set."""

    def __init__(self, component: SmoothGCM, dataset: Dataset, run: Run) -> None:
        self._component, self._dataset, self._run = component, dataset, run
        self._regressions = SmoothRegressions(dataset, run.threads_per_job, run.poll)

    def __reduce__(self) -> tuple[type[BoundSmoothGCM], tuple[SmoothGCM, Dataset, Run]]:
        return BoundSmoothGCM, (self._component, self._dataset, self._run)

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        *fits, of_x, of_y = self._regressions.fits([(x, z, None), (y, z, None), (x, (*z, y), None), (y, (*z, x), None)])
        directions = [(x, y, z), (y, x, z)]
        p_value = symmetric_p_value(*direction_p_values(self._regressions, directions, fits, [of_x, of_y]))
        return CIResult(
            statistic=float(-np.log10(p_value)),
            p_value=p_value,
            independent=not p_value < self._component.alpha,
            n=self._dataset.n,
            decided_by="chi-squared tails",
        )

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the evidence in nats that a candidate adds to the regression of x on z, and x to the candidate's."""
        fits = self._regressions.fits([(column, z, None) for column in (x, *candidates)])
        (forward,) = self._regressions.main_gains(fits[:1], [candidates])
        backward = self._regressions.main_gains(fits[1:], [[x]] * len(candidates))
        both: NDArray[np.float64] = forward + np.array([float(gain[0]) for gain in backward])
        return both
