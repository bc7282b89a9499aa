from __future__ import annotations

import sys

import numpy as np
import pytest
from inputs import ALL, EXACT, hard_data
from pyknnmi_gaussian import (
    ConvergenceError,
    graphical_lasso,
    graphical_lasso_path,
    orthant_newton,
    pearson_correlation,
    penalty_path,
    precision_graphs,
    skeptic_correlation,
)
from scipy.sparse.csgraph import connected_components

# The name in the package is the function of the same name.
graphical_lasso_module = sys.modules["pyknnmi_gaussian.graphical_lasso"]


@pytest.mark.parametrize("penalize_diagonal", [True, False])
@pytest.mark.parametrize("correlation", [0.5, -0.5, 0.15, 0.0])
def test_two_variables(correlation, penalize_diagonal):
    # The covariance of the solution is S with the penalty taken from the off-diagonal entry,
    # towards zero, and added to the diagonal if it is penalised.
    penalty = 0.2
    precision = graphical_lasso([[1, correlation], [correlation, 1]], penalty, penalize_diagonal=penalize_diagonal)
    remaining = np.sign(correlation) * max(abs(correlation) - penalty, 0)
    variance = 1 + penalty * penalize_diagonal
    np.testing.assert_allclose(precision, np.linalg.inv([[variance, remaining], [remaining, variance]]), atol=1e-9)


def test_diagonal_covariance():
    precision = graphical_lasso(np.diag([0.5, 1, 4]), 0.25)
    np.testing.assert_allclose(precision, np.diag([1 / 0.75, 1 / 1.25, 1 / 4.25]), rtol=1e-14)


def test_chain_of_three():
    # Where the solution is a chain, 0-1-2, its covariance has W01 and W12 shrunk by the penalty and
    # W02 = W01 W12 / W11 (Markov property), provided that this is within the penalty of S02.
    covariance = np.array([[1, 0.6, 0.2], [0.6, 1, 0.5], [0.2, 0.5, 1]])
    through = 0.5 * 0.4 / 1.1
    assert abs(through - 0.2) < 0.1
    shrunk = [[1.1, 0.5, through], [0.5, 1.1, 0.4], [through, 0.4, 1.1]]
    precision = graphical_lasso(covariance, 0.1)
    np.testing.assert_allclose(np.linalg.inv(precision), shrunk, atol=1e-8)
    assert precision[0, 2] == precision[2, 0] == 0


@pytest.mark.parametrize("penalize_diagonal", [True, False])
@pytest.mark.parametrize(
    ("kind", "n", "p"),
    [
        ("independent", 200, 10),
        ("independent", 15, 25),
        ("random walk", 500, 10),
        ("random walk", 12, 16),
        ("common factor", 500, 10),
        ("common factor", 12, 16),
        ("repeated columns", 500, 10),
        ("repeated columns", 12, 16),
    ],
)
def test_optimality(optimality_violation, kind, n, p, penalize_diagonal):
    covariance = pearson_correlation(hard_data(kind, n, p))
    penalties = penalty_path(covariance)
    path = graphical_lasso_path(covariance, penalties, penalize_diagonal=penalize_diagonal)
    for penalty, precision in zip(penalties, path, strict=True):
        assert (precision == precision.T).all()
        assert np.linalg.eigvalsh(precision)[0] > 0
        assert optimality_violation(covariance, penalty, precision, penalize_diagonal) < 1e-8


def test_one_penalty_equals_its_place_in_a_path():
    covariance = pearson_correlation(hard_data("random walk", 60, 8))
    penalties = penalty_path(covariance)
    path = graphical_lasso_path(covariance, penalties)
    for position in (3, 12, 19):
        np.testing.assert_allclose(graphical_lasso(covariance, penalties[position]), path[position], atol=1e-6)


def test_covariances_of_any_scale(optimality_violation):
    data = hard_data("random walk", 60, 8) * 1000
    covariance = np.cov(data, rowvar=False)
    penalties = penalty_path(covariance)
    for penalty, precision in zip(penalties, graphical_lasso_path(covariance, penalties, tolerance=1e-2), strict=True):
        assert optimality_violation(covariance, penalty, precision) < 1e-2


def test_order_of_variables_does_not_matter():
    covariance = pearson_correlation(hard_data("independent", 40, 9))
    order = np.random.default_rng(6).permutation(9)
    penalties = penalty_path(covariance, count=5)
    path = graphical_lasso_path(covariance, penalties)
    permuted = graphical_lasso_path(covariance[np.ix_(order, order)], penalties)
    np.testing.assert_allclose(permuted, path[:, order][:, :, order], atol=1e-7)


def test_separate_components_are_solved_alone():
    covariance = np.zeros((7, 7))
    first, second = [0, 2, 5], [1, 3, 4, 6]
    rng = np.random.default_rng(7)
    for block in (first, second):
        covariance[np.ix_(block, block)] = pearson_correlation(rng.normal(size=(9, len(block))))
    together = graphical_lasso(covariance, 0.05)
    for block in (first, second):
        np.testing.assert_allclose(
            together[np.ix_(block, block)],
            graphical_lasso(covariance[np.ix_(block, block)], 0.05),
            atol=1e-8,
        )
    assert (together[np.ix_(first, second)] == 0).all()


