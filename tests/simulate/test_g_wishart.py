from __future__ import annotations

import numpy as np
import pytest
import reference

from pyknnmi import Graph, ParameterError
from pyknnmi.simulate import g_wishart, g_wishart_mixture

CASES = [f"{graph}_b{b}" for graph in ("cycle4", "tri_chain_iso6", "cycle5_pendant6", "complete4") for b in (3, 5)]


def rate_matrix(p, off_diagonal):
    return np.full((p, p), off_diagonal) + (1 - off_diagonal) * np.eye(p)


@pytest.mark.parametrize("case", CASES)
def test_agrees_with_bdgraph(case):
    # 20,000 draws of BDgraph::rgwish, with Monte Carlo errors
    theirs = reference.load("rgwish_reference.json")[case]
    p = theirs["p"]
    names = [str(i) for i in range(1, p + 1)]
    graph = Graph(names, [(str(i), str(j)) for i, j in theirs["edges_1based"]])
    size = 10_000
    drawn = g_wishart(graph, size, b=theirs["b"], rate=rate_matrix(p, theirs["D_off"]), seed=3)

    free = (graph.adjacency() + np.eye(p)) > 0
    assert (drawn[:, ~free] == 0).all()

    errors = np.hypot(theirs["mc_se_mean"], drawn.std(axis=0) / np.sqrt(size))
    differences = drawn.mean(axis=0) - theirs["mean"]
    assert np.abs(differences[free] / errors[free]).max() < 4

    log_determinants = np.linalg.slogdet(drawn)[1]
    error = theirs["logdet_sd"] * np.sqrt(1 / size + 1 / theirs["draws"])
    assert abs(log_determinants.mean() - theirs["logdet_mean"]) < 4 * error
    assert log_determinants.std() == pytest.approx(theirs["logdet_sd"], rel=0.05)

    partial = -drawn[:, 0, 1] / np.sqrt(drawn[:, 0, 0] * drawn[:, 1, 1])
    error = theirs["parcor12_sd"] * np.sqrt(1 / size + 1 / theirs["draws"])
    assert abs(partial.mean() - theirs["parcor12_mean"]) < 4 * error
    assert partial.std() == pytest.approx(theirs["parcor12_sd"], rel=0.05)

    diagonal = np.diagonal(drawn, axis1=1, axis2=2)
    np.testing.assert_allclose(
        np.quantile(diagonal, theirs["quantile_probs"], axis=0).T, theirs["quantiles_diag"], rtol=0.1
    )


@pytest.mark.parametrize("b", [3, 6.5])
def test_mean_for_a_decomposable_graph(b):
    # The mean is the sum over cliques C, minus that over separators, of (b + |C| - 1) inv(D_C), padded with zeros.
    graph = Graph("abcde", [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])
    rate = rate_matrix(5, 0.3)
    mean = np.zeros((5, 5))
    for sign, clique in ((1, [0, 1, 2]), (1, [2, 3]), (-1, [2]), (1, [4])):
        block = np.ix_(clique, clique)
        mean[block] += sign * (b + len(clique) - 1) * np.linalg.inv(rate[block])
    size = 20_000
    drawn = g_wishart(graph, size, b=b, rate=rate, seed=1)
    errors = drawn.std(axis=0) / np.sqrt(size)
    free = mean != 0
    assert np.abs((drawn.mean(axis=0) - mean)[free] / errors[free]).max() < 4
    assert (drawn[:, ~free] == 0).all()


def test_every_matrix_is_positive_definite_and_symmetric():
    graph = Graph("abcdef", [*zip("abcdef", "bcdefa", strict=True), ("a", "d")])
    drawn = g_wishart(graph, 500, seed=2)
    np.testing.assert_allclose(drawn, drawn.transpose(0, 2, 1), rtol=1e-6)
    assert np.linalg.eigvalsh(drawn).min() > 0


def test_mixture_without_edges_has_uncorrelated_columns_of_heavy_tails():
    # Without edges a column is normal with the precision chi-squared(b): Student's t with b degrees of freedom,
    # scaled. P(|t_5| > 2.5706) = 0.05.
    n = 20_000
    data, truth = g_wishart_mixture(n, 3, edge_probability=0.0, b=5.0, seed=3)
    assert truth.edges == ()
    share = (np.abs(data.values) * np.sqrt(5) > 2.5706).mean(axis=0)
    np.testing.assert_allclose(share, 0.05, atol=4 * np.sqrt(0.05 * 0.95 / n))
    correlation = np.corrcoef(data.values.T)
    np.testing.assert_allclose(correlation, np.eye(3), atol=0.05)


def test_mixture_of_the_paper():
    data, truth = g_wishart_mixture(500, 16, edge_probability=10 / 120, seed=1)
    assert data.values.shape == (500, 16)
    assert data.names == truth.names
    again, same_truth = g_wishart_mixture(500, 16, edge_probability=10 / 120, seed=1)
    assert (again.sha256, same_truth) == (data.sha256, truth)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 0}, "size = 0"),
        ({"size": 5, "b": 2}, "b = 2: give a number above 2"),
        ({"size": 5, "rate": np.eye(2)}, r"rate has shape \(2, 2\): the graph's 3 nodes need \(3, 3\)"),
        ({"size": 5, "rate": -np.eye(3)}, "rate is not positive definite"),
        ({"size": 5, "rate": np.ones((3, 3))}, "rate is not positive definite"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ParameterError, match=message):
        g_wishart(Graph("abc", [("a", "b")]), **arguments)
