"""The non-parametric test: kNN estimate of conditional mutual information, against permutations."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pyknnmi.components import AuditFinding, BoundTest, CIResult, CITest, DataError, Dataset, Kind, Run
from pyknnmi.numbers import (
    EstimatorName,
    PartialCorrelations,
    block_length,
    cells_suit,
    common_season,
    conditional_mutual_information,
    conditional_mutual_informations,
    estimate_of_counts,
    fisher_z,
    neighbor_counts,
    permutation_test,
    same_season,
    season_length,
    standardized,
    tied_share,
)

Stop = Literal["never", "certain", "sequential", "reached"]

_MOST = 10**8  # permutations take memory, 2 GB then
_MOST_SEQUENTIAL = 10_000  # what the core takes


@dataclass(frozen=True, kw_only=True)
class KnnCMI(CITest):
    """Conditional mutual information from nearest neighbours, tested by permutation.

    The statistic is the estimate in nats; it assumes continuous columns and no distribution. The p-value is (K + 1) /
    (T + 1), where K of T estimates with permuted y are at least the observed one.

    Of x and y the one that is less tied to z is permuted, by the neighbour counts behind the estimate, so the test is
    symmetric. The 2018 program permutes the candidate, which as a rule is the same.

    The ``global`` null permutes over all rows, as the 2018 paper does. That makes y independent of z as well as of x;
    the test rejects too often when x and y both depend strongly on z: more so for larger k, and no less for larger n.
    The ``local`` null keeps y near its z: it holds its level for one strong column of z, and rejects too often when
    several columns of z are strong. Where x and y depend on z weakly both hold.

    Parameters
    ----------
    k : int, at least 1
        Neighbours. Fewer rows than k + 1 are an error.
    permutations : int, 1 to 100000000
        T. With T = 200 the smallest p-value is 1/201.
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    screen : float or none, in nats
        An estimate below this, where Fisher's z-test at the same alpha accepts independence too, is called independent
        without permutations; the p-value is then 1, which holds at every other level too. ``none`` always permutes.
    standardize : bool
        Give every column mean 0 and standard deviation 1 first: the max norm compares columns.
    null : global, local, block, local-block, within
        Which rows may exchange their y. ``global``: all of them. ``local``: each row gets the y of one of its nearest
        neighbours in z, each used once where possible. With columns of categories in z, both stay within the rows of
        the same categories. ``block``: for rows that follow each other in time or place, stretches of rows, or whole
        blocks where the data have ``blocks``. ``local-block``: stretches in which z takes a near course.
        ``within``: the rows of each block, and of the same categories.
    neighbors : int, 2 to 100000000
        For the local nulls: how many neighbours, the row or stretch itself included. Of rows at equal distance those
        are taken that follow the row in the data, the last row being followed by the first.
    block_length : int or none, at least 1
        Rows in a stretch. ``none``: what `pyknnmi.numbers.block_length` says of x and y, by their autocorrelations.
    season : int or none, at least 1
        Rows in a season, such as 12 months: stretches are then whole seasons, so that each row gets a y of its own time
        of the season, and what x and y owe to the season is no dependence. ``none``: what
        `pyknnmi.numbers.common_season` finds in x and y. 1: none.
    stop : auto, never, certain, sequential
        ``never`` makes all permutations, as the paper does. ``certain`` ends a test as soon as the remaining ones
        cannot change the decision, which is then the same. ``sequential`` also ends it where a bet against independence
        has won enough; its level is alpha at most, and it is for at most 10000 permutations. ``auto`` takes
        ``sequential`` (beyond 10000 permutations ``certain``) where a search only asks whether p < alpha, and else
        ``never``: for one question, and where p-values are compared, as by ``fdr``. The p-value of a test that ended
        early is (K + 1) / (permutations made + 1), and ``p_value_bounds`` says where that of all T would lie.
    resolution : float or none, 1e-8 to 1
        The smallest p-value that a test may give, such as 1e-5, instead of 1 / (T + 1). A test makes permutations until
        25 of them reach the observed estimate, or p is down to this: about 25 / p of them, so p is known to a fifth. It
        is a p-value at every level, as those of ``fdr`` and of ``adjust`` need to be. Takes the place of `permutations`
        and `stop`.
    estimator : auto, ksg, mixed, cells
        ``ksg`` is the paper's, for continuous columns. ``mixed`` (Mesner and Shalizi 2019) also takes columns in which
        many rows share a value, booleans and categories, which are 0 apart where equal and 1 where not. ``cells``
        counts equal rows, for categories and columns of few values; y is permuted among rows of equal z. ``auto``
        takes ``cells`` where all columns are categories or have two values, and where `pyknnmi.numbers.cells_suit`
        finds enough rows for some that are and numbers of few values; ``mixed`` for other questions with categories or
        ties; ``ksg`` for the rest.
    engine : auto, tree, single, batch
        How neighbours are found; changes the time and never the answer. ``auto`` takes the fastest; groups of
        columns take the tree in any case.

    References
    ----------
    Leppä-aho, Räisänen, Yang and Roos (2018), "Learning non-parametric Markov networks with mutual information",
    PGM; Vejmelka and Paluš (2008), doi:10.1103/PhysRevE.77.026214; Frenzel and Pompe (2007),
    doi:10.1103/PhysRevLett.99.204101; local null: Runge (2018), "Conditional independence testing based on a
    nearest-neighbor estimator of conditional mutual information", AISTATS; mixed: Mesner and Shalizi (2019),
    arXiv:1912.03387; cells: Grassberger (1988), doi:10.1016/0375-9601(88)90193-4.
    """

    name: ClassVar[str] = "knn-cmi"
    needs_seed: ClassVar[bool] = True
    takes_groups: ClassVar[bool] = True
    takes_blocks: ClassVar[bool] = True

    k: int = 3
    permutations: int = 200
    alpha: float = 0.05
    screen: float | None = 0.001
    standardize: bool = True
    null: Literal["global", "local", "block", "local-block", "within"] = "global"
    neighbors: int = 5
    block_length: int | None = None
    season: int | None = None
    stop: Literal["auto", "never", "certain", "sequential"] = "auto"
    resolution: float | None = None
    estimator: Literal["auto", "ksg", "mixed", "cells"] = "auto"
    engine: Literal["auto", "tree", "single", "batch"] = "auto"

    def accepts(self, kind: Kind) -> bool:
        """Return whether the estimator takes columns of this kind."""
        return kind == "continuous" or self.estimator != "ksg"

    @property
    def decides_early(self) -> bool:
        """Whether a search gets decisions from fewer permutations than p-values."""
        return self.stop == "auto" and self.resolution is None

    def allows_for(self, finding: AuditFinding, findings: Sequence[AuditFinding], n: int) -> bool:
        """Return whether blocks are permuted, where rows follow each other, and where they have a season whole ones."""
        if finding.kind == "season":
            return self.null in ("block", "local-block") and self._keeps(finding, findings, n)
        return finding.kind == "serial-dependence" and self.null in ("block", "local-block", "within")

    def _keeps(self, finding: AuditFinding, findings: Sequence[AuditFinding], n: int) -> bool:
        """Return whether a season is a part of the one that is named, or else goes with that of every other column."""
        length = int(finding.figure)
        if self.season is not None:
            return self.season > length // 2 and same_season(length, self.season, n)
        return all(same_season(length, int(other.figure), n) for other in findings if other.kind == "season")

    def check(self) -> None:
        """Check the ranges."""
        self.require(self.k >= 1, "k", "at least 1")
        self.require(self.permutations >= 1, "permutations", "at least 1")
        self.require(self.permutations <= _MOST, "permutations", f"at most {_MOST}")
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")
        self.require(
            self.stop != "sequential" or self.permutations <= _MOST_SEQUENTIAL,
            "permutations",
            f"at most {_MOST_SEQUENTIAL} with stop=sequential",
        )
        self.require(
            self.resolution is None or 1 / _MOST <= self.resolution < 1, "resolution", "from 1e-8 to 1, or none"
        )
        self.require(self.neighbors >= 2, "neighbors", "at least 2")
        self.require(self.neighbors <= _MOST, "neighbors", f"at most {_MOST}")
        self.require(
            self.block_length is None or 1 <= self.block_length <= _MOST, "block_length", "at least 1, or none"
        )
        self.require(self.season is None or 1 <= self.season <= _MOST, "season", "at least 1, or none")
        for name in ("block_length", "season"):
            needed = f"none with null={self.null}: say null=block or null=local-block"
            self.require(getattr(self, name) is None or self.null in ("block", "local-block"), name, needed)

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        if dataset.n <= self.k:
            raise DataError(f"{dataset.n} rows are too few for k = {self.k}: give at least {self.k + 1}")
        if dataset.groups is None and self.null == "within":
            raise DataError("knn-cmi(null=within) needs groups: name their column with blocks")
        if dataset.groups is not None and self.null not in ("block", "within"):
            raise DataError(
                f"knn-cmi(null={self.null}) takes no blocks: null=block permutes whole blocks, null=within the rows "
                "of each"
            )
        if self.season is not None and dataset.n < 2 * self.season:
            raise DataError(f"{dataset.n} rows are too few for season = {self.season}: give at least {2 * self.season}")
        self.warn_of_coarse(self.most_permutations, "permutations", self.alpha)
        return BoundKnnCMI(self, dataset, run)

    @property
    def most_permutations(self) -> int:
        """How many permutations a test makes at most."""
        return self.permutations if self.resolution is None else math.ceil(1 / self.resolution) - 1

    @property
    def stop_of_p_value(self) -> Stop:
        """When a test may end that is asked for its p-value."""
        if self.resolution is not None:
            return "reached"
        return "never" if self.stop == "auto" else self.stop

    def stop_of_decision(self, permutations: int) -> Stop:
        """Return when a test of at most so many permutations may end that is asked for its decision."""
        if self.resolution is not None:
            return "reached"
        if self.stop in ("never", "certain"):
            return self.stop
        return "sequential" if permutations <= _MOST_SEQUENTIAL else "certain"


Variable = int | tuple[int, ...]
Counts = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]
Points = NDArray[np.float64]


@dataclass(frozen=True)
class _Ranked:
    """What candidates were found to tell about x."""

    x: Variable
    z: tuple[int, ...]
    estimator: EstimatorName
    estimates: dict[int, float]

    def estimate(self, x: int, y: int, z: tuple[int, ...], estimator: EstimatorName) -> float | None:
        """Return the estimate for these columns, in whichever order, if it is known."""
        if (z, estimator) != (self.z, self.estimator) or self.x not in (x, y):
            return None
        return self.estimates.get(y if self.x == x else x)


class BoundKnnCMI(BoundTest):
    """The kNN test on the columns of one data set."""

    def __init__(self, component: KnnCMI, dataset: Dataset, run: Run) -> None:
        self._component = component
        self._names = dataset.names
        self._run = run
        self.threads = run.threads_per_job
        values = standardized(dataset.values) if component.standardize else dataset.values
        self._values = np.asfortranarray(values)
        self._groups = dataset.groups
        self._categories = frozenset(dataset.discrete_columns())
        for i in self._categories:
            self._values[:, i] = np.unique(dataset.values[:, i], return_inverse=True)[1]
        self._levels = [len(np.unique(column)) for column in dataset.values.T]
        self._mixed = self._mixed_columns(dataset)
        self._warn_of_small_categories(dataset)
        self._correlations = PartialCorrelations.of(dataset.values)
        self._seasons: dict[int, int] = {}
        # Of the last question. Each is written as a whole, so threads that share the test may only miss what they need.
        self._ranked: _Ranked | None = None
        self._counted: tuple[tuple[Variable, Variable, tuple[int, ...]], Counts] | None = None

    def for_threads(self) -> BoundTest:
        """Return the test with one thread a call: the core does its work without Python's lock."""
        single = copy.copy(self)
        single.threads = 1
        return single

    def associations(self, x: Variable, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the estimates in nats."""
        # One estimator for all: they are biased differently.
        estimator = self._estimator(x, candidates, z)
        estimates = conditional_mutual_informations(
            *self._columns(x, tuple(candidates), z),
            self._component.k,
            estimator=estimator,
            categories=self._flags(x, tuple(candidates), z),
            engine=self._component.engine,
            threads=self.threads,
            poll=self._run.poll,
        )
        self._ranked = _Ranked(x, z, estimator, dict(zip(candidates, estimates.tolist(), strict=True)))
        return estimates

    def test(self, x: Variable, y: Variable, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y, or groups of them, given the columns z."""
        component = self._component
        return self._screened(x, y, z) or self._permuted(
            x, y, z, component.alpha, component.most_permutations, component.stop_of_p_value
        )

    def test_at(self, x: int, y: int, z: tuple[int, ...], level: float) -> CIResult:
        """Return the answer at a level up to alpha: from as many permutations as it needs, as far as it needs them."""
        component = self._component
        most = component.most_permutations
        if level < component.alpha:
            needed = math.ceil(2 / level) - (component.resolution is not None)
            most = min(max(most, needed), _MOST)
        return self._screened(x, y, z) or self._permuted(x, y, z, level, most, component.stop_of_decision(most))

    def _permuted(self, x: Variable, y: Variable, z: tuple[int, ...], alpha: float, most: int, stop: Stop) -> CIResult:
        component = self._component
        estimator = self._estimator(x, [y], z)
        first, last = (x, y) if estimator == "cells" else self._permuted_last(x, y, z)
        found = permutation_test(
            *self._columns(first, last, z),
            component.k,
            permutations=most,
            seed=self._run.seed,
            stream=self._run.stream(self._name(x), self._name(y), [self._names[i] for i in z]),
            **self._exchangeable(x, y, z, estimator),
            stop=stop,
            alpha=alpha,
            estimator=estimator,
            categories=self._flags(first, last, z),
            engine=component.engine,
            threads=self.threads,
            poll=self._run.poll,
        )
        left = most - found.permutations
        lowest = (found.at_least + 1) / (most + 1)
        highest = (found.at_least + left + 1) / (most + 1)
        return CIResult(
            statistic=found.statistic,
            p_value=found.p_value,
            independent=not found.p_value < alpha,
            n=len(self._values),
            decided_by="permutations of cells" if estimator == "cells" else "permutations",
            permutations=found.permutations,
            p_value_bounds=(lowest, highest) if left else None,
            anytime_p_value=None if stop in ("never", "reached") else found.anytime_p_value,
        )

    def _exchangeable(self, x: Variable, y: Variable, z: tuple[int, ...], estimator: EstimatorName) -> dict[str, Any]:
        """Return which rows may exchange their y, as `permutation_test` takes it."""
        component, groups = self._component, self._groups
        if component.null == "block" and groups is not None:
            return {"groups": groups, "whole_groups": True}
        neighbors = component.neighbors if component.null in ("local", "local-block") else 0
        if component.null in ("block", "local-block"):
            season = component.season or self._season(x, y)
            length = component.block_length or max(
                block_length(self._values[:, i], self._values[:, j], season) for i in _each(x) for j in _each(y)
            )
            return {"block_length": -(-length // season) * season, "season": season, "neighbors": neighbors}
        # Where cells are counted, the rows of one cell of z are the exact null, whether numbers or categories.
        strata = z if estimator == "cells" else tuple(i for i in z if i in self._categories)
        return {"groups": self._strata(strata), "neighbors": neighbors}

    def _season(self, x: Variable, y: Variable) -> int:
        """Return the season that x and y have in common, of which that of one may be a part; 1 if there is none."""
        return max((self._season_of_two(i, j) for i in _each(x) for j in _each(y)), default=1)

    def _season_of_two(self, i: int, j: int) -> int:
        lengths = self._season_of(i), self._season_of(j)
        return 1 if min(lengths) == 1 else common_season(self._values[:, i], self._values[:, j], lengths)

    def _season_of(self, column: int) -> int:
        if column not in self._seasons:
            self._seasons[column] = season_length(self._values[:, column])
        return self._seasons[column]

    def _strata(self, columns: tuple[int, ...]) -> NDArray[np.uint32] | None:
        """Return a label for each row, equal where the columns are, and the group with the null ``within``."""
        labels: list[NDArray[Any]] = [self._values[:, i] for i in columns]
        if self._component.null == "within" and self._groups is not None:
            labels.append(self._groups)
        if not labels:
            return None
        _, strata, sizes = np.unique(np.column_stack(labels), axis=0, return_inverse=True, return_counts=True)
        alone = sizes[sizes == 1].sum() / len(self._values)
        if alone > 0.5:
            given = ", ".join(f"'{self._names[i]}'" for i in columns) or "the blocks"
            self._run.warn_once(
                ("strata", given),
                f"knn-cmi: given {given}, {alone:.0%} of the rows are the only ones of their kind and are not "
                "permuted, so that dependence is hardly seen: merge categories, or condition on fewer",
            )
        return strata.astype(np.uint32).ravel()

    def _permuted_last(self, x: Variable, y: Variable, z: tuple[int, ...]) -> tuple[Variable, Variable]:
        """Return x and y, last the one that is less tied to z.

        Of a variable that z determines nearly, most points near in z are near in it too: it has the more neighbours
        within the radius of the k-th joint one.
        """
        if not z:
            return x, y
        of_x, of_y, _ = self._counts(x, y, z)
        harmonic = np.cumsum(1.0 / np.arange(1, len(self._values) + 1))  # psi(m + 1) but for a constant
        tie = math.fsum(harmonic[of_x]) - math.fsum(harmonic[of_y])
        return (x, y) if tie >= 0 else (y, x)

    def _screened(self, x: Variable, y: Variable, z: tuple[int, ...]) -> CIResult | None:
        """Return the answer without permutations, where the estimate and the correlation agree on independence."""
        threshold = self._component.screen
        if threshold is None or not isinstance(x, int) or not isinstance(y, int):
            return None
        if self._categories & {x, y, *z}:
            return None  # codes of categories have no correlation
        partial = self._correlations.between(x, y, z)
        freedom = len(self._values) - partial.rank - 3
        if freedom < 1:
            return None
        p_value = fisher_z(partial.r, freedom).p_value
        if p_value < self._component.alpha:
            return None
        estimate = self._estimate(x, y, z)
        if estimate >= threshold:
            return None
        return CIResult(
            statistic=estimate,
            p_value=1.0,  # that of the z-test is given where it is large only, so higher levels would reject too often
            independent=True,
            n=len(self._values),
            decided_by="screen",
        )

    def _estimate(self, x: int, y: int, z: tuple[int, ...]) -> float:
        """Return the estimate, from what was found for the question before if that is possible."""
        estimator = self._estimator(x, [y], z)
        if self._ranked is not None and (known := self._ranked.estimate(x, y, z, estimator)) is not None:
            return known
        if z and estimator == "ksg":
            return estimate_of_counts(*self._counts(x, y, z), self._component.k)  # which the permutations need too
        return conditional_mutual_information(
            *self._columns(x, y, z),
            self._component.k,
            estimator=estimator,
            categories=self._flags(x, y, z),
            threads=self.threads,
            poll=self._run.poll,
        )

    def _counts(self, x: Variable, y: Variable, z: tuple[int, ...]) -> Counts:
        counted = self._counted
        if counted is None or counted[0] != (x, y, z):
            counts = neighbor_counts(
                *self._columns(x, y, z),
                self._component.k,
                categories=self._flags(x, y, z),
                threads=self.threads,
                poll=self._run.poll,
            )
            self._counted = counted = (x, y, z), counts
        return counted[1]

    def _estimator(self, x: Variable, candidates: Sequence[Variable], z: tuple[int, ...]) -> EstimatorName:
        """Return the one estimator for all candidates."""
        if self._component.estimator != "auto":
            return self._component.estimator
        if all(self._cells_suit((*_each(x), *_each(y), *z)) for y in candidates):
            return "cells"
        columns = (i for variable in (x, *candidates, z) for i in _each(variable))
        return "ksg" if self._mixed.isdisjoint(columns) else "mixed"

    def _cells_suit(self, columns: tuple[int, ...]) -> bool:
        levels = [self._levels[i] for i in columns]
        return cells_suit(len(self._values), levels, [i in self._categories for i in columns])

    def _mixed_columns(self, dataset: Dataset) -> frozenset[int]:
        """Return the columns that need the mixed estimator.

        Warns of numeric columns in which most rows share a value, since they may be codes of categories; with `ksg`,
        which ignores it, from a tenth of the rows on; with `cells` of those in which most rows do not.
        """
        component = self._component
        tied = {
            i: tied_share(dataset.values[:, i], component.k)
            for i, kind in enumerate(dataset.kinds)
            if kind == "continuous"
        }
        if component.estimator == "cells":
            self._warn_of_ties("few", "so that few cells have two rows", {i: s for i, s in tied.items() if s < 0.5})
        elif component.estimator == "ksg":
            self._warn_of_ties("many", "which biases the ksg estimator", {i: s for i, s in tied.items() if s > 0.1})
        elif component.estimator == "auto":
            does = "which calls for the mixed estimator or counts of cells"
            self._warn_of_ties("many", does, {i: s for i, s in tied.items() if s > 0.5})
        return frozenset(i for i, share in tied.items() if share > 0) | self._categories

    def _warn_of_ties(self, how_many: str, what: str, shares: dict[int, float]) -> None:
        new = [i for i in shares if self._run.is_new(("ties", self._names[i]))]  # questions differ in their columns
        if new:
            listed = ", ".join(f"'{self._names[i]}' ({shares[i]:.0%} of the rows)" for i in new)
            topics = [("ties", self._names[i]) for i in new]
            self._run.warn_about(topics, f"knn-cmi: in column {listed} {how_many} rows share a value, {what}")

    def _warn_of_small_categories(self, dataset: Dataset) -> None:
        k = self._component.k
        for i in sorted(self._categories):
            _, counts = np.unique(dataset.values[:, i], return_counts=True)
            small = counts[counts <= k].sum() / dataset.n
            if small > 0.5:
                self._run.warn_once(
                    ("small categories", self._names[i]),
                    f"knn-cmi: in column '{self._names[i]}' {small:.0%} of the rows are of categories with at most "
                    f"k = {k} rows, so their neighbours are of others: merge categories, or leave the column out",
                )

    def _columns(self, x: Variable, y: Variable, z: tuple[int, ...]) -> tuple[Points, Points, Points]:
        return self._values[:, _each(x)], self._values[:, _each(y)], self._values[:, z]

    def _flags(self, *variables: Variable) -> list[bool]:
        return [column in self._categories for variable in variables for column in _each(variable)]

    def _name(self, variable: Variable) -> str:
        return "\x1f".join(self._names[i] for i in _each(variable))  # no comma: a column may have one in its name


def _each(variable: Variable) -> tuple[int, ...]:
    return (variable,) if isinstance(variable, int) else variable
