import numpy as np
import pytest
from pyknnmi_kernel.ridge import RidgeResiduals


def centred(shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return values - values.mean(axis=0)


@pytest.mark.parametrize("between", [1, 2])
@pytest.mark.parametrize("count", [3, 20, 40, 60])
def test_against_dense_matrices(count, between):
    features, penalty, n = centred((40, count)), 0.5, 40
    dense = penalty * np.linalg.inv(features @ features.T + penalty * np.eye(n))
    regression = RidgeResiduals(features, penalty, between)
    targets = centred((n, 4), seed=1)
    np.testing.assert_allclose(regression.of(targets), dense @ targets, atol=1e-12)
    inner = np.linalg.matrix_power(dense, between) - 1 / n
    diagonal = np.diag(dense @ dense) - 1 / n
    assert regression.inflation == pytest.approx((inner**2).sum() / (diagonal**2).sum(), rel=1e-6)


def test_inflation_is_the_mean_excess_of_the_statistic():
    """Over 4000 draws of independent noise."""
    n = 30
    regression = RidgeResiduals(centred((n, 10), seed=3), 0.1, between=2)
    first, second = (regression.of(centred((n, 4000), seed)) for seed in (4, 5))
    statistic = (first * second).sum(axis=0) ** 2
    estimate = (first**2 * second**2).sum(axis=0)
    error = statistic.std() / estimate.mean() / np.sqrt(4000)
    assert statistic.mean() / estimate.mean() == pytest.approx(regression.inflation, abs=4 * error)
    assert regression.inflation > 1.2


def test_nothing_explained_by_features_of_zero():
    targets = centred((10, 2))
    np.testing.assert_array_equal(RidgeResiduals(np.zeros((10, 1)), 0.1, between=1).of(targets), targets)
