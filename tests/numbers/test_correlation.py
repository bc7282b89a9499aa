from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from pyknnmi import DataError, ParameterError
from pyknnmi.numbers import PartialCorrelations, correlation, correlation_matrix, fisher_z, standardized


@pytest.fixture
def values():
    mix = np.random.default_rng(2).standard_normal((5, 5))
    return np.random.default_rng(1).standard_normal((200, 5)) @ mix


def residual_correlation(values, x, y, z):
    """The definition: the correlation of what is left after regression on z."""
    design = np.column_stack([np.ones(len(values)), values[:, z]])
    left = values[:, [x, y]] - design @ np.linalg.lstsq(design, values[:, [x, y]], rcond=None)[0]
    return np.corrcoef(left.T)[0, 1]


@pytest.mark.parametrize("z", [[], [2], [2, 4], [4, 3, 2]])
def test_partial_correlation_is_that_of_the_residuals(values, z):
    found = PartialCorrelations.of(values).between(0, 1, z)
    assert found.r == pytest.approx(residual_correlation(values, 0, 1, z), abs=1e-12)
    assert (found.rank, found.redundant) == (len(z), ())


def test_among_is_between_for_each(values):
    partial = PartialCorrelations.of(values)
    each = [partial.between(0, y, [2]).r for y in (1, 3, 4)]
    assert partial.among(0, [1, 3, 4], [2]) == pytest.approx(each, abs=1e-14)


def test_redundant_columns_do_not_count(values):
    x, y, a, b, _ = values.T
    table = np.column_stack([x, y, a, b, a, 2 * a - 3 * b])
    partial = PartialCorrelations.of(table)
    expected = partial.between(0, 1, [2, 3])
    for extra in ([2, 3, 4], [2, 3, 5], [2, 3, 4, 5]):
        found = partial.between(0, 1, extra)
        assert found.r == pytest.approx(expected.r, abs=1e-9)
        assert (found.rank, found.redundant) == (2, tuple(extra[2:]))


def test_a_column_that_is_explained_goes_with_nothing(values):
    x, y, a, *_ = values.T
    table = np.column_stack([x, y, a, x + a])
    partial = PartialCorrelations.of(table)
    assert partial.between(0, 1, [2, 3]).r == 0.0
    assert partial.among(1, [0], [2, 3]).tolist() == [0.0]


def test_nearly_collinear_columns_still_count(values):
    x, y, *_ = values.T
    e = np.random.default_rng(5).standard_normal(200)
    table = np.column_stack([x, y, x + 1e-4 * e])
    # 1e-8 of the variance is left, with an error of about 1e-16 / 1e-8
    assert PartialCorrelations.of(table).between(0, 1, [2]).r == pytest.approx(
        residual_correlation(table, 0, 1, [2]), abs=1e-6
    )


@given(arrays(np.float64, (12, 3), elements=st.integers(-2, 2).map(float)), st.permutations([0, 1, 2]))
def test_correlations_stay_in_range(table, order):
    x, y, z = order
    found = PartialCorrelations.of(table).between(x, y, [z])
    assert -1.0 <= found.r <= 1.0


def test_against_scipy_ranks(values):
    cubed = values**3
    pearson = correlation_matrix(cubed)
    assert pearson == pytest.approx(np.corrcoef(cubed.T), abs=1e-12)
    rho = stats.spearmanr(cubed).statistic
    assert correlation_matrix(cubed, "spearman") == pytest.approx(2 * np.sin(np.pi / 6 * rho), abs=1e-12)
    tau = stats.kendalltau(cubed[:, 0], cubed[:, 1]).statistic
    assert correlation_matrix(cubed, "kendall")[0, 1] == pytest.approx(math.sin(math.pi / 2 * tau), abs=1e-12)
    # ranks see no monotone map
    assert np.array_equal(correlation_matrix(cubed, "spearman"), correlation_matrix(values, "spearman"))


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_a_constant_goes_with_nothing(values, kind):
    varying = [0, 2, 4]
    values[:, [1, 3]] = 7.0, 0.0
    found = correlation_matrix(values, kind)
    assert found[np.ix_(varying, varying)] == pytest.approx(correlation_matrix(values[:, varying], kind), abs=1e-14)
    found[np.ix_(varying, varying)] = np.eye(3)
    assert np.array_equal(found, np.eye(5))


def test_unknown_kinds(values):
    with pytest.raises(ParameterError, match="kind = 'spearmann' must be one of pearson, spearman, kendall"):
        correlation_matrix(values, "spearmann")


