"""Answers from a known graph: an oracle for testing learners."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from pyknnmi import BoundTest, CIResult, CITest, Dataset, Graph, ParameterError, Run

_EDGE = re.compile(r"\s*(.+?)\s*(--|->)\s*(.+?)\s*")


@dataclass(frozen=True, kw_only=True)
class Separation(CITest):
    """Separation in a known graph: what a perfect test would say.

    x and y are independent given z when z separates them: in an undirected graph, when every path from x to y
    meets z; in a directed one, by d-separation. The data are not looked at.

    Parameters
    ----------
    graph : str
        Edges ``a -- b`` or, all of them, ``a -> b``, separated by ``;``. A column without an edge is isolated.

    References
    ----------
    Lauritzen (1996), "Graphical Models", section 3.2.2: d-separation is separation in the moral graph of the
    smallest ancestral set.
    """

    name: ClassVar[str] = "separation"

    graph: str = ""

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Return the oracle of an undirected graph."""
        return cls(graph="; ".join(f"{a} -- {b}" for a, b in graph.edges))

    def check(self) -> None:
        """Check that the edges can be read."""
        if len({arrow for _, arrow, _ in self._edges()}) > 1:
            raise self.parameter_error("graph", "mixes -- and ->: write all edges alike")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the oracle on the columns of this data."""
        edges = self._edges()
        place = {name: i for i, name in enumerate(dataset.names)}
        for a, _, b in edges:
            for end in (a, b):
                dataset.column(end)
        pairs = [(place[a], place[b]) for a, _, b in edges]
        directed = bool(edges) and edges[0][1] == "->"
        return BoundSeparation(dataset.n, pairs, directed)

    def _edges(self) -> list[tuple[str, str, str]]:
        edges = []
        for written in filter(str.strip, self.graph.split(";")):
            found = _EDGE.fullmatch(written)
            if not found:
                raise ParameterError(
                    f"separation: cannot read the edge '{written.strip()}': write a -- b or a -> b",
                    "graph",
                )
            edges.append((found[1], found[2], found[3]))
        return edges


class BoundSeparation(BoundTest):
    """Separation of columns in one graph."""

    def __init__(self, n: int, edges: Iterable[tuple[int, int]], directed: bool) -> None:
        self._n = n
        self._edges = frozenset(edges)
        self._directed = directed

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return whether z separates x and y: statistic 0 and p-value 1, or 1 and 0."""
        joined = _reaches(x, y, set(z), self._undirected({x, y, *z}))
        return CIResult(
            statistic=float(joined),
            p_value=float(not joined),
            independent=not joined,
            n=self._n,
            decided_by="graph",
        )

    def _undirected(self, nodes: set[int]) -> Iterable[tuple[int, int]]:
        if not self._directed:
            return self._edges
        ancestral = set(nodes)
        while more := {a for a, b in self._edges if b in ancestral} - ancestral:
            ancestral |= more
        kept = {(a, b) for a, b in self._edges if b in ancestral}
        married = {(a, b) for a, child in kept for b, other in kept if child == other and a != b}
        return kept | married


def _reaches(x: int, y: int, blocked: set[int], edges: Iterable[tuple[int, int]]) -> bool:
    neighbors: dict[int, set[int]] = {}
    for a, b in edges:
        neighbors.setdefault(a, set()).add(b)
        neighbors.setdefault(b, set()).add(a)
    seen, front = {x}, [x]
    while front:
        for node in neighbors.get(front.pop(), set()) - seen - blocked:
            seen.add(node)
            front.append(node)
    return y in seen
