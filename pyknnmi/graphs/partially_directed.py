"""Graphs with directed and undirected edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pyknnmi.errors import DataError
from pyknnmi.graphs.graph import Graph

if TYPE_CHECKING:
    import igraph
    import networkx as nx

__all__ = ["PartiallyDirectedGraph"]

Edge = tuple[str, str]


@dataclass(frozen=True)
class PartiallyDirectedGraph:
    """A graph of which some edges have a direction: what causes what, as far as the data determine it.

    With no undirected edges it is a directed graph.

    Attributes
    ----------
    names : tuple of str
        The nodes.
    directed : tuple of (str, str)
        Edges from the first to the second node, sorted by the order of `names`.
    undirected : tuple of (str, str)
        Edges whose direction is open, their ends in the order of `names`, sorted.

    Examples
    --------
    >>> graph = PartiallyDirectedGraph("abcd", [("a", "b"), ("c", "b")], [("d", "c")])
    >>> str(graph)
    'a -> b, c -> b, c - d'
    >>> graph.parents("b")
    ('a', 'c')
    >>> graph.moral_graph().edges
    (('a', 'b'), ('a', 'c'), ('b', 'c'), ('c', 'd'))
    """

    names: tuple[str, ...]
    directed: tuple[Edge, ...] = ()
    undirected: tuple[Edge, ...] = ()

    def __init__(self, names: Iterable[str], directed: Iterable[Edge] = (), undirected: Iterable[Edge] = ()) -> None:
        lines = Graph(names, undirected)
        arrows = {(a, b) for a, b in directed}
        joined = Graph(lines.names, arrows)  # checks the ends
        for a, b in joined.edges:
            if (a, b) in lines or {(a, b), (b, a)} <= arrows:
                raise DataError(f"the edge between {a} and {b} is given twice: directed one way, or undirected")
        place = {name: i for i, name in enumerate(lines.names)}
        object.__setattr__(self, "names", lines.names)
        object.__setattr__(self, "directed", tuple(sorted(arrows, key=lambda edge: [place[end] for end in edge])))
        object.__setattr__(self, "undirected", lines.edges)

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the nodes with a directed edge to `name`, in the order of `names`."""
        self.skeleton().neighbors(name)  # says so if there is no such node
        return tuple(a for a, b in self.directed if b == name)

    def skeleton(self) -> Graph:
        """Return the graph with all edges undirected."""
        return Graph(self.names, (*self.directed, *self.undirected))

    def moral_graph(self) -> Graph:
        """Return the skeleton with an edge between any two nodes that have a directed edge to the same node.

        For a directed acyclic graph that is the Markov network of its distributions; for a completed partially
        directed one, that of every directed graph it stands for (Lauritzen 1996, section 3.2.2).
        """
        married = (pair for name in self.names for pair in combinations(self.parents(name), 2))
        return Graph(self.names, (*self.skeleton().edges, *married))

    def is_acyclic(self) -> bool:
        """Return whether no path along directed edges leads back to its start."""
        left = set(self.names)
        while removable := left - {b for a, b in self.directed if a in left}:
            left -= removable
        return not left

    def to_numpy(self) -> NDArray[np.int8]:
        """Return the matrix of shape (p, p) with 1 at (a, b) for an edge from a to b.

        An undirected edge has a 1 both ways.
        """
        place = {name: i for i, name in enumerate(self.names)}
        matrix = np.zeros((len(self.names), len(self.names)), dtype=np.int8)
        for a, b in self._arcs():
            matrix[place[a], place[b]] = 1
        return matrix

    def to_networkx(self) -> nx.DiGraph:
        """Return the directed graph of networkx with the same nodes; an undirected edge goes both ways."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self._arcs())
        return graph

    def to_igraph(self) -> igraph.Graph:
        """Return the directed graph of igraph; an undirected edge goes both ways, and ``name`` has the names."""
        import igraph

        place = {name: i for i, name in enumerate(self.names)}
        arcs = [(place[a], place[b]) for a, b in self._arcs()]
        graph = igraph.Graph(n=len(self.names), edges=arcs, directed=True)
        graph.vs["name"] = self.names
        return graph

    def _arcs(self) -> list[Edge]:
        return [*self.directed, *self.undirected, *((b, a) for a, b in self.undirected)]

    def __str__(self) -> str:
        return ", ".join([f"{a} -> {b}" for a, b in self.directed] + [f"{a} - {b}" for a, b in self.undirected])
