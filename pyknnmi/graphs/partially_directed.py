"""Graphs with directed and undirected edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from pyknnmi.errors import DataError
from pyknnmi.graphs.graph import Graph

__all__ = ["PartiallyDirectedGraph"]

Edge = tuple[str, str]


@dataclass(frozen=True)
class PartiallyDirectedGraph:
    """A graph of which some edges have a direction: what causes what, as far as the data tell.

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

    def __str__(self) -> str:
        return ", ".join([f"{a} -> {b}" for a, b in self.directed] + [f"{a} - {b}" for a, b in self.undirected])
