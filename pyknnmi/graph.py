"""Undirected graphs with named nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi.data import listing
from pyknnmi.errors import DataError, UnknownNameError, did_you_mean

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
    def from_adjacency(cls, matrix: ArrayLike, names: Iterable[str] | None = None) -> Graph:
        """Return the graph of a symmetric matrix: an edge where an off-diagonal entry is not zero.

        Parameters
        ----------
        matrix : array_like, shape (p, p)
            Must be symmetric in what is zero and what is not; the diagonal is not looked at.
        names : iterable of str, optional
            ``X1 ... Xp`` when left out.
        """
        linked = np.asarray(matrix) != 0
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

    def reordered(self, names: Iterable[str]) -> Graph:
        """Return the same graph with its nodes in another order, or with further isolated nodes."""
        return Graph(names, self.edges)

    def false_positives(self, truth: Graph) -> int:
        """Return how many edges of this graph are not in `truth`."""
        return len(self._pairs() - truth._same_nodes(self))

    def false_negatives(self, truth: Graph) -> int:
        """Return how many edges of `truth` are not in this graph."""
        return len(truth._same_nodes(self) - self._pairs())

    def hamming(self, other: Graph) -> int:
        """Return the number of pairs joined in one of the two graphs and not in the other."""
        return len(self._pairs() ^ other._same_nodes(self))

    def _pairs(self) -> set[frozenset[str]]:
        return {frozenset(edge) for edge in self.edges}

    def _same_nodes(self, other: Graph) -> set[frozenset[str]]:
        strangers = sorted(set(self.names) ^ set(other.names))
        if strangers:
            raise DataError(f"the graphs have different nodes; only one of them has {listing(strangers)}")
        return self._pairs()
