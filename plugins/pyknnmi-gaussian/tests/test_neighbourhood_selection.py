from __future__ import annotations

import numpy as np
import pytest
from inputs import ALL, EXACT, hard_data
from pyknnmi_gaussian import (
    ConvergenceError,
    automatic_penalty,
    neighbourhood_graphs,
    neighbourhood_path,
    neighbourhood_selection,
    pearson_correlation,
    penalty_path,
)
from scipy.stats import norm


@pytest.mark.parametrize("correlation", [0.5, -0.5, 0.2, 0.0])
def test_two_variables(correlation):
    # With one predictor the lasso is the correlation, moved towards zero by the penalty.
    coefficient = np.sign(correlation) * max(abs(correlation) - 0.25, 0)
    np.testing.assert_allclose(
        neighbourhood_path([[1, correlation], [correlation, 1]], [0.25])[0],
        [[0, coefficient], [coefficient, 0]],
        atol=1e-12,
    )


def test_uncorrelated_predictors():
    # Predictors 1 and 2 of variable 0 have correlation 0: each coefficient is as if alone.
    correlation = np.array([[1, 0.6, -0.3], [0.6, 1, 0], [-0.3, 0, 1]])
    np.testing.assert_allclose(neighbourhood_path(correlation, [0.1])[0, :, 0], [0, 0.5, -0.2], atol=1e-12)


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
        ("repeated columns", 20, 30),
    ],
)
def test_optimality(kind, n, p):
    # s - S b = l sign(b) where b is not zero, |s - S b| <= l elsewhere.
    correlation = pearson_correlation(hard_data(kind, n, p))
    penalties = penalty_path(correlation)
    for penalty, coefficients in zip(penalties, neighbourhood_path(correlation, penalties), strict=True):
        assert not coefficients.diagonal().any()
        gradient = correlation - correlation @ coefficients
        np.fill_diagonal(gradient, 0)
        missed = np.where(
            coefficients == 0,
            np.maximum(np.abs(gradient) - penalty, 0),
            np.abs(gradient - penalty * np.sign(coefficients)),
        )
        assert missed.max() < 1e-6


def test_both_solvers_agree():
    correlation = pearson_correlation(hard_data("random walk", 100, 8))
    penalties = penalty_path(correlation)
    path = neighbourhood_path(correlation, penalties)
    np.testing.assert_allclose(
        neighbourhood_selection._least_angle_regression(correlation[1:, 1:], correlation[1:, 0], penalties),
        path[:, 1:, 0],
        atol=1e-6,
    )


def test_rules():
    # 0 and 1 choose each other, 2 chooses 0 only.
    coefficients = np.array([[[0, 0.5, 0.1], [0.4, 0, 0], [0, 0, 0]]])
    assert neighbourhood_graphs(coefficients, "and")[0].tolist() == [
        [False, True, False],
        [True, False, False],
        [False, False, False],
    ]
    assert neighbourhood_graphs(coefficients, "or")[0].tolist() == [
        [False, True, True],
        [True, False, False],
        [True, False, False],
    ]


def test_unknown_rule():
    with pytest.raises(ValueError, match="choose 'and' or 'or'"):
        neighbourhood_graphs(np.zeros((1, 2, 2)), "xor")


@pytest.mark.parametrize("rule", ["and", "or"])
@pytest.mark.parametrize("name", EXACT)
def test_edges_equal_the_exact_solutions(reference, edge_list, name, rule):
    # Coordinate descent to 1e-12 by another program.
    exact = reference.json("huge_mb_vs_exact.json")[name]["exact_edges"][rule]
    correlation = pearson_correlation(reference.normal_scores(name))
    path = neighbourhood_path(correlation, penalty_path(correlation))
    graphs = neighbourhood_graphs(path, rule)
    assert [edge_list(graph) for graph in graphs] == exact


@pytest.mark.parametrize("name", EXACT)
def test_distance_to_huge_is_that_of_the_exact_solution(reference, name):
    # huge stops early; by how much its coefficients miss the exact ones is on record.
    huge = reference.huge(name)["npn"]["mb_or"]
    record = reference.json("huge_mb_vs_exact.json")[name]["max_abs_beta_diff"]
    path = neighbourhood_path(pearson_correlation(reference.normal_scores(name)), huge["lambda"])
    for position, theirs in zip(huge["beta_index1based"], huge["beta_col_is_response"], strict=True):
        distance = np.abs(path[position - 1] - np.array(theirs)).max()
        assert distance == pytest.approx(record[str(position)], abs=1e-6)


