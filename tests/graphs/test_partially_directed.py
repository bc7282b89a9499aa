"""Graphs with directed and undirected edges."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from graph_truths import random_dag

from pyknnmi import DataError, Graph, PartiallyDirectedGraph, UnknownNameError


def test_edges_are_kept_in_the_order_of_the_names():
    graph = PartiallyDirectedGraph("abcd", [("d", "a"), ("b", "a")], [("d", "c"), ("c", "b")])
    assert graph.directed == (("b", "a"), ("d", "a"))
    assert graph.undirected == (("b", "c"), ("c", "d"))
    assert graph == PartiallyDirectedGraph("abcd", [("b", "a"), ("d", "a")], [("b", "c"), ("c", "d")])
    assert str(graph) == "b -> a, d -> a, b - c, c - d"
    assert graph.skeleton() == Graph("abcd", ["ab", "ad", "bc", "cd"])


def test_parents():
    graph = PartiallyDirectedGraph("abcd", [("d", "a"), ("b", "a")], [("a", "c")])
    assert graph.parents("a") == ("b", "d")
    assert graph.parents("c") == ()
    with pytest.raises(UnknownNameError, match="there is no node 'e'"):
        graph.parents("e")


@pytest.mark.parametrize(
    ("directed", "undirected", "error", "message"),
    [
        ([("a", "b"), ("b", "a")], [], DataError, "between a and b is given twice"),
        ([("b", "a")], [("a", "b")], DataError, "between a and b is given twice"),
        ([("a", "a")], [], DataError, "joins a node to itself"),
        ([("a", "x")], [], UnknownNameError, "there is no node 'x'"),
        ([], [("x", "a")], UnknownNameError, "there is no node 'x'"),
    ],
)
def test_errors(directed, undirected, error, message):
    with pytest.raises(error, match=message):
        PartiallyDirectedGraph("abc", directed, undirected)


def test_moral_graph_of_a_directed_graph_equals_networkx():
    for seed in range(50):
        dag = random_dag(seed)
        expected = nx.DiGraph(dag.directed)
        expected.add_nodes_from(dag.names)
        assert dag.moral_graph() == Graph(dag.names, nx.moral_graph(expected).edges)


def test_undirected_edges_marry_nobody():
    graph = PartiallyDirectedGraph("abc", [("a", "b")], [("b", "c")])
    assert graph.moral_graph() == graph.skeleton()


def test_acyclic_equals_networkx():
    random = np.random.default_rng(0)
    answers = set()
    for _ in range(100):
        pairs = [(a, b) if random.random() < 0.5 else (b, a) for a in "abcdef" for b in "abcdef" if a < b]
        edges = [pair for pair in pairs if random.random() < 0.4]
        acyclic = PartiallyDirectedGraph("abcdef", edges).is_acyclic()
        assert acyclic == nx.is_directed_acyclic_graph(nx.DiGraph(edges))
        answers.add(acyclic)
    assert answers == {True, False}


def test_only_directed_edges_make_a_cycle():
    assert PartiallyDirectedGraph("abc", [("a", "b"), ("b", "c")], [("a", "c")]).is_acyclic()
    assert PartiallyDirectedGraph("abc").is_acyclic()


def test_the_same_graph_elsewhere():
    graph = PartiallyDirectedGraph("abcd", [("a", "b"), ("d", "b")], [("c", "d")])
    arcs = {("a", "b"), ("d", "b"), ("c", "d"), ("d", "c")}
    theirs, igraphs, matrix = graph.to_networkx(), graph.to_igraph(), graph.to_numpy()
    assert tuple(theirs.nodes) == tuple(igraphs.vs["name"]) == graph.names
    assert set(theirs.edges) == {("abcd"[edge.source], "abcd"[edge.target]) for edge in igraphs.es} == arcs
    assert {("abcd"[i], "abcd"[j]) for i, j in np.argwhere(matrix)} == arcs
    assert theirs.is_directed()
    assert igraphs.is_directed()
