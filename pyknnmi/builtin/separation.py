"""Answers from a known graph: an oracle for testing learners."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from pyknnmi.components import BoundTest, CIResult, CITest, Dataset, Graph, ParameterError, PartiallyDirectedGraph, Run

_EDGE = re.compile(r"\s*(.+?)\s*(--|->)\s*(.+?)\s*")


@dataclass(frozen=True, kw_only=True)
class Separation(CITest):
    """Separation in a known graph: what a perfect test would say.

    x and y are independent given z when z separates them: in an undirected graph, when every path from x to y
    meets z; in a directed one, by d-separation. The data are not looked at.

    Parameters
    ----------
    graph : str
        Edges ``a -- b`` or, all of them, ``a -> b``, separated by ``;``. A column without an edge is isolated; a node
        that is no column is hidden.

    References
    ----------
    Lauritzen (1996), "Graphical Models", section 3.2.2: d-separation is separation in the moral graph of the
    smallest ancestral set.
    """

    name: ClassVar[str] = "separation"

    graph: str = ""

    @classmethod
    def of(cls, graph: Graph | PartiallyDirectedGraph) -> Self:
        """Return the oracle of a graph, all of whose edges are undirected or all directed."""
        arrows = graph.directed if isinstance(graph, PartiallyDirectedGraph) else ()
        lines = graph.undirected if isinstance(graph, PartiallyDirectedGraph) else graph.edges
        return cls(graph="; ".join([f"{a} -> {b}" for a, b in arrows] + [f"{a} -- {b}" for a, b in lines]))

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
                place.setdefault(end, len(place))
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
        self._directed = directed
        self._parents: dict[int, set[int]] = {}
        self._neighbors: dict[int, set[int]] = {}
        for a, b in edges:
            self._parents.setdefault(b, set()).add(a)
            self._neighbors.setdefault(a, set()).add(b)
            self._neighbors.setdefault(b, set()).add(a)

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return whether z separates x and y: statistic 0 and p-value 1, or 1 and 0."""
        neighbors = self._moral_neighbors({x, y, *z}) if self._directed else self._neighbors
        joined = _reaches(x, y, set(z), neighbors)
        return CIResult(
            statistic=float(joined),
            p_value=float(not joined),
            independent=not joined,
            n=self._n,
            decided_by="graph",
        )

    def _moral_neighbors(self, nodes: set[int]) -> dict[int, set[int]]:
        """Return the neighbours in the moral graph of the smallest ancestral set that holds the nodes."""
        ancestral, front = set(nodes), list(nodes)
        neighbors: dict[int, set[int]] = {}
        while front:
            parents = self._parents.get(node := front.pop(), set())
            family = {node, *parents}
            for member in family:
                neighbors.setdefault(member, set()).update(family)
            front.extend(parents - ancestral)
            ancestral |= parents
        return neighbors


def _reaches(x: int, y: int, blocked: set[int], neighbors: Mapping[int, set[int]]) -> bool:
    seen, front = {x}, [x]
    while front:
        new = neighbors.get(front.pop(), set()) - seen - blocked
        seen |= new
        front.extend(new)
    return y in seen
