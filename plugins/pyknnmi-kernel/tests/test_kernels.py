import numpy as np
import pytest
from pyknnmi_kernel.kernels import centred_features, median_distance, unit_variance


@pytest.mark.parametrize("columns", [1, 2, 6])
def test_features_are_a_root_of_the_centred_kernel_matrix(columns):
    points = np.random.default_rng(0).standard_normal((60, columns))
    differences = points[:, None] - points[None]
    kernel = np.exp(-(differences**2).sum(axis=2) / (2 * 0.7**2))
    centring = np.eye(60) - 1 / 60
    features = centred_features(points, 0.7)
    np.testing.assert_allclose(features @ features.T, centring @ kernel @ centring, atol=1e-12)


def test_one_column_needs_few_features():
    points = np.random.default_rng(0).standard_normal((400, 1))
    assert centred_features(points, 0.5).shape[1] < 50


def test_features_of_a_constant_are_zero():
    assert not centred_features(np.ones((10, 1)), 0.5).any()


def test_unit_variance_takes_ddof_1():
    values = np.random.default_rng(0).standard_normal((30, 2)) * [3, 100] + 5
    np.testing.assert_allclose(unit_variance(values).std(axis=0, ddof=1), 1)
    assert not unit_variance(np.ones((5, 1))).any()


def test_median_distance():
    assert median_distance(np.array([[0.0], [1], [3]]), most=9) == 2.0
    assert median_distance(np.array([[0.0], [0], [0], [5]]), most=9) == 5.0  # distances of zero do not count
    assert median_distance(np.zeros((4, 1)), most=9) == 1.0
    assert median_distance(np.arange(1000.0)[:, None], most=2) == 999.0  # the first row and the last
