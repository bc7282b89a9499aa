"""Stability selection: which edges come up again in halves of the rows?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pyknnmi.components import DataError, Dataset, Inner, Learned, LearnedGraph, ParameterError, Run, Wrapper

_MOST = 10**6


@dataclass(frozen=True)
class _Parts(Sequence[Dataset]):
    """The parts of a table, each made when it is needed: together they are many times as large as the table."""

    dataset: Dataset
    runs: int
    size: int
    run: Run

    def __len__(self) -> int:
        return self.runs

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < self.runs:
            raise IndexError(number)
        split, half = divmod(number, 2)
        order = self.run.generator("stability", str(split), []).permutation(self.dataset.n)
        return self.dataset.take_rows(np.sort(order[half * self.size : (half + 1) * self.size]))


@dataclass(frozen=True, kw_only=True)
class Stability(Wrapper):
    """Complementary pairs stability selection: keep the edges that come up in most of many halves of the rows.

    The rows are split at random into two parts that share no row, again and again, and the pipeline learns a graph of
    each part. The selection frequency of a pair is the share of these graphs that join it. Pairs that reach the
    threshold are the edges.

    Let q be the average number of edges of a graph, of m pairs. Call a pair noise if its selection probability is at
    most q / m, that of pairs taken at random. Then the expected number of noise pairs among the edges is at most
    q^2 / (m (2 threshold - 1)) (Shah and Samworth, Theorem 1), whatever the learner. ``details`` of the result hold
    this bound and the frequency of each pair that came up, and ``evidence.csv`` the frequencies.

    Parameters
    ----------
    runs : int, even, from 2 to a million
        Graphs to learn, two for each split.
    fraction : float, above 0 and at most 0.5
        Share of the rows in a part.
    threshold : float, above 0.5 and at most 1
        The least selection frequency of an edge.

    References
    ----------
    Shah and Samworth (2013), "Variable selection with error control: another look at stability selection", JRSS B 75,
    doi:10.1111/j.1467-9868.2011.01034.x; Meinshausen and Bühlmann (2010), doi:10.1111/j.1467-9868.2010.00740.x.
    """

    name: ClassVar[str] = "stability"
    compares_p_values: ClassVar[bool] = False

    runs: int = 50
    fraction: float = 0.5
    threshold: float = 0.75

    def check(self) -> None:
        """Check the ranges."""
        self.require(2 <= self.runs <= _MOST and self.runs % 2 == 0, "runs", f"even, and from 2 to {_MOST}")
        self.require(0 < self.fraction <= 0.5, "fraction", "above 0 and at most 0.5")
        self.require(0.5 < self.threshold <= 1, "threshold", "above 0.5 and at most 1")

    def learn(self, inner: Inner, dataset: Dataset, run: Run) -> Learned:
        """Return the graph of the pairs that come up often enough."""
        if dataset.groups is not None:
            raise ParameterError(
                "stability splits the rows as if each were an observation of its own: leave blocks out, or the wrapper",
                "blocks",
            )
        part_size = int(self.fraction * dataset.n)
        if part_size < 2:
            raise DataError(
                f"{dataset.n} rows are too few for stability(fraction={self.fraction}): parts need two rows"
            )
        selected: Counter[tuple[int, int]] = Counter()
        counts: Counter[str] = Counter()
        for learned in inner.each(_Parts(dataset, self.runs, part_size, run), run):
            selected.update((min(edge), max(edge)) for edge in learned.graph.edges)
            counts.update(learned.counts)
        frequency = {pair: selected[pair] / self.runs for pair in sorted(selected)}
        pairs = math.comb(dataset.p, 2)
        average = selected.total() / self.runs
        rows = [
            {"source": dataset.names[i], "target": dataset.names[j], "frequency": share}
            for (i, j), share in frequency.items()
        ]
        edges = [pair for pair, share in frequency.items() if share >= self.threshold]
        details = {
            "stability": {
                "runs": self.runs,
                "rows": part_size,
                "threshold": self.threshold,
                "average_edges": average,
                "most_false_edges": average**2 / (pairs * (2 * self.threshold - 1)),
            },
            "selection": rows,
            "edges": [row for row, share in zip(rows, frequency.values(), strict=True) if share >= self.threshold],
        }
        return Learned(LearnedGraph(edges, evidence={}, details=details), dict(counts))
