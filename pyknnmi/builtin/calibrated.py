"""Any test's statistic, judged among those of synthetic nulls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pyknnmi.builtin.knn_cmi import KnnCMI
from pyknnmi.calibration import SyntheticNull
from pyknnmi.components import BoundTest, CIResult, CITest, Dataset, Kind, Run, without_warnings

_KNN_CMI = KnnCMI()
_MOST = 10**6
_ENOUGH = 25  # draws that reach the observed statistic, with `resolution`: the standard error of p is a fifth of it
_FIRST, _AT_A_TIME = 99, 1000  # draws before a test may stop; the most that are in memory


@dataclass(frozen=True, kw_only=True)
class Calibrated(CITest):
    """A conditional randomization test round any test: its statistic among those of synthetic nulls.

    Column y is drawn anew, as often as `draws` says, from a smooth regression on z and its residuals
    (`pyknnmi.calibration.SyntheticNull`): it depends on z as before, and on x no more. The p-value is (K + 1) /
    (draws + 1), where K draws have a statistic of at least the observed one. So any statistic gets a null that knows
    how strongly y depends on z, at the price of as many statistics.

    It is as right as the model of y: with the true distribution of y given z it would be exact (Candès et al.). It
    rejects too often where the regression misses part of the effect of z, and x has that part too.

    Parameters
    ----------
    test : a CI test
        Its association is the statistic; its own p-value is not used.
    draws : int, 1 to 1000000
        With 99 the smallest p-value is .01.
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    resolution : float or none, 1e-6 to 1
        The smallest p-value that a test may give, instead of 1 / (draws + 1). A test goes on until 25 draws reach the
        observed statistic, or p is down to this; see ``knn-cmi``. Takes the place of `draws`.

    References
    ----------
    Candès, Fan, Janson and Lv (2018), "Panning for gold: model-X knockoffs for high dimensional controlled variable
    selection", JRSS B 80, doi:10.1111/rssb.12265, section F (the conditional randomization test).
    """

    name: ClassVar[str] = "calibrated"
    needs_seed: ClassVar[bool] = True

    test: CITest = _KNN_CMI
    draws: int = 99
    alpha: float = 0.05
    resolution: float | None = None

    def accepts(self, kind: Kind) -> bool:
        """Return whether the test takes columns of this kind."""
        return self.test.accepts(kind)

    def check(self) -> None:
        """Check the ranges."""
        self.require(1 <= self.draws <= _MOST, "draws", f"from 1 to {_MOST}")
        self.require(self.resolution is None or 1 / _MOST <= self.resolution < 1, "resolution", "from 1e-6 to 1")
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")

    @property
    def most_draws(self) -> int:
        """How many draws a test makes at most."""
        return self.draws if self.resolution is None else math.ceil(1 / self.resolution) - 1

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        self.warn_of_coarse(self.most_draws, "draws", self.alpha)
        return BoundCalibrated(self, dataset, run)


class BoundCalibrated(BoundTest):
    """The test on the columns of one data set."""

    def __init__(self, component: Calibrated, dataset: Dataset, run: Run) -> None:
        self._component = component
        self._dataset = dataset
        self._run = run
        self._inner = component.test.bind(dataset, run)

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        return self._tested(x, y, z, self._component.most_draws, self._component.alpha)

    def test_at(self, x: int, y: int, z: tuple[int, ...], level: float) -> CIResult:
        """Return the answer at a level below alpha, from as many draws as it needs."""
        return self._tested(x, y, z, max(self._component.most_draws, math.ceil(2 / level)), level)

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        """Return those of the test."""
        return self._inner.associations(x, candidates, z)

    def _tested(self, x: int, y: int, z: tuple[int, ...], most: int, alpha: float) -> CIResult:
        chosen = self._dataset.select([x, *z, y])
        names = list(chosen.names)
        random = self._run.generator(names[0], names[-1], names[1:-1])
        null = SyntheticNull(chosen, range(1, len(z) + 1), random)
        made = reached = 0
        while made < most and not (self._component.resolution is not None and reached >= _ENOUGH):
            self._run.poll()
            draws = min(max(made, _FIRST), _AT_A_TIME, most - made)
            observed, others = self._statistics(
                chosen, np.column_stack([null.draw(len(z) + 1, random) for _ in range(draws)])
            )
            made, reached = made + draws, reached + int((others >= observed).sum())
        p_value = (reached + 1) / (made + 1)
        return CIResult(
            statistic=observed,
            p_value=p_value,
            independent=not p_value < alpha,
            n=chosen.n,
            decided_by="synthetic nulls",
            permutations=made,
        )

    def _statistics(self, chosen: Dataset, drawn: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the statistic of the first column and the last given the rest, and those with the last one drawn."""
        names, last = list(chosen.names), chosen.p - 1
        varying = np.flatnonzero(drawn.min(axis=0) < drawn.max(axis=0))  # a constant reaches no statistic
        table = Dataset(
            np.hstack([chosen.values, drawn[:, varying]]),
            (*names, *(f"{names[-1]}\x1f{draw}" for draw in varying)),
            (*chosen.kinds, *[chosen.kinds[-1]] * len(varying)),
        )
        with without_warnings():  # the test on the user's own columns has warned
            bound = self._component.test.bind(table, self._run)
        found = bound.associations(0, range(last, table.p), tuple(range(1, last)))
        return float(found[0]), found[1:]