@pytest.mark.parametrize(("formula", "factor"), [("paper", 1), ("code", 2)])
def test_automatic_penalty_is_its_formula(formula, factor):
    expected = factor / np.sqrt(400) * norm.ppf(1 - 0.01 / (2 * 9**2))
    assert automatic_penalty(400, 9, alpha=0.01, formula=formula) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("transform", ["npn", "raw"])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("formula", "key"), [("code", "mb_auto_code"), ("paper", "mb_auto_paper_formula")])
def test_automatic_graph_equals_huge(reference, edge_list, name, transform, formula, key):
    huge = reference.huge(name)[transform][key]
    data = reference.raw(name) if transform == "raw" else reference.normal_scores(name)
    penalty = automatic_penalty(*data.shape, formula=formula)
    assert penalty == pytest.approx(huge["lambda"], rel=1e-9)
    path = neighbourhood_path(pearson_correlation(data), [penalty])
    assert edge_list(neighbourhood_graphs(path, "and")[0]) == huge["edges"]


def small_network(rng: np.random.RandomState, n: int, linear: bool, noise: str) -> np.ndarray:
    """Return one repetition of the data of Leppä-aho et al. (2018), section 5.1."""
    draw = {
        "gaussian": lambda: rng.normal(0, 1, (n, 1)),
        "uniform": lambda: rng.uniform(-1, 1, (n, 1)),
        "t": lambda: rng.standard_t(2, (n, 1)),
    }[noise]
    e1, e2, e3, e4, e5, e6, e7 = (draw() for _ in range(7))
    x1 = e1
    if linear:
        x2 = 0.2 * x1 + e2
        x3 = 0.5 * x2 + e3
        x4 = 0.25 * x3 + e4
        x5 = 0.35 * x2 + 0.55 * x3 + e5
        x6 = 0.65 * x5 + e6
        x7 = 0.9 * x3 + 0.25 * x5 + e7
    else:
        x2 = 2 * np.cos(x1) + e2
        x3 = 2 * np.sin(np.pi * x2) + e3
        x4 = 3 * np.cos(x3) + e4
        x5 = 0.75 * x2 * x3 + e5
        x6 = 2.5 * x5 + e6
        x7 = 3 * np.cos(0.2 * x3) + np.log(np.abs(x5)) + e7
    return np.hstack([x1, x2, x3, x4, x5, x6, x7])


@pytest.mark.parametrize("noise", ["gaussian", "t", "uniform"])
@pytest.mark.parametrize("shape", ["Linear", "Nonlinear"])
def test_automatic_graphs_equal_those_of_the_paper(reference, edge_list, shape, noise):
    # 25 repetitions of 5 sizes; the stored graphs were learned from nonparanormal scores.
    stored = reference.json("paper_graphs_small_networks.json")["graphs"][shape + noise]["mb_auto"]
    rng = np.random.RandomState(123456)
    for repetition in range(25):
        data = small_network(rng, 2000, shape == "Linear", noise)
        for n in (125, 250, 500, 1000, 2000):
            scores = reference.nonparanormal(data[:n])
            path = neighbourhood_path(pearson_correlation(scores), [automatic_penalty(n, 7, formula="code")])
            edges = edge_list(neighbourhood_graphs(path, "and")[0])
            assert " ".join(f"{i}-{j}" for i, j in edges) == stored[str(n)][repetition]


@pytest.mark.parametrize(
    ("n", "p", "arguments", "message"),
    [
        (1, 3, {}, "n is 1"),
        (9, 3, {"alpha": 0}, "alpha is 0"),
        (9, 3, {"formula": "book"}, "choose 'paper' or 'code'"),
    ],
)
def test_automatic_penalty_out_of_range(n, p, arguments, message):
    with pytest.raises(ValueError, match=message):
        automatic_penalty(n, p, **arguments)


def test_no_convergence_is_an_error(monkeypatch):
    monkeypatch.setattr(neighbourhood_selection, "_PASSES", 1)
    monkeypatch.setattr(neighbourhood_selection, "_PATIENT_PASSES", 1)
    correlation = pearson_correlation(hard_data("repeated columns", 20, 30))
    with pytest.raises(ConvergenceError, match="did not converge: use larger penalties"):
        neighbourhood_path(correlation, penalty_path(correlation))


def test_indefinite_correlation():
    with pytest.raises(ValueError, match="not positive semidefinite"):
        neighbourhood_path([[1, 2], [2, 1]], [0.1])
