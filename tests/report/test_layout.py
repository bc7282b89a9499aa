from itertools import pairwise

import numpy as np
import pytest

from pyknnmi import Graph, simulate
from pyknnmi.report.layout import clustered_order, node_positions


@pytest.fixture(scope="module")
def graph():
    return simulate.large_network(50, seed=1)[1]


def distance(positions, a, b):
    return float(np.hypot(*np.subtract(positions[a], positions[b])))


def test_the_order_of_the_columns_moves_nothing(graph):
    turned = Graph(graph.names[::-1], [edge[::-1] for edge in graph.edges])
    assert node_positions(turned) == node_positions(graph)


def test_another_seed_draws_another_picture(graph):
    assert node_positions(graph, seed=1) != node_positions(graph, seed=0)


def test_a_path_is_drawn_to_scale():
    # a path fits into the plane without stress: every distance in the drawing is the number of edges between
    names = "abcde"
    positions = node_positions(Graph(names, pairwise(names)))
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            assert distance(positions, a, b) == pytest.approx(abs(i - j), abs=0.05)


def test_a_square_is_drawn_as_one():
    # by symmetry the four sides are alike, and so are the two diagonals
    positions = node_positions(Graph("abcd", ["ab", "bc", "cd", "da"]))
    sides = [distance(positions, *edge) for edge in ("ab", "bc", "cd", "da")]
    assert np.ptp(sides) < 0.01
    assert distance(positions, "a", "c") == pytest.approx(np.sqrt(2) * sides[0], rel=0.01)


def test_components_and_lone_nodes_lie_apart(graph):
    graph = Graph([*graph.names, "alone", "also alone"], graph.edges)
    positions = node_positions(graph)
    apart = [
        distance(positions, a, b)
        for i, a in enumerate(graph.names)
        for b in graph.names[:i]
        if a.startswith("al") or b.startswith("al")
    ]
    assert min(apart) > 0.9  # the gap is one edge's length


def test_no_two_nodes_lie_on_each_other(graph):
    points = np.array(list(node_positions(graph).values()))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + 9 * np.eye(len(points))
    assert apart.min() > 0.2


def strengths_of(graph):
    return graph.adjacency().astype(float)


def test_a_path_is_ordered_along_itself():
    names = ["c", "a", "e", "b", "d"]
    graph = Graph(names, ["ab", "bc", "cd", "de"])
    order = "".join(names[i] for i in clustered_order(graph, strengths_of(graph)))
    assert order in ("abcde", "edcba")


def test_components_stand_together_the_largest_first():
    graph = Graph("axbycz", ["ab", "bc", "xy"])
    order = "".join(graph.names[i] for i in clustered_order(graph, strengths_of(graph)))
    assert set(order[:3]) == set("abc")
    assert set(order[3:5]) == set("xy")
    assert order[5] == "z"


def test_the_order_of_the_columns_does_not_change_the_clusters(graph):
    turned = graph.reordered(graph.names[::-1])
    one = [graph.names[i] for i in clustered_order(graph, strengths_of(graph))]
    other = [turned.names[i] for i in clustered_order(turned, strengths_of(turned))]
    assert one == other
