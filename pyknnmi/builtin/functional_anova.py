"""Functional ANOVA: a graph from smooth regressions of each column on others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pyknnmi import Progress
from pyknnmi.components import CIResult, DataError, Dataset, Evidence, Kind, LearnedGraph, Learner, Run, Tester, warn
from pyknnmi.regression import (
    Allowed,
    GraphSearch,
    SmoothRegressions,
    direction_p_values,
    partial_effects,
    partners,
    shape_of,
    symmetric_p_value,
    without_copies,
)

Edge = tuple[int, int]
Rows = dict[Edge, dict[str, Any]]
"""What is known of directions, by a column and one of its neighbours."""

_LEAST_ROWS = 20
_PENALTY, _FEW_COLUMNS, _PENALTY_GROWTH = 4.0, 7, 2.33
"""Nats that an edge costs in a table of few columns and few rows, and how it grows with the logarithm of the number of
columns. In narrow tables it grows with that of the rows instead: what many rows show weakly is often what the
regressions miss."""
_FEW_ROWS, _LEVEL_OF_FEW = 125, 2.0
"""Among few rows the check misses true edges, and its level is twice alpha. With more rows the level falls: what the
regressions miss shows the more clearly, the more there are."""
_PAIRS_FREE = 10
"""So many pairs, those of five columns, do not count in the false discovery rate: there the penalty is enough."""
_AT_A_TIME = 64


@dataclass(frozen=True, kw_only=True)
class FunctionalANOVA(Learner):
    """Smooth regressions of each column on others, chosen by Bayesian evidence, then a check of each edge.

    Each column's normal scores are explained by smooth functions of others and of pairs of others. The graph is the one
    for which the evidence of all regressions, less a penalty for each edge, is largest: the evidence of both directions
    of an edge adds up, and the one that says nothing costs nothing. Then each edge is tested by `smooth-gcm`, given the
    other neighbours; it stays if its p-value is small, and within a false discovery rate over all pairs but 10.

    It uses no CI test. Rows that are copies of others are counted once. It sees dependence of the mean of a column's
    normal scores on others, by up to two at a time, in at least one direction; a column that only spreads wider or less
    wide with another, in both directions, it misses. The p-values come after the search, so they promise less than they
    say.

    The result's ``details`` hold for each edge the evidence and the shape found in both directions, and the fitted
    effects; see the documentation of the method.

    Parameters
    ----------
    penalty : float, positive, or none
        Nats of evidence that an edge must gain. None is 4 for up to 7 columns and 125 rows; for more columns
        2.33 log(p / 7) is added, or for more rows log(n / 125), whichever is more.
    alpha : float, in (0, 1)
        Edges stay with p-values of at most the level, which is 250 alpha / n, and at most 2 alpha. The false discovery
        rate is alpha, or the level where that is higher.

    References
    ----------
    Wahba (1990), "Spline models for observational data", chapter 10, for functional ANOVA; MacKay (1992),
    doi:10.1162/neco.1992.4.3.415, for the evidence; Shah and Peters (2020), doi:10.1214/19-AOS1857, for the check.
    """

    name: ClassVar[str] = "functional-anova"
    uses_test: ClassVar[bool] = False
    takes_targets: ClassVar[bool] = True
    takes_constraints: ClassVar[bool] = True

    penalty: float | None = None
    alpha: float = 0.1

    def check(self) -> None:
        """Check the ranges."""
        self.require(self.penalty is None or self.penalty > 0, "penalty", "positive, or none")
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")

    def accepts(self, kind: Kind) -> bool:
        """Return that columns of numbers and of categories can be used."""
        return kind in ("continuous", "discrete")

    def learn(self, dataset: Dataset, tester: Tester, run: Run) -> LearnedGraph:
        """Return the graph; ``details`` say how the columns depend on each other."""
        dataset, copies = _usable(dataset)
        regressions = SmoothRegressions(dataset, run.threads_per_job, run.poll)
        penalty = self.penalty or _penalty(dataset.n, dataset.p)
        allowed = _allowed(dataset.p, tester)

        def report(done: int, total: int) -> None:
            run.report(Progress(done, total, 0))

        search = GraphSearch(regressions, allowed, penalty, report)
        level = _LEVEL_OF_FEW * self.alpha * min(1.0, _FEW_ROWS / dataset.n)
        pairs = dataset.p * (dataset.p - 1) // 2 - _PAIRS_FREE

        def significant(p_values: dict[Edge, float]) -> frozenset[Edge]:
            return _within_rate(p_values, level, max(self.alpha, level), pairs) | allowed.required

        neighbors = search.best()
        kept, rejected = _checked(search, regressions, neighbors, significant, run)
        return LearnedGraph(
            frozenset(kept),
            {i: tuple(sorted(neighbors[i])) for i in tester.targets},
            {
                (i, j): Evidence((i, j, edge.given), edge.answer(joined=(i, j) in kept, n=dataset.n))
                for (i, j), edge in (kept | rejected).items()
            },
            {
                "rows": dataset.n,
                "copied_rows": copies,
                "penalty": penalty,
                "level": level,
                "edges": [kept[pair].row for pair in sorted(kept)],
                "rejected": [rejected[pair].row for pair in sorted(rejected)],
                "effects": [
                    row
                    for fit in search.fits([(i, others, None) for i, others in enumerate(neighbors)])
                    for row in partial_effects(regressions, fit, dataset)
                ],
            },
        )


def _usable(dataset: Dataset) -> tuple[Dataset, int]:
    """Return the data with copied rows once, and their number, or raise an error."""
    if dataset.has_missing:
        raise DataError(
            'functional-anova needs complete rows: pass missing="drop" (--missing drop), or impute the values'
        )
    different, copies = without_copies(dataset)
    if copies:
        warn(
            f"functional-anova: {copies} of {dataset.n} rows are copies of others in every column, and are counted "
            "once: a copy is no further observation"
        )
    if different.n < _LEAST_ROWS:
        raise DataError(f"functional-anova needs at least {_LEAST_ROWS} different rows; there are {different.n}")
    constant = different.constant_columns()
    if constant:
        raise DataError(f"column '{different.names[constant[0]]}' is constant")
    return different, copies


def _penalty(n: int, p: int) -> float:
    """Return the nats that an edge costs by default."""
    return _PENALTY + max(0.0, _PENALTY_GROWTH * math.log(p / _FEW_COLUMNS), math.log(n / _FEW_ROWS))


def _allowed(p: int, tester: Tester) -> Allowed:
    free = np.zeros((p, p), dtype=bool)
    free[list(tester.targets)] = True
    free |= free.T
    np.fill_diagonal(free, False)
    required = set()
    for (i, j), answer in tester.constrained.items():
        free[i, j] = free[j, i] = not answer.independent
        if not answer.independent:
            required.add((i, j))
    return Allowed(free, frozenset(required))


@dataclass(frozen=True)
class _TestedEdge:
    """What is known of an edge i - j, in plain values, and the other neighbours of i."""

    given: tuple[int, ...]
    row: dict[str, Any]

    def answer(self, joined: bool, n: int) -> CIResult:
        return CIResult(
            statistic=self.row["evidence"],
            p_value=self.row["p_value"],
            independent=not joined,
            n=n,
            decided_by="smooth-gcm",
        )


def _checked(
    search: GraphSearch,
    regressions: SmoothRegressions,
    neighbors: Sequence[set[int]],
    significant: Callable[[dict[Edge, float]], frozenset[Edge]],
    run: Run,
) -> tuple[dict[Edge, _TestedEdge], dict[Edge, _TestedEdge]]:
    """Take the edges that are not significant out of `neighbors`, and return those that stay and those that do not.

    Two columns that tell the same may each seem needless beside the other. So of the edges of a column only the one
    with the least evidence goes, and the others are tested again without it.
    """
    kept: dict[Edge, _TestedEdge] = {}
    rejected: dict[Edge, _TestedEdge] = {}
    rows: Rows = {}
    pairs = [(i, j) for i, others in enumerate(neighbors) for j in sorted(others) if i < j]
    changed = set(range(regressions.p))
    while pairs:
        both = [direction for i, j in pairs for direction in ((i, j), (j, i))]
        rows |= _tested(search, regressions, neighbors, [(i, j) for i, j in both if i in changed], run)
        kept |= {pair: _tested_edge(regressions, neighbors, pair, rows) for pair in pairs}
        doubtful = kept.keys() - significant({pair: edge.row["p_value"] for pair, edge in kept.items()})
        weakest: dict[int, Edge] = {}
        for pair in sorted(doubtful, key=lambda pair: (kept[pair].row["evidence"], pair)):
            for column in pair:
                weakest.setdefault(column, pair)
        gone = {pair for pair in doubtful if weakest[pair[0]] == weakest[pair[1]] == pair}
        for i, j in gone:
            rejected[i, j] = kept.pop((i, j))
            neighbors[i].discard(j)
            neighbors[j].discard(i)
        changed = {column for pair in gone for column in pair}
        pairs = sorted(pair for pair in kept if changed.intersection(pair))
    return kept, rejected


def _tested(
    search: GraphSearch,
    regressions: SmoothRegressions,
    neighbors: Sequence[set[int]],
    directions: Sequence[Edge],
    run: Run,
) -> Rows:
    """Test whether each column depends on this neighbour, given its other neighbours."""
    rows: Rows = {}
    fits = dict(zip(directions, search.fits([(i, neighbors[i], None) for i, _ in directions]), strict=True))
    others = search.fits([(i, neighbors[i] - {j}, fits[i, j]) for i, j in directions])
    without = dict(zip(directions, others, strict=True))
    for begin in range(0, len(directions), _AT_A_TIME):
        part = directions[begin : begin + _AT_A_TIME]
        run.report(Progress(part[0][0], regressions.p, begin))
        questions = [(i, j, neighbors[i] - {j}) for i, j in part]
        p_values = direction_p_values(
            regressions, questions, [without[pair] for pair in part], [fits[pair] for pair in part]
        )
        for (i, j), p_value in zip(part, p_values, strict=True):
            rows[i, j] = {
                "column": regressions.names[i],
                "on": regressions.names[j],
                "evidence": fits[i, j].gain - without[i, j].gain,
                "shape": shape_of(regressions, fits[i, j], j),
                "interacts_with": [regressions.names[k] for k in partners(fits[i, j], j)],
                "p_value": p_value,
            }
    return rows


def _tested_edge(regressions: SmoothRegressions, neighbors: Sequence[set[int]], pair: Edge, rows: Rows) -> _TestedEdge:
    """Return what the rows of both directions say of an edge."""
    i, j = pair
    one, other = rows[i, j], rows[j, i]
    return _TestedEdge(
        tuple(sorted(neighbors[i] - {j})),
        {
            "source": regressions.names[i],
            "target": regressions.names[j],
            "evidence": one["evidence"] + other["evidence"],
            "p_value": symmetric_p_value(one["p_value"], other["p_value"]),
            "directions": [one, other],
        },
    )


def _within_rate(p_values: dict[Edge, float], level: float, rate: float, pairs: int) -> frozenset[Edge]:
    """Return the edges whose p-values are at most `level`, and within the false discovery rate over so many pairs.

    Source: Benjamini and Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x.
    """
    bounds = [p for rank, p in enumerate(sorted(p_values.values()), start=1) if p * pairs <= rate * rank]
    bound = min(level, max(bounds, default=-1.0))
    return frozenset(edge for edge, p in p_values.items() if p <= bound)
