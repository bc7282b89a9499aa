from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from graph_truths import random_graph

from pyknnmi import Pipeline, ci_test, learn
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.builtin.separation import Separation
from pyknnmi.components import Dataset, Graph, ParameterError, PartiallyDirectedGraph

networkx = pytest.importorskip("networkx")


def table(names):
    return Dataset.of(np.random.default_rng(0).standard_normal((5, len(names))), names)


def questions(names):
    for x, y in combinations(names, 2):
        rest = [name for name in names if name not in (x, y)]
        for z in chain.from_iterable(combinations(rest, size) for size in range(len(rest) + 1)):
            yield x, y, z


@pytest.mark.parametrize("seed", range(8))
def test_equals_networkx(seed):
    graph = random_graph(seed, largest=6)
    data, test = table(graph.names), Separation.of(graph)
    directed = isinstance(graph, PartiallyDirectedGraph)
    peer = networkx.DiGraph() if directed else networkx.Graph()
    peer.add_nodes_from(graph.names)
    peer.add_edges_from(graph.directed if directed else graph.edges)
    for x, y, z in questions(graph.names):
        if directed:
            expected = networkx.is_d_separator(peer, {x}, {y}, set(z))
        else:
            without = peer.subgraph(set(graph.names) - set(z))
            expected = not networkx.has_path(without, x, y)
        answer = ci_test(data, x, y, z, test)
        assert answer.independent == expected
        assert (answer.statistic, answer.p_value) == (float(not expected), float(expected))
        assert answer.decided_by == "graph"


@pytest.mark.parametrize("written", ["a -- b; b -- c", "a--b;b--c", " a -- b ; b--c ; ", "a -> b; b -> c", "a->b;b->c"])
def test_ways_to_write_a_chain(written):
    test = Separation(graph=written)
    assert not ci_test(table("abc"), "a", "c", test=test).independent
    assert ci_test(table("abc"), "a", "c", "b", test).independent


def test_a_collider():
    test = Separation(graph="a -> b; c -> b; b -> d")
    assert ci_test(table("abcd"), "a", "c", test=test).independent
    assert not ci_test(table("abcd"), "a", "c", "b", test).independent
    assert not ci_test(table("abcd"), "a", "c", "d", test).independent


def test_names_with_spaces_and_hyphens():
    test = Separation.of(Graph(["blood-group", "X 1", "c"], [("blood-group", "X 1")]))
    assert not ci_test(table(["blood-group", "X 1", "c"]), 0, 1, test=test).independent


def test_no_edges():
    assert ci_test(table("ab"), 0, 1, test="separation").independent


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("a - b", "cannot read the edge 'a - b': write a -- b or a -> b"),
        ("a", "cannot read the edge 'a'"),
        ("a -- b; b -> c", "mixes -- and ->: write all edges alike"),
    ],
)
def test_edges_that_cannot_be_read(graph, message):
    with pytest.raises(ParameterError, match=message):
        Separation(graph=graph)


def test_nodes_that_are_no_columns_are_hidden():
    test = Separation(graph="h -> a; h -> c; a -> b")
    assert not ci_test(table("abc"), "b", "c", test=test).independent
    assert ci_test(table("abc"), "b", "c", "a", test).independent
    assert learn(table("abc"), Pipeline(IAMB(), test)).graph.edges == (("a", "b"), ("a", "c"))
