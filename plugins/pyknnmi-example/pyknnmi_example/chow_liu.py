"""The Chow-Liu tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pyknnmi.components import Dataset, LearnedGraph, Learner, Run, Tester


@dataclass(frozen=True, kw_only=True)
class ChowLiu(Learner):
    """The tree of the strongest associations, without the edges whose ends are independent.

    Right when the true graph is a tree or a forest and associations rank pairs as their mutual information does. Fast:
    each pair is ranked once, and at most p - 1 are tested.

    References
    ----------
    Chow and Liu (1968), doi:10.1109/TIT.1968.1054142.
    """

    name: ClassVar[str] = "chow-liu"

    def learn(self, dataset: Dataset, tester: Tester, run: Run) -> LearnedGraph:
        """Return the graph."""
        scores = {}
        for i in range(dataset.p):
            others = range(i + 1, dataset.p)
            scores.update({(i, j): score for j, score in zip(others, tester.associations(i, others), strict=True)})
        edges = []
        trees = [{i} for i in range(dataset.p)]
        for i, j in sorted(scores, key=scores.__getitem__, reverse=True):
            if trees[i] is not trees[j]:
                trees[i] |= trees[j]
                for k in trees[j]:
                    trees[k] = trees[i]
                if not tester.independent(i, j):
                    edges.append((i, j))
        return LearnedGraph(edges)
