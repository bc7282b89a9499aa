"""PC-stable: the skeleton, level by level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import ClassVar, Literal

from pyknnmi.components import Dataset, LearnedGraph, Learner, Run, Tester

Neighbors = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, kw_only=True)
class PCStable(Learner):
    """The PC algorithm in its order-independent form: the skeleton, by ever larger conditioning sets.

    Starts with all edges. At level 0, 1, 2, ... an edge is removed if its ends are independent given some set of
    that many neighbours of either end; neighbours are those at the start of the level, so the order of the tests does
    not matter. Estimates the skeleton; with a perfect test it is the true one of a distribution that is faithful to a
    graph, directed acyclic or undirected. The conditioning sets are small, which suits small samples and kNN
    estimates.

    Parameters
    ----------
    max_conditioning : int or none, at least 0
        The largest conditioning set, and so the last level. The number of tests grows exponentially with it.

    References
    ----------
    Spirtes, Glymour and Scheines (2000), "Causation, prediction, and search", section 5.4.2; Colombo and Maathuis
    (2014), "Order-independent constraint-based causal structure learning", JMLR 15, algorithm 4.1.
    """

    name: ClassVar[str] = "pc-stable"
    estimates: ClassVar[Literal["moral graph", "skeleton"]] = "skeleton"

    max_conditioning: int | None = None

    def learn(self, dataset: Dataset, tester: Tester, run: Run) -> LearnedGraph:
        """Return the skeleton."""
        columns = range(dataset.p)
        neighbors = {x: tuple(y for y in columns if y != x) for x in columns}
        level = 0
        while self._reaches(level, neighbors):
            apart = {
                frozenset((search.item, y))
                for search in tester.each(partial(_separated, neighbors, level), columns)
                for y in search.found
            }
            neighbors = {x: tuple(y for y in neighbors[x] if frozenset((x, y)) not in apart) for x in columns}
            level += 1
        return LearnedGraph([(x, y) for x in columns for y in neighbors[x] if x < y])

    def _reaches(self, level: int, neighbors: Neighbors) -> bool:
        """Return whether there are conditioning sets of this size."""
        if self.max_conditioning is not None and level > self.max_conditioning:
            return False
        return any(len(others) > level for others in neighbors.values())


def _separated(neighbors: Neighbors, level: int, x: int, tester: Tester) -> list[int]:
    """Return the neighbours after x that are independent of it given some set of `level` neighbours of either."""

    def sets(y: int) -> Iterable[tuple[int, ...]]:
        pools = ([other for other in neighbors[end] if other not in (x, y)] for end in (x, y))
        return chain.from_iterable(combinations(pool, level) for pool in pools)

    return [y for y in neighbors[x] if x < y and any(tester.independent(x, y, z) for z in sets(y))]
