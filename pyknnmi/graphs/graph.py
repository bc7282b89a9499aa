"""Undirected graphs with named nodes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import listing
from pyknnmi.errors import DataError, DataTypeError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    import igraph
    import networkx as nx

__all__ = ["Graph"]


@dataclass(frozen=True)
class Graph:
    """An undirected graph: what depends on what.

    Attributes
    ----------
    names : tuple of str
        The nodes, in the order of the data's columns.
    edges : tuple of (str, str)
        Each edge once, its ends in the order of `names`, sorted by that order.

    Examples
    --------
    >>> graph = Graph(("a", "b", "c"), [("c", "a")])
    >>> graph.edges
    (('a', 'c'),)
    >>> graph.neighbors("a")
    ('c',)
    >>> graph.hamming(Graph(("c", "b", "a"), [("a", "b")]))
    2
    """

    names: tuple[str, ...]
    edges: tuple[tuple[str, str], ...] = ()

    def __init__(self, names: Iterable[str], edges: Iterable[tuple[str, str]] = ()) -> None:
        names = tuple(names)
        place = {name: i for i, name in enumerate(names)}
        if len(place) != len(names):
            raise DataError("node names must differ")
        pairs = set()
        for a, b in edges:
            for end in (a, b):
                if end not in place:
                    raise UnknownNameError(f"edge {a} - {b}: there is no node '{end}'{did_you_mean(end, names)}")
            if a == b:
                raise DataError(f"edge {a} - {b} joins a node to itself")
            pairs.add((min(place[a], place[b]), max(place[a], place[b])))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "edges", tuple((names[i], names[j]) for i, j in sorted(pairs)))

    @classmethod
    def from_adjacency(cls, matrix: Any, names: Iterable[str] | None = None) -> Graph:
        """Return the graph of a symmetric matrix: an edge where an off-diagonal entry is not zero.

        Parameters
        ----------
        matrix : array_like or data frame, shape (p, p)
            Numbers or booleans. Must be symmetric in what is zero and what is not; the diagonal is not looked at.
        names : iterable of str, optional
            The column names of a frame, or ``X1 ... Xp``, when left out.

        Raises
        ------
        DataError
            A matrix that is not square or not symmetric, missing values (NaN), a frame whose rows are not labelled as
            its columns are.
        DataTypeError
            Anything but numbers and booleans.
        """
        if hasattr(matrix, "columns"):
            columns, rows = list(matrix.columns), list(getattr(matrix, "index", matrix.columns))
            if rows not in (columns, list(range(len(rows))), list(range(1, len(rows) + 1))):
                raise DataError("the rows of the adjacency matrix must have the labels of its columns, in their order")
            names = map(str, columns) if names is None else names
        entries = np.asarray(matrix)
        if entries.dtype.kind == "O":
            with suppress(TypeError, ValueError):
                entries = entries.astype(np.float64)
        if entries.dtype.kind not in "fiub":
            raise DataTypeError(f"an adjacency matrix holds numbers or booleans; this one is of type {entries.dtype}")
        if np.isnan(entries).any():
            raise DataError("the adjacency matrix has missing values (NaN): write 0 where there is no edge")
        linked = entries != 0
        if linked.ndim != 2 or linked.shape[0] != linked.shape[1]:
            raise DataError(f"an adjacency matrix is square; this one has shape {linked.shape}")
        names = tuple(f"X{i + 1}" for i in range(len(linked))) if names is None else tuple(names)
        if len(names) != len(linked):
            raise DataError(f"{len(names)} names were given for {len(linked)} nodes")
        uneven = np.argwhere(linked != linked.T)
        if len(uneven):
            i, j = uneven[0]
            raise DataError(f"the matrix is not symmetric: it joins only one way between {names[i]} and {names[j]}")
        return cls(names, [(names[i], names[j]) for i, j in np.argwhere(np.triu(linked, 1))])

    def __contains__(self, edge: object) -> bool:
        return isinstance(edge, tuple) and len(edge) == 2 and (edge in self.edges or (edge[1], edge[0]) in self.edges)

    def neighbors(self, name: str) -> tuple[str, ...]:
        """Return the nodes joined to `name`, in the order of `names`."""
        if name not in self.names:
            raise UnknownNameError(
                f"there is no node '{name}'{did_you_mean(name, self.names)} (the nodes are {listing(self.names)})"
            )
        joined = {a if b == name else b for a, b in self.edges if name in (a, b)}
        return tuple(other for other in self.names if other in joined)

    def adjacency(self) -> NDArray[np.int8]:
        """Return the symmetric matrix of shape (p, p) with 1 for an edge and 0 elsewhere."""
        place = {name: i for i, name in enumerate(self.names)}
        matrix = np.zeros((len(self.names), len(self.names)), dtype=np.int8)
        for a, b in self.edges:
            matrix[place[a], place[b]] = matrix[place[b], place[a]] = 1
        return matrix

    def to_numpy(self) -> NDArray[np.int8]:
        """Return the matrix of `adjacency`, under the name that data frames use."""
        return self.adjacency()

    def to_networkx(self) -> nx.Graph:
        """Return the graph of networkx with the same nodes and edges."""
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges)
        return graph

    def to_igraph(self) -> igraph.Graph:
        """Return the graph of igraph with the same nodes and edges; the vertex attribute ``name`` has the names."""
        import igraph

        place = {name: i for i, name in enumerate(self.names)}
        graph = igraph.Graph(n=len(self.names), edges=[(place[a], place[b]) for a, b in self.edges])
        graph.vs["name"] = self.names
        return graph

    def reordered(self, names: Iterable[str]) -> Graph:
        """Return the same graph with its nodes in another order, or with further isolated nodes."""
        return Graph(names, self.edges)

    def false_positives(self, truth: Graph) -> int:
        """Return how many edges of this graph are not in `truth`."""
        return len(self._pairs() - self._pairs_of(truth))

    def false_negatives(self, truth: Graph) -> int:
        """Return how many edges of `truth` are not in this graph."""
        return len(self._pairs_of(truth) - self._pairs())

    def hamming(self, other: Graph) -> int:
        """Return the number of pairs joined in one of the two graphs and not in the other."""
        return len(self._pairs() ^ self._pairs_of(other))

    def _pairs(self) -> set[frozenset[str]]:
        return {frozenset(edge) for edge in self.edges}

    def _pairs_of(self, other: Graph) -> set[frozenset[str]]:
        if not isinstance(other, Graph):
            raise DataTypeError(f"{type(other)} is no pyknnmi.Graph: make one with Graph(names, edges)")
        strangers = sorted(set(self.names) ^ set(other.names))
        if strangers:
            raise DataError(f"the graphs have different nodes; only one of them has {listing(strangers)}")
        return other._pairs()