@pytest.mark.parametrize("z", [0.0, 1e-9, 0.5, 1.96, 8.0, 24.9, 25.1, 30.0, 36.9, 37.1, 40.0, 1e3])
def test_p_value_of_a_normal(z):
    n = 10**6
    found = fisher_z(math.tanh(z / 1000), n)
    statistic = 1000 * math.atanh(math.tanh(z / 1000))
    expected = math.log(2) + stats.norm.logsf(statistic)
    assert found.statistic == pytest.approx(statistic, rel=1e-12)
    assert found.log_p_value == pytest.approx(expected, rel=1e-13, abs=1e-15)
    if z < 37:
        assert found.p_value == pytest.approx(2 * stats.norm.sf(statistic), rel=1e-10)


def test_sign_and_bounds():
    assert fisher_z(-0.3, 50).statistic == -fisher_z(0.3, 50).statistic
    assert fisher_z(0.0, 50).p_value == 1.0
    for r in (-1.0, 1.0):
        found = fisher_z(r, 97)
        assert math.isfinite(found.statistic)
        assert found.p_value == np.finfo(float).tiny
        assert found.log_p_value < math.log(found.p_value)
    assert fisher_z(1.0, 97).statistic > fisher_z(1 - 1e-12, 97).statistic


def test_standardized():
    table = np.random.default_rng(3).standard_normal((50, 3)) * [1, 1e-200, 1e250] + [0, 1e-200, 0]
    found = standardized(table)
    assert found.mean(axis=0) == pytest.approx(0, abs=1e-14)
    assert found.std(axis=0) == pytest.approx(1, abs=1e-14)
    assert found[:, 0] == pytest.approx((table[:, 0] - table[:, 0].mean()) / table[:, 0].std(), abs=1e-14)


def test_standardized_constants_are_zero():
    table = np.column_stack([np.full(7, 0.1), np.zeros(7), np.full(7, 1e308)])
    assert not standardized(table).any()
    one_bit = np.column_stack([[1.0, np.nextafter(1, 2)] * 4])
    assert np.abs(standardized(one_bit)) == pytest.approx(np.ones((8, 1)))


def test_tables_of_any_kind_and_nothing_else(values):
    pandas = pytest.importorskip("pandas")
    for kind in ("pearson", "spearman", "kendall"):
        expected = correlation_matrix(values, kind)
        np.testing.assert_allclose(correlation_matrix(pandas.DataFrame(values), kind), expected, rtol=1e-12)
    np.testing.assert_array_equal(standardized(values.tolist()), standardized(values))
    for function in (standardized, correlation_matrix):
        with pytest.raises(DataError, match=r"shape \(200,\) and type float64: give a table of numbers \(n, p\)"):
            function(values[:, 0])
        with pytest.raises(DataError, match=r"shape \(1, 1\) and type <U1: give a table of numbers"):
            function([["a"]])


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_a_wide_table_has_the_same_correlations_with_any_number_of_blas_threads(kind):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    wide = np.random.default_rng(3).standard_normal((300, 2500))
    rows = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads, "blas"):
            rows.append(PartialCorrelations.of(wide, kind).among(2, range(3, 2500), [0, 1]))
    assert rows[0].tobytes() == rows[1].tobytes()


@pytest.mark.parametrize("kind", ["pearson", "spearman", "kendall"])
def test_of_a_wide_table_only_the_rows_that_are_needed_are_computed(values, kind, monkeypatch):
    values[:, 3] = 7.0  # a constant
    expected = PartialCorrelations.of(values, kind)
    monkeypatch.setattr(correlation, "_MATRIX", 4)
    monkeypatch.setattr(correlation, "_KEPT", 2 * 8 * 5)  # two rows
    monkeypatch.setattr(correlation, "correlation_matrix", None)
    wide = PartialCorrelations.of(values, kind)
    for found in (wide, pickle.loads(pickle.dumps(wide))):
        for x, candidates, z in [(0, [1, 2, 3, 4], []), (1, [3, 0], [4, 2]), (4, [0], [1, 2, 3])]:
            assert found.among(x, candidates, z) == pytest.approx(expected.among(x, candidates, z), abs=1e-13)
            assert found.between(x, candidates[0], z).redundant == expected.between(x, candidates[0], z).redundant
        with pytest.raises(ParameterError, match="whole numbers from 0 to 4"):
            found.between(0, 5, [])
