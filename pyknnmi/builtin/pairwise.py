"""Pairwise: each pair given all other columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from pyknnmi.components import Dataset, LearnedGraph, Learner, Run, Tester


@dataclass(frozen=True, kw_only=True)
class Pairwise(Learner):
    """Each pair of columns, tested once given all the others: the pairwise Markov property.

    Estimates the moral graph; with a perfect test it is the true Markov network of any distribution with a positive
    density. The conditioning sets are as large as can be: for many rows and few columns, where nothing is faster; a kNN
    test loses its power in so many dimensions.

    References
    ----------
    Lauritzen (1996), "Graphical models", section 3.2.1.
    """

    name: ClassVar[str] = "pairwise"
    takes_targets: ClassVar[bool] = True

    def learn(self, dataset: Dataset, tester: Tester, run: Run) -> LearnedGraph:
        """Return the graph."""
        searches = tester.each(partial(_neighbors, dataset.p), tester.targets)
        return LearnedGraph([(search.item, y) for search in searches for y in search.found])


def _neighbors(p: int, x: int, tester: Tester) -> list[int]:
    """Return the neighbours of x, leaving out those whose own search comes first."""
    others = [y for y in range(p) if y > x or (y != x and y not in tester.targets)]
    return [y for y in others if not tester.test(x, y, [z for z in range(p) if z not in (x, y)]).independent]
