"""Random graphs, and what follows from them by definition."""

from __future__ import annotations

from itertools import product

import numpy as np

from pyknnmi import Graph, PartiallyDirectedGraph


def random_edges(random: np.random.Generator, p: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Names, and edges from earlier to later nodes of a random order; a node has up to three edges on average."""
    names = [f"X{i + 1}" for i in range(p)]
    order = random.permutation(p)
    share = min(1.0, random.uniform(0.5, 3.0) / (p - 1))
    edges = [(names[order[i]], names[order[j]]) for i in range(p) for j in range(i + 1, p) if random.random() < share]
    return names, edges


def random_graph(seed: int, largest: int = 15) -> Graph | PartiallyDirectedGraph:
    """A directed acyclic graph if the seed is even, an undirected one if it is odd; 3 to `largest` nodes."""
    random = np.random.default_rng(seed)
    names, edges = random_edges(random, int(random.integers(3, largest + 1)))
    return Graph(names, edges) if seed % 2 else PartiallyDirectedGraph(names, edges)


def random_dag(seed: int, largest: int = 15) -> PartiallyDirectedGraph:
    random = np.random.default_rng(seed)
    return PartiallyDirectedGraph(*random_edges(random, int(random.integers(3, largest + 1))))


def colliders(names, edges) -> set[tuple[frozenset[str], str]]:
    """Two nodes that are not joined, and a node that both have an edge to."""
    joined = {frozenset(edge) for edge in edges}
    return {
        (frozenset((a, c)), b)
        for a, b in edges
        for c, d in edges
        if b == d and a != c and frozenset((a, c)) not in joined
    }


def completed_by_definition(dag: PartiallyDirectedGraph) -> PartiallyDirectedGraph:
    """The directions shared by every acyclic graph with the same skeleton and colliders.

    These graphs have the same independences (Verma and Pearl 1990). Tries them all.
    """
    wanted = colliders(dag.names, dag.directed)
    shared = set(dag.directed)
    for turned in product((False, True), repeat=len(dag.directed)):
        edges = [(b, a) if turn else (a, b) for turn, (a, b) in zip(turned, dag.directed, strict=True)]
        if colliders(dag.names, edges) == wanted and PartiallyDirectedGraph(dag.names, edges).is_acyclic():
            shared &= set(edges)
    return PartiallyDirectedGraph(dag.names, shared, set(dag.directed) - shared)


def completed(dag: PartiallyDirectedGraph) -> PartiallyDirectedGraph:
    """As `completed_by_definition`, by the labels of Chickering (1995, UAI, algorithm LABEL-EDGES): no Meek rules."""
    parents = {name: set(dag.parents(name)) for name in dag.names}
    place: dict[str, int] = {}
    while len(place) < len(dag.names):
        ready = next(name for name in dag.names if name not in place and parents[name] <= set(place))
        place[ready] = len(place)
    compelled: dict[tuple[str, str], bool] = {}
    for x, y in sorted(dag.directed, key=lambda edge: (place[edge[1]], -place[edge[0]])):
        if (x, y) not in compelled:
            compelled.update(_labels(x, y, parents, compelled))
    chosen = [edge for edge, is_compelled in compelled.items() if is_compelled]
    return PartiallyDirectedGraph(dag.names, chosen, set(dag.directed) - set(chosen))


def _labels(x, y, parents, compelled):
    labels = {}
    for w in parents[x]:
        if compelled[w, x]:
            if w not in parents[y]:
                return {(z, y): True for z in parents[y]}
            labels[w, y] = True
    open_ = [(z, y) for z in parents[y] if (z, y) not in compelled and (z, y) not in labels]
    is_compelled = any(z != x and z not in parents[x] for z in parents[y])
    return labels | dict.fromkeys(open_, is_compelled)
