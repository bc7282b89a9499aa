from __future__ import annotations

import numpy as np
import pytest
from inputs import ALL
from pyknnmi_gaussian import (
    ebic_scores,
    graphical_lasso_path,
    log_likelihood,
    neighbourhood_ebic_scores,
    neighbourhood_path,
    pearson_correlation,
    penalty_path,
    precision_graphs,
)
from scipy.stats import multivariate_normal


@pytest.fixture
def correlation():
    data = np.random.default_rng(1).normal(size=(200, 5))
    data[:, 1] += data[:, 0]
    return pearson_correlation(data)


def test_log_likelihood_is_the_gaussian_one():
    # Twice the mean log-density of rows whose covariance is S, without -p log(2 pi).
    data = np.random.default_rng(1).normal(size=(30, 3))
    data -= data.mean(axis=0)
    covariance = data.T @ data / 30
    precision = np.array([[1.5, 0.4, 0.1], [0.4, 1.2, -0.3], [0.1, -0.3, 0.9]])
    density = multivariate_normal(cov=np.linalg.inv(precision)).logpdf(data).mean()
    assert log_likelihood(covariance, [precision])[0] == pytest.approx(2 * density + 3 * np.log(2 * np.pi))


def test_isolated_variables_keep_their_variance():
    # Precision 1 / S_ii each: -sum log S_ii - p.
    covariance = np.diag([1.0, 2.0, 4.0])
    shrunk = np.diag([0.5, 0.3, 0.2])
    assert log_likelihood(covariance, [shrunk])[0] == pytest.approx(-np.log(8) - 3)
    assert log_likelihood(covariance, [shrunk], shrink_isolated=True)[0] == pytest.approx(
        np.log(0.03) - (0.5 + 0.6 + 0.8)
    )


def test_scores_are_the_formula():
    scores = ebic_scores([-4.0, -3.5], [0, 3], n=100, p=4, gamma=0.25)
    np.testing.assert_allclose(scores, [400, 350 + 3 * (np.log(100) + np.log(4))])


@pytest.mark.parametrize("transform", ["npn", "raw"])
@pytest.mark.parametrize("name", ALL)
def test_glasso_equals_huge(reference, name, transform):
    # huge stops early: its log-likelihoods are off by up to 6e-5, its scores by n = 500 times that.
    huge = reference.huge(name)[transform]["glasso"]
    data = reference.raw(name) if transform == "raw" else reference.normal_scores(name)
    correlation = pearson_correlation(data)
    path = graphical_lasso_path(correlation, huge["lambda"])
    likelihoods = log_likelihood(correlation, path)
    np.testing.assert_allclose(likelihoods, huge["loglik"], atol=1e-4)
    edges = precision_graphs(path).sum(axis=(1, 2)) // 2
    for key, gamma in (("ebic05", 0.5), ("ebic00", 0.0)):
        scores = ebic_scores(likelihoods, edges, n=500, p=data.shape[1], gamma=gamma)
        np.testing.assert_allclose(scores, huge[key]["score"], atol=0.05)
        assert np.argmin(scores) + 1 == huge[key]["opt_index1based"]


def test_neighbourhood_scores_are_the_sum_of_regressions(correlation):
    penalties = penalty_path(correlation, count=4)
    path = neighbourhood_path(correlation, penalties)
    expected = np.zeros(4)
    for i, coefficients in enumerate(path):
        for j in range(5):
            b = coefficients[:, j]
            chosen = b != 0
            residual = 1 - correlation[j, chosen] @ np.linalg.solve(
                correlation[np.ix_(chosen, chosen)], correlation[chosen, j]
            )
            expected[i] += 200 * np.log(residual)
            expected[i] += (b != 0).sum() * (np.log(200) + 2 * 0.5 * np.log(4))
    np.testing.assert_allclose(neighbourhood_ebic_scores(correlation, path, n=200), expected)


def test_neighbourhood_scores_find_the_one_edge(correlation):
    path = neighbourhood_path(correlation, penalty_path(correlation))
    best = path[np.argmin(neighbourhood_ebic_scores(correlation, path, n=200))]
    assert np.argwhere(best).tolist() == [[0, 1], [1, 0]]


def test_gamma_out_of_range(correlation):
    with pytest.raises(ValueError, match="gamma is 2"):
        ebic_scores([-1.0], [0], n=10, p=3, gamma=2)
    with pytest.raises(ValueError, match="gamma is -1"):
        neighbourhood_ebic_scores(correlation, np.zeros((1, 5, 5)), n=10, gamma=-1)


def test_linear_function_of_others():
    correlation = np.array([[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="column 0 is a linear function"):
        neighbourhood_ebic_scores(correlation, [[[0, 1], [1, 0]]], n=10)
