from __future__ import annotations

import numpy as np
import pytest
import reference

from pyknnmi import Graph, ParameterError
from pyknnmi.simulate import graph_correlation, random_gaussian, random_graph, random_nonparanormal


def test_precision_is_that_of_huge():
    # omega of R's huge.generator for this graph: the inverse of the correlation matrix
    truth = reference.true_graph("inputs/huge_random_d20_true_graph.csv")
    lines = reference.contents(reference.path("inputs/huge_random_d20_omega.csv")).decode().splitlines()
    omega = np.loadtxt(lines, delimiter=",", skiprows=1)
    np.testing.assert_allclose(np.linalg.inv(graph_correlation(truth)), omega, atol=1e-10)


def test_correlation_of_one_edge():
    # precision 0.3 [[d, 1], [1, d]] with 0.3 d = 0.3 + 0.2, so the correlation is -0.3 / 0.5
    correlation = graph_correlation(Graph("ab", [("a", "b")]))
    np.testing.assert_allclose(correlation, [[1, -0.6], [-0.6, 1]], rtol=1e-12)


def test_correlation_of_no_edge_is_the_identity():
    np.testing.assert_allclose(graph_correlation(Graph("abc")), np.eye(3), atol=1e-15)


def test_edges_are_as_many_as_expected():
    stream = np.random.RandomState(0)
    counts = [len(random_graph(20, seed=stream).edges) for _ in range(400)]
    pairs, probability = 190, 3 / 20
    error = np.sqrt(pairs * probability * (1 - probability) / len(counts))
    assert abs(np.mean(counts) - pairs * probability) < 4 * error


def test_edge_probability():
    assert random_graph(6, 0.0).edges == ()
    assert len(random_graph(6, 1.0).edges) == 15
    assert len(random_graph(3).edges) == 3  # 3/p


def test_gaussian_data_have_the_correlation_of_their_graph():
    n = 20_000
    data, truth = random_gaussian(n, 10, seed=4)
    # the large-sample error of a correlation is at most 1/sqrt(n)
    np.testing.assert_allclose(np.corrcoef(data.values.T), graph_correlation(truth), atol=5 / np.sqrt(n))
    np.testing.assert_allclose(data.values.std(axis=0), 1, atol=5 / np.sqrt(2 * n))
    assert data.names == truth.names


def test_nonparanormal_is_the_cube():
    gaussian, graph = random_gaussian(40, 5, edge_probability=0.5, seed=9)
    cubed, same_graph = random_nonparanormal(40, 5, edge_probability=0.5, seed=9)
    np.testing.assert_array_equal(cubed.values, gaussian.values**3)
    assert same_graph == graph


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "n = 1"),
        ({"n": 9, "p": 1}, "p = 1: give at least 2 columns"),
        ({"n": 9, "edge_probability": 1.5}, "edge_probability = 1.5: give a number from 0 to 1"),
    ],
)
def test_bad_arguments(arguments, message):
    for generate in (random_gaussian, random_nonparanormal):
        with pytest.raises(ParameterError, match=message):
            generate(**arguments)
