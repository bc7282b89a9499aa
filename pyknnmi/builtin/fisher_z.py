"""Fisher's z-test of a partial correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pyknnmi.components import BoundTest, CIResult, CITest, Dataset, Run, warn
from pyknnmi.numbers import CorrelationKind, PartialCorrelations, fisher_z


@dataclass(frozen=True, kw_only=True)
class FisherZ(CITest):
    """Fisher's z-test: is the partial correlation zero?

    The statistic is sqrt(n - |z| - 3) |atanh r|, against the standard normal, two-sided. Right for jointly Gaussian
    columns; for others it sees linear dependence only. Conditioning columns that are linear combinations of others
    are not counted, and a column that is explained by the conditioning set is independent of everything.

    Parameters
    ----------
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    correlation : pearson, spearman, kendall
        The rank correlations, put on the scale of Pearson's (Liu et al. 2012), see monotone dependence and do not mind
        outliers; the normal null is then only nearly right. Kendall's needs SciPy.

    References
    ----------
    Fisher (1924), "The distribution of the partial correlation coefficient", Metron 3; Liu, Han, Yuan, Lafferty and
    Wasserman (2012), doi:10.1214/12-AOS1037.
    """

    name: ClassVar[str] = "fisher-z"

    alpha: float = 0.05
    correlation: CorrelationKind = "pearson"

    def check(self) -> None:
        """Check the ranges."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        return BoundFisherZ(self, dataset)


class BoundFisherZ(BoundTest):
    """Fisher's z-test on the correlation matrix of a data set."""

    def __init__(self, component: FisherZ, dataset: Dataset) -> None:
        self._alpha = component.alpha
        self._names = dataset.names
        self._n = dataset.n
        self._correlations = PartialCorrelations.of(dataset.values, component.correlation)

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        partial = self._correlations.between(x, y, z)
        redundant = tuple(self._names[i] for i in partial.redundant)
        freedom = self._n - partial.rank - 3
        if freedom < 1:
            warn(
                f"fisher-z: {self._n} rows are too few to condition on {partial.rank} columns; "
                "such questions are answered 'independent'"
            )
            return CIResult(
                statistic=0.0,
                p_value=1.0,
                independent=True,
                n=self._n,
                decided_by="too few rows",
                redundant=redundant,
            )
        found = fisher_z(partial.r, freedom)
        return CIResult(
            statistic=abs(found.statistic),
            p_value=found.p_value,
            independent=not found.p_value < self._alpha,
            n=self._n,
            decided_by="normal",
            log_p_value=found.log_p_value,
            redundant=redundant,
        )

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the absolute partial correlations, which rank as the statistics do."""
        return np.abs(self._correlations.among(x, candidates, z))