def test_components_equal_scipy():
    rng = np.random.default_rng(8)
    for _ in range(300):
        p = int(rng.integers(2, 30))
        adjacency = np.triu(rng.random((p, p)) < rng.random() * 3 / p, k=1)
        adjacency |= adjacency.T
        count, labels = connected_components(adjacency, directed=False)
        members = [np.flatnonzero(labels == label).tolist() for label in range(count)]
        found = [component.tolist() for component in graphical_lasso_module._components(adjacency)]
        assert sorted(found) == sorted(component for component in members if len(component) > 1)


def test_components_of_a_long_chain():
    order = np.random.default_rng(9).permutation(300)
    chain = np.eye(300, k=1, dtype=bool)[np.ix_(order, order)]
    assert [len(c) for c in graphical_lasso_module._components(chain | chain.T)] == [300]


@pytest.mark.parametrize("name", EXACT)
def test_edges_equal_the_exact_solutions(reference, edge_list, name):
    # R's glasso at threshold 1e-10.
    exact = reference.json("huge_glasso_vs_exact.json")[name]["exact_edges"]
    covariance = pearson_correlation(reference.normal_scores(name))
    graphs = precision_graphs(graphical_lasso_path(covariance, penalty_path(covariance)))
    for graph, wanted in zip(graphs, exact, strict=True):
        assert edge_list(graph) == [[int(i) for i in edge.split("-")] for edge in wanted]


@pytest.mark.parametrize("name", ALL)
def test_precision_equals_glasso(reference, name):
    # R's glasso at threshold 1e-10, with and without a penalty on the diagonal.
    huge = reference.huge(name)
    covariance = pearson_correlation(reference.normal_scores(name))
    for key, penalize_diagonal in (("glasso_pkg", True), ("glasso_pkg_nodiag", False)):
        for wanted in huge[key]:
            precision = graphical_lasso(covariance, wanted["rho"], penalize_diagonal=penalize_diagonal)
            np.testing.assert_allclose(precision, wanted["wi"], atol=1e-7)


@pytest.mark.parametrize("name", EXACT)
def test_distance_to_huge_is_that_of_the_exact_solution(reference, name):
    # huge stops early; by how much its matrices miss the exact ones is on record.
    huge = reference.huge(name)["npn"]["glasso"]
    record = reference.json("huge_glasso_vs_exact.json")[name]["penalize_diagonal"]
    covariance = pearson_correlation(reference.normal_scores(name))
    path = graphical_lasso_path(covariance, huge["lambda"])
    for position, theirs, missed in zip(
        huge["icov_index1based"],
        huge["icov"],
        record["max_abs_icov_diff_at_5_10_15_20"],
        strict=True,
    ):
        distance = np.abs(path[position - 1] - np.array(theirs)).max()
        assert distance == pytest.approx(missed, abs=1e-7)


@pytest.mark.parametrize("transform", ["npn", "raw"])
@pytest.mark.parametrize("name", ALL)
def test_numbers_of_edges_equal_huge(reference, name, transform):
    data = reference.raw(name) if transform == "raw" else reference.normal_scores(name)
    huge = reference.huge(name)[transform]["glasso"]
    graphs = precision_graphs(graphical_lasso_path(pearson_correlation(data), huge["lambda"]))
    assert (graphs.sum(axis=(1, 2)) // 2).tolist() == huge["df"]


def test_graphs_have_no_loops():
    graphs = precision_graphs(np.ones((2, 3, 3)))
    assert graphs.sum() == 12
    assert not graphs.diagonal(axis1=1, axis2=2).any()


def test_skeptic_correlation_goes_in(optimality_violation):
    covariance = skeptic_correlation(hard_data("independent", 100, 6))
    precision = graphical_lasso(covariance, 0.1)
    assert optimality_violation(covariance, 0.1, precision) < 1e-8


@pytest.mark.parametrize(
    ("covariance", "penalties", "message"),
    [
        ([[1, 0.5]], [0.1], "shape"),
        ([[1, 0.5], [0.4, 1]], [0.1], "not symmetric"),
        ([[1, 2], [2, 1]], [0.1], "not positive semidefinite"),
        ([[1, np.nan], [np.nan, 1]], [0.1], "missing"),
        ([[0, 0], [0, 1]], [0.1], "column 0 has variance 0"),
        ([[1, 0.5], [0.5, 1]], [0.1, 0.2], "strictly decreasing"),
        ([[1, 0.5], [0.5, 1]], [0.1, 0.0], "positive"),
        ([[1, 0.5], [0.5, 1]], [], "at least one"),
    ],
)
def test_unusable_arguments(covariance, penalties, message):
    with pytest.raises(ValueError, match=message):
        graphical_lasso_path(covariance, penalties)


def test_unreachable_tolerance_is_an_error(monkeypatch):
    monkeypatch.setattr(orthant_newton, "MAX_ITERATIONS", 1)
    with pytest.raises(ConvergenceError, match=r"did not converge at penalty 0\.1: use larger"):
        graphical_lasso([[1, 0.5], [0.5, 1]], 0.1, tolerance=0.0)
