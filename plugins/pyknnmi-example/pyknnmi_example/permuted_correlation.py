"""Partial correlation, tested by permutation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pyknnmi.components import BoundTest, CIResult, CITest, Dataset, Run, check_memory
from pyknnmi.numbers import PartialCorrelations, standardized


@dataclass(frozen=True, kw_only=True)
class PermutedCorrelation(CITest):
    """Partial correlation against permuted residuals: like fisher-z, without assuming a normal distribution.

    The statistic is |r|. The residuals of y given z are permuted; p = (K + 1) / (permutations + 1), where K of their
    partial correlations with x are at least |r|. It sees linear dependence only.

    Parameters
    ----------
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    permutations : int, at least 1
        With 199 the smallest p-value is 1/200.

    References
    ----------
    Freedman and Lane (1983), doi:10.1080/07350015.1983.10509354.
    """

    name: ClassVar[str] = "permuted-correlation"
    needs_seed: ClassVar[bool] = True

    alpha: float = 0.05
    permutations: int = 199

    def check(self) -> None:
        """Check the ranges."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")
        self.require(self.permutations >= 1, "permutations", "at least 1")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        return BoundPermutedCorrelation(self, dataset, run)


class BoundPermutedCorrelation(BoundTest):
    """The test on the columns of one data set."""

    def __init__(self, component: PermutedCorrelation, dataset: Dataset, run: Run) -> None:
        self._component = component
        self._names = dataset.names
        self._run = run
        self._values = standardized(dataset.values)
        self._correlations = PartialCorrelations.of(dataset.values)

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        statistic = abs(self._correlations.between(x, y, z).r)
        permutations = self._component.permutations
        # The stream depends on the names alone: the answer does not depend on what was tested before, or where.
        random = self._run.generator(self._names[x], self._names[y], [self._names[i] for i in z])
        basis, _ = np.linalg.qr(self._values[:, z])
        first, second = (column - basis @ (basis.T @ column) for column in self._values[:, (x, y)].T)
        check_memory(16.0 * permutations * len(second), f"{permutations} permutations", "give fewer")
        permuted = random.permuted(np.tile(second[:, None], permutations), axis=0)
        permuted -= basis @ (basis.T @ permuted)
        scale = np.linalg.norm(first) * np.linalg.norm(permuted, axis=0)
        p_value = float(((np.abs(first @ permuted) >= statistic * scale).sum() + 1) / (permutations + 1))
        return CIResult(
            statistic=statistic,
            p_value=p_value,
            independent=not p_value < self._component.alpha,
            n=len(self._values),
            decided_by="permutations",
            permutations=permutations,
        )

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the statistics of all candidates at once: ranking needs no permutations."""
        return np.abs(self._correlations.among(x, candidates, z))
