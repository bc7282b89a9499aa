"""The non-parametric test: kNN estimate of conditional mutual information, against permutations."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pyknnmi import (
    BoundTest,
    CIResult,
    CITest,
    DataError,
    Dataset,
    PartialCorrelations,
    PyknnmiWarning,
    Run,
    conditional_mutual_informations,
    fisher_z,
    permutation_test,
    standardized,
)


@dataclass(frozen=True, kw_only=True)
class KnnCMI(CITest):
    """Conditional mutual information from nearest neighbours, tested by permutation.

    The statistic is the estimate in nats; it assumes continuous columns and no distribution. The p-value is (K + 1) /
    (T + 1), where K of T estimates with permuted y are at least the observed one.

    The ``global`` null permutes y over all rows, as the 2018 paper does. That makes y independent of z as well as of x,
    so the test rejects too often when x and y both depend strongly on z: more so for larger k, and no less for larger
    n. The ``local`` null keeps y near its z: it holds its level for one strong column of z, and rejects too often when
    several columns of z are strong. Where x and y depend on z weakly both hold.

    Parameters
    ----------
    k : int, at least 1
        Neighbours. Fewer rows than k + 1 are an error.
    permutations : int, at least 1
        T. With T = 200 the smallest p-value is 1/201.
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    screen : float or none, in nats
        An estimate below this, where Fisher's z-test at the same alpha accepts independence too, is called independent
        without permutations; the p-value is then that of the z-test. ``none`` always permutes.
    standardize : bool
        Give every column mean 0 and standard deviation 1 first: the max norm compares columns.
    null : global, local
        Permute y over all rows, or give each row the y of one of its nearest neighbours in z, each used once where
        possible. Without z both are the same test.
    neighbors : int, at least 2
        For the local null: how many neighbours, the row itself included. Of rows at equal distance those are taken that
        follow the row in the data, the last row being followed by the first.
    stop_early : bool
        Stop as soon as the remaining permutations cannot change the decision. The decision is the same; the p-value
        is then (K + 1) / (permutations made + 1), and ``p_value_bounds`` tells where that of all T would lie.
    engine : auto, tree, column, columns
        How neighbours are found; changes the time and never the answer. ``auto`` takes the fastest.

    References
    ----------
    Leppä-aho, Räisänen, Yang and Roos (2018), "Learning non-parametric Markov networks with mutual information",
    PGM; Vejmelka and Paluš (2008), doi:10.1103/PhysRevE.77.026214; Frenzel and Pompe (2007),
    doi:10.1103/PhysRevLett.99.204101; local null: Runge (2018), "Conditional independence testing based on a
    nearest-neighbor estimator of conditional mutual information", AISTATS.
    """

    name: ClassVar[str] = "knn-cmi"
    needs_seed: ClassVar[bool] = True

    k: int = 3
    permutations: int = 200
    alpha: float = 0.05
    screen: float | None = 0.001
    standardize: bool = True
    null: Literal["global", "local"] = "global"
    neighbors: int = 5
    stop_early: bool = False
    engine: Literal["auto", "tree", "column", "columns"] = "auto"

    def check(self) -> None:
        """Check the ranges."""
        self.require(self.k >= 1, "k", "at least 1")
        self.require(self.permutations >= 1, "permutations", "at least 1")
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")
        self.require(self.neighbors >= 2, "neighbors", "at least 2")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        if dataset.n <= self.k:
            raise DataError(f"{dataset.n} rows are too few for k = {self.k}: give at least {self.k + 1}")
        if 1 / (self.permutations + 1) >= self.alpha:
            warnings.warn(
                f"knn-cmi: with {self.permutations} permutations no p-value is below alpha = {self.alpha}: "
                f"give at least {int(1 / self.alpha)}",
                PyknnmiWarning,
                stacklevel=2,
            )
        _warn_of_ties(dataset, self.k)
        return BoundKnnCMI(self, dataset, run)


class BoundKnnCMI(BoundTest):
    """The kNN test on the columns of one data set."""

    def __init__(self, component: KnnCMI, dataset: Dataset, run: Run) -> None:
        self._component = component
        self._names = dataset.names
        self._run = run
        self.threads = run.threads_per_job
        values = standardized(dataset.values) if component.standardize else dataset.values
        self._values = np.asfortranarray(values)
        self._correlations = PartialCorrelations.of(dataset.values)

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the estimates in nats."""
        return conditional_mutual_informations(
            self._columns((x,)),
            self._columns(candidates),
            self._columns(z),
            self._component.k,
            engine=self._component.engine,
            threads=self.threads,
            poll=self._run.poll,
        )

    def for_threads(self) -> BoundTest:
        """Return the test with one thread a call: the core does its work without Python's lock."""
        single = copy.copy(self)
        single.threads = 1
        return single

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        component = self._component
        if component.screen is not None:
            estimate = float(self.associations(x, (y,), z)[0])
            screened = self._screen(estimate, x, y, z)
            if screened is not None:
                return screened
        found = permutation_test(
            self._columns((x,)),
            self._columns((y,)),
            self._columns(z),
            component.k,
            permutations=component.permutations,
            seed=self._run.seed,
            stream=self._run.stream(self._names[x], self._names[y], [self._names[i] for i in z]),
            neighbors=component.neighbors if component.null == "local" else 0,
            stop_at_alpha=component.alpha if component.stop_early else 0.0,
            engine=component.engine,
            threads=self.threads,
            poll=self._run.poll,
        )
        left = component.permutations - found.permutations
        lowest = (found.at_least + 1) / (component.permutations + 1)
        highest = (found.at_least + left + 1) / (component.permutations + 1)
        return CIResult(
            statistic=found.statistic,
            p_value=found.p_value,
            independent=not found.p_value < component.alpha,
            n=len(self._values),
            decided_by="permutations",
            permutations=found.permutations,
            p_value_bounds=(lowest, highest) if left else None,
        )

    def _screen(self, estimate: float, x: int, y: int, z: tuple[int, ...]) -> CIResult | None:
        component = self._component
        partial = self._correlations.between(x, y, z)
        freedom = len(self._values) - partial.rank - 3
        if component.screen is None or estimate >= component.screen or freedom < 1:
            return None
        p_value = fisher_z(partial.r, freedom).p_value
        if p_value < component.alpha:
            return None
        return CIResult(
            statistic=estimate,
            p_value=p_value,
            independent=True,
            n=len(self._values),
            decided_by="screen",
        )

    def _columns(self, columns: Sequence[int]) -> NDArray[np.float64]:
        return self._values[:, list(columns)]


def _warn_of_ties(dataset: Dataset, k: int) -> None:
    """Warn of columns in which many rows share their value with more than k others.

    Where both x and y are such, the k-th neighbour of a point lies at distance zero.
    """
    tied = []
    for name, column in zip(dataset.names, dataset.values.T, strict=True):
        _, counts = np.unique(column, return_counts=True)
        share = counts[counts > k].sum() / dataset.n
        if share > 0.5:
            tied.append(f"'{name}' ({share:.0%} of the rows)")
    if tied:
        warnings.warn(
            f"knn-cmi assumes continuous columns; in {', '.join(tied)} values are shared by more than "
            f"{k + 1} rows, and estimates with such columns are biased",
            PyknnmiWarning,
            stacklevel=3,
        )
