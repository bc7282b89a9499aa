from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyknnmi import DataError, DataTypeError, Graph, UnknownNameError

NAMES = tuple("abcdefg")
ends = st.sampled_from(NAMES)
pairs = st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1])
graphs = st.lists(pairs, max_size=12).map(lambda edges: Graph(NAMES, edges))


def test_edges_are_ordered_and_each_is_there_once():
    graph = Graph(["c", "a", "b"], [("b", "a"), ("a", "c"), ("a", "b")])
    assert graph.names == ("c", "a", "b")
    assert graph.edges == (("c", "a"), ("a", "b"))
    assert graph == Graph(("c", "a", "b"), iter([("c", "a"), ("b", "a")]))
    assert hash(graph) == hash(Graph(("c", "a", "b"), graph.edges))


def test_contains_in_either_direction():
    graph = Graph("abc", [("a", "b")])
    assert ("a", "b") in graph
    assert ("b", "a") in graph
    assert ("a", "c") not in graph
    assert "a" not in graph


@pytest.mark.parametrize(
    ("names", "edges", "error", "message"),
    [
        (["a", "a"], [], DataError, "node names must differ"),
        (["a", "b"], [("a", "a")], DataError, "edge a - a joins a node to itself"),
        (["age", "dose"], [("age", "dosis")], UnknownNameError, "no node 'dosis'; did you mean 'dose'?"),
    ],
)
def test_refused(names, edges, error, message):
    with pytest.raises(error, match=message):
        Graph(names, edges)


@given(graphs)
def test_adjacency_round_trip(graph):
    matrix = graph.adjacency()
    assert matrix.shape == (7, 7)
    assert np.array_equal(matrix, matrix.T)
    assert not matrix.diagonal().any()
    assert matrix.sum() == 2 * len(graph.edges)
    assert Graph.from_adjacency(matrix, NAMES) == graph


@given(graphs)
def test_neighbors_are_the_rows_of_the_adjacency(graph):
    for name, row in zip(NAMES, graph.adjacency(), strict=True):
        assert graph.neighbors(name) == tuple(other for other, joined in zip(NAMES, row, strict=True) if joined)


@given(graphs, graphs, graphs)
def test_hamming_is_a_metric_and_the_sum_of_both_errors(a, b, c):
    assert a.hamming(b) == np.abs(a.adjacency().astype(int) - b.adjacency()).sum() // 2
    assert a.hamming(b) == a.false_positives(b) + a.false_negatives(b)
    assert a.false_positives(b) == b.false_negatives(a)
    assert a.hamming(b) == b.hamming(a)
    assert (a.hamming(b) == 0) == (a == b)
    assert a.hamming(c) <= a.hamming(b) + b.hamming(c)


@given(graphs, st.permutations(NAMES))
def test_order_of_nodes_does_not_count_for_distances(graph, order):
    turned = graph.reordered(order)
    assert turned.names == tuple(order)
    assert turned.hamming(graph) == 0
    assert turned.reordered(NAMES) == graph


def test_reordered_may_add_nodes():
    assert Graph("ab", [("a", "b")]).reordered("cab").neighbors("c") == ()


def test_different_nodes_have_no_distance():
    with pytest.raises(DataError, match="only one of them has c, d"):
        Graph("abc").hamming(Graph("abd"))


def test_matrix_of_weights():
    graph = Graph.from_adjacency([[9, 0, -0.5], [0, 9, 0], [2, 0, 0]])
    assert graph.names == ("X1", "X2", "X3")
    assert graph.edges == (("X1", "X3"),)


@pytest.mark.parametrize(
    ("matrix", "names", "message"),
    [
        ([[0, 1], [0, 0]], ["u", "v"], "not symmetric: it joins only one way between u and v"),
        ([[0, 1, 0]], None, r"square; this one has shape \(1, 3\)"),
        ([[0]], ["u", "v"], "2 names were given for 1 nodes"),
        ([[0, None], [None, 0]], None, r"missing values \(NaN\): write 0 where there is no edge"),
        ([[0, np.nan], [np.nan, 0]], None, r"missing values \(NaN\): write 0 where there is no edge"),
    ],
)
def test_bad_matrices(matrix, names, message):
    with pytest.raises(DataError, match=message):
        Graph.from_adjacency(matrix, names)


@pytest.mark.parametrize("matrix", [[["0", "1"], ["1", "0"]], [[0, 1j], [1j, 0]], {"a": [0]}])
def test_matrices_that_hold_no_numbers(matrix):
    with pytest.raises(DataTypeError, match="holds numbers or booleans; this one is of type"):
        Graph.from_adjacency(matrix)


def test_a_frame_brings_its_names():
    pandas = pytest.importorskip("pandas")
    matrix = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    for index in (["u", "v", "w"], None):
        graph = Graph.from_adjacency(pandas.DataFrame(matrix, index=index, columns=["u", "v", "w"]))
        assert graph == Graph("uvw", [("u", "v")])
    assert Graph.from_adjacency(pandas.DataFrame(matrix), "abc") == Graph("abc", [("a", "b")])
    with pytest.raises(DataError, match="must have the labels of its columns, in their order"):
        Graph.from_adjacency(pandas.DataFrame(matrix, index=["v", "u", "w"], columns=["u", "v", "w"]))


@pytest.mark.parametrize("labels", [["a", "b"], [0, 1], [1, 2]])
@pytest.mark.parametrize("dtype", ["Int64", object, bool])
def test_frames_of_any_numbers_are_adjacency_matrices(labels, dtype):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1], [1, 0]], columns=["a", "b"], index=labels).astype(dtype)
    assert Graph.from_adjacency(frame).edges == (("a", "b"),)


def test_only_graphs_have_distances():
    networkx = pytest.importorskip("networkx")
    for distance in (Graph.hamming, Graph.false_positives, Graph.false_negatives):
        with pytest.raises(DataTypeError, match=r"is no pyknnmi\.Graph: make one with Graph\(names, edges\)"):
            distance(Graph("ab"), networkx.Graph())


def test_unknown_node():
    with pytest.raises(UnknownNameError, match=r"no node 'x' \(the nodes are a, b\)"):
        Graph("ab").neighbors("x")


def test_pickle():
    graph = Graph("abc", [("a", "b")])
    assert pickle.loads(pickle.dumps(graph)) == graph


@given(graphs)
def test_the_same_graph_elsewhere(graph):
    theirs, igraphs = graph.to_networkx(), graph.to_igraph()
    assert tuple(theirs.nodes) == tuple(igraphs.vs["name"]) == graph.names
    assert Graph(theirs.nodes, theirs.edges) == graph
    assert Graph(igraphs.vs["name"], [(NAMES[edge.source], NAMES[edge.target]) for edge in igraphs.es]) == graph
    assert not theirs.is_directed()
    assert not igraphs.is_directed()
    assert Graph.from_adjacency(graph.to_numpy(), graph.names) == graph
