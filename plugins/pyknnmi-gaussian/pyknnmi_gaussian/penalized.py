"""What both learners share: a path of penalties, the graph at each of them, and the choice of one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

import pyknnmi
from pyknnmi.components import LearnedGraph, Learner, Tester, warn

from .correlation import (
    pearson_correlation,
    positive_semidefinite_correlation,
    skeptic_correlation,
    standardize,
)
from .errors import ColumnError
from .penalties import penalty_path
from .rotation_criterion import random_rotations, rotation_penalty
from .stars import Stability, stars

Floats = NDArray[np.float64]
Graphs = NDArray[np.bool_]


@dataclass(frozen=True)
class Choice:
    """A chosen penalty, and the curve behind it as plain numbers for the result's details."""

    penalty: float
    curve: dict[str, Any]
    stability: Floats | None = None  # share of the subsamples that have each edge, shape (p, p)


@dataclass(frozen=True, kw_only=True)
class PenalizedLearner(Learner):
    """Base of learners that shrink a Gaussian model until edges vanish. It uses no CI test."""

    uses_test: ClassVar[bool] = False

    penalty: float | None = None
    path: int = 20
    min_ratio: float = 0.01
    correlation: Literal["pearson", "spearman", "kendall"] = "pearson"
    subsamples: int = 20
    threshold: float = 0.1
    stars_rule: Literal["monotone", "huge"] = "monotone"
    rotations: int = 20
    gamma: float = 0.5

    @abstractmethod
    def fit(self, correlation: Floats, penalties: Floats) -> Floats:
        """Return the fitted matrices at decreasing penalties, shape (m, p, p)."""

    @abstractmethod
    def graphs(self, fitted: Floats) -> Graphs:
        """Return the adjacency matrices of fitted matrices, shape (m, p, p)."""

    @abstractmethod
    def scores(self, correlation: Floats, fitted: Floats, n: int) -> Floats:
        """Return the EBIC of each fitted matrix, shape (m,)."""

    @abstractmethod
    def strengths(self, fitted: Floats) -> Floats:
        """Return a number for each pair from one fitted matrix, shape (p, p)."""

    def check(self) -> None:
        """Check the ranges."""
        super().check()
        self.require(self.penalty is None or self.penalty > 0, "penalty", "positive, or none")
        self.require(self.path >= 2, "path", "at least 2")
        self.require(0 < self.min_ratio < 1, "min_ratio", "between 0 and 1")
        self.require(self.subsamples >= 2, "subsamples", "at least 2")
        self.require(0 < self.threshold < 1, "threshold", "between 0 and 1")
        self.require(self.rotations >= 1, "rotations", "at least 1")
        self.require(0 <= self.gamma <= 1, "gamma", "from 0 to 1")
        if self.selection is None and self.penalty is None:
            raise self.parameter_error("select", "needs a penalty: give one, or let stars, ric or ebic choose")

    @property
    @abstractmethod
    def selection(self) -> str | None:
        """How the penalty is chosen: the parameter ``select``."""

    def learn(self, dataset: pyknnmi.Dataset, tester: Tester, run: pyknnmi.Run) -> LearnedGraph:
        """Return the graph at the chosen penalty; ``details`` has the curve that it was chosen by."""
        try:
            return self._learn(dataset, run)
        except ColumnError as error:
            raise pyknnmi.DataError(f"{self.name}: column '{dataset.names[error.column]}' {error.problem}") from error
        except ValueError as error:  # what the functions of this package say about data and convergence
            raise pyknnmi.DataError(f"{self.name}: {error}") from error

    def _learn(self, dataset: pyknnmi.Dataset, run: pyknnmi.Run) -> LearnedGraph:
        correlation = self._correlate(dataset.values)
        choice = self._choose(dataset.values, correlation, run)
        fitted = self.fit(correlation, np.array([choice.penalty]))
        graph = self.graphs(fitted)[0]
        edges = [(int(i), int(j)) for i, j in np.argwhere(np.triu(graph, 1))]
        strengths = self.strengths(fitted[0])
        rows = []
        for i, j in edges:
            row: dict[str, Any] = {"source": dataset.names[i], "target": dataset.names[j]}
            row[self.strength] = float(strengths[i, j])
            if choice.stability is not None:
                row["stability"] = float(choice.stability[i, j])
            rows.append(row)
        return LearnedGraph(edges, details={"penalty": choice.penalty, **choice.curve, "edges": rows})

    strength: ClassVar[str]
    """What `strengths` returns, as a key of the details."""

    def _correlate(self, rows: Floats) -> Floats:
        if self.correlation == "pearson":
            return pearson_correlation(rows)
        return positive_semidefinite_correlation(skeptic_correlation(rows, statistic=self.correlation))

    def _choose(self, values: Floats, correlation: Floats, run: pyknnmi.Run) -> Choice:
        if self.penalty is not None:
            return Choice(self.penalty, {"select": None})
        if self.selection == "ric":
            rotations = random_rotations(len(values), self.rotations, seed=run.seed)
            return Choice(rotation_penalty(standardize(values), rotations), {"select": "ric"})
        penalties = penalty_path(correlation, count=self.path, min_ratio=self.min_ratio)
        if self.selection == "ebic":
            fitted = self.fit(correlation, penalties)
            scores = self.scores(correlation, fitted, len(values))
            curve = {"select": "ebic", "penalties": penalties.tolist(), "ebic": scores.tolist()}
            return Choice(float(penalties[np.argmin(scores)]), curve)
        return self._most_stable(values, penalties, run)

    def _most_stable(self, values: Floats, penalties: Floats, run: pyknnmi.Run) -> Choice:
        found: Stability = stars(
            values,
            lambda rows: self.graphs(self.fit(self._correlate(rows), penalties)),
            subsamples=self.subsamples,
            threshold=self.threshold,
            rule=self.stars_rule,
            seed=run.seed,
        )
        if found.instability[0] > self.threshold:
            warn(
                f"{self.name}: the graphs of subsamples differ at the largest penalty already (instability "
                f"{found.instability[0]:.2g}, threshold {self.threshold}), so the empty graph is chosen; of few "
                "columns an edge is a large share: give a larger threshold, or select=ebic or ric"
            )
        curve = {
            "select": "stars",
            "penalties": penalties.tolist(),
            "instability": found.instability.tolist(),
            "monotone_instability": found.monotone_instability.tolist(),
        }
        return Choice(float(penalties[found.index]), curve, found.edge_frequencies[found.index])
