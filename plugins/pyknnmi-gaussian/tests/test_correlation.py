from __future__ import annotations

import numpy as np
import pytest
from inputs import ALL
from pyknnmi_gaussian import (
    pearson_correlation,
    positive_semidefinite_correlation,
    skeptic_correlation,
    standardize,
)
from scipy.stats import kendalltau


@pytest.fixture
def data():
    return np.random.default_rng(1).normal(size=(60, 4))


def test_standardize(data):
    scaled = standardize(5 + 3 * data)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(scaled.std(axis=0, ddof=1), 1, rtol=1e-14)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**600])
def test_units_far_from_one_change_nothing(data, unit):
    assert (standardize(data * unit) == standardize(data)).all()


def test_pearson_equals_numpy(data):
    np.testing.assert_allclose(pearson_correlation(data), np.corrcoef(data, rowvar=False), atol=1e-15)


def test_pearson_is_symmetric_with_ones(data):
    correlation = pearson_correlation(data)
    assert (correlation == correlation.T).all()
    assert (correlation.diagonal() == 1).all()


@pytest.mark.parametrize("name", ALL)
def test_pearson_equals_r(reference, name):
    huge = reference.huge(name)
    np.testing.assert_allclose(pearson_correlation(reference.raw(name)), huge["cor_raw"], atol=1e-9)
    np.testing.assert_allclose(
        pearson_correlation(reference.normal_scores(name)), huge["cor_npn_shrinkage"], atol=1e-12
    )


@pytest.mark.parametrize("name", ALL)
def test_spearman_skeptic_equals_huge(reference, name):
    np.testing.assert_allclose(
        skeptic_correlation(reference.raw(name)), reference.huge(name)["npn_skeptic"], atol=1e-12
    )


def test_kendall_skeptic_is_the_sine_of_tau(data):
    correlation = skeptic_correlation(data, statistic="kendall")
    tau = kendalltau(data[:, 1], data[:, 3]).statistic
    assert correlation[1, 3] == correlation[3, 1] == pytest.approx(np.sin(np.pi / 2 * tau))


@pytest.mark.parametrize("statistic", ["spearman", "kendall"])
def test_skeptic_does_not_see_increasing_maps(data, statistic):
    mapped = np.column_stack([np.exp(data[:, 0]), data[:, 1] ** 3, data[:, 2], 5 * data[:, 3] - 1])
    np.testing.assert_array_equal(
        skeptic_correlation(mapped, statistic=statistic),
        skeptic_correlation(data, statistic=statistic),
    )


@pytest.mark.parametrize("statistic", ["spearman", "kendall"])
def test_skeptic_recovers_the_gaussian_correlation(statistic):
    # n = 4000: the standard error of a correlation of 0.6 is (1 - 0.36) / sqrt(n) = 0.010.
    normal = np.random.default_rng(2).multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=4000)
    assert skeptic_correlation(normal, statistic=statistic)[0, 1] == pytest.approx(0.6, abs=0.04)


def test_unknown_statistic(data):
    with pytest.raises(ValueError, match="choose 'spearman' or 'kendall'"):
        skeptic_correlation(data, statistic="pearson")


def test_positive_semidefinite_matrix_is_left_alone(data):
    correlation = pearson_correlation(data)
    assert positive_semidefinite_correlation(correlation) is correlation


def test_rank_deficient_matrix_is_left_alone():
    correlation = pearson_correlation(np.random.default_rng(3).normal(size=(5, 30)))
    assert positive_semidefinite_correlation(correlation) is correlation


def test_indefinite_matrix_is_repaired_aloud():
    # Eigenvalues 1.9, 1.9 and -0.8: no three variables can have these correlations.
    indefinite = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, -0.9], [0.9, -0.9, 1.0]])
    with pytest.warns(UserWarning, match=r"negative eigenvalue \(-0.8\)"):
        repaired = positive_semidefinite_correlation(indefinite)
    # The projection leaves 1.9 (v v' + w w'), which is 1.9 (I - u u') with u = (1, -1, -1) / sqrt 3;
    # its correlations are those of I - u u', 1/2 in absolute value.
    np.testing.assert_allclose(repaired, [[1, 0.5, 0.5], [0.5, 1, -0.5], [0.5, -0.5, 1]], atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:, 0], "rows by columns"),
        (lambda data: data * [1, 1, 0, 1], "column 2 is constant in these 60 rows"),
        (lambda data: np.where(np.arange(4) == 1, np.nan, data), "column 1 holds a value"),
    ],
)
@pytest.mark.parametrize("function", [pearson_correlation, skeptic_correlation, standardize])
def test_unusable_data(data, function, change, message):
    with pytest.raises(ValueError, match=message):
        function(change(data))
