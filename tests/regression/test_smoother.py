import numpy as np
import pytest

from pyknnmi.numbers import standardized
from pyknnmi.regression import Smoother, smooth_scale

RIDGES = [1e-3, 1e-2, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]


def generator(seed=0):
    return np.random.default_rng(seed)


def gaussian(a, b, width):
    return np.exp(-((a[:, None, :] - b) ** 2).sum(axis=2) / (2 * width**2))


def kernels(a, b):
    """The kernels in the docstring of Smoother, one coordinate at a time."""
    d = a.shape[1]
    rough = sum(np.exp(-abs(a[:, [j]] - b[:, j])) for j in range(d)) / d
    if d == 1:
        return [*(gaussian(a, b, width) for width in (0.2, 0.4, 0.8, 1.6)), rough]
    each = {w: [gaussian(a[:, [j]], b[:, [j]], w) for j in range(d)] for w in (0.4, 0.8, 1.6)}
    return [
        *(gaussian(a, b, width * np.sqrt(d)) for width in (0.4, 0.8, 1.6)),
        *(sum(each[width]) / d for width in (0.4, 0.8, 1.6)),
        *(np.prod([(1 + k) / 2 for k in each[width]], axis=0) for width in (0.8, 1.6)),
        rough,
    ]


def cross_validation_errors(z, y, landmarks):
    """The error by generalized cross-validation of every kernel and ridge, from the matrix that smooths."""
    n, linear = len(z), np.column_stack([np.ones(len(z)), z])
    candidates = [(linear, np.zeros(linear.shape[1]))]
    for kernel in kernels(z, z[landmarks]):
        between = kernel[landmarks] + 1e-6 * len(landmarks) * np.eye(len(landmarks))
        features = np.hstack([linear, np.linalg.solve(np.linalg.cholesky(between), kernel.T).T])
        unpenalized = np.arange(features.shape[1]) < linear.shape[1]
        candidates += [(features, np.where(unpenalized, 0.0, ridge)) for ridge in RIDGES]
    for features, penalty in candidates:
        smoothing = features @ np.linalg.solve(features.T @ features + np.diag(penalty), features.T)
        residuals = y - smoothing @ y
        yield np.mean(residuals**2) / (1 - np.trace(smoothing) / n) ** 2


@pytest.mark.parametrize("d", [1, 2])
def test_the_choice_has_the_least_error_by_cross_validation(d):
    z = standardized(generator(1).standard_normal((24, d)))
    y = np.sin(2 * z[:, 0]) + 0.3 * generator(2).standard_normal(24)
    landmarks = np.sort(generator(3).choice(24, 8, replace=False))
    smoothed = Smoother(z, generator(3)).smooth(y)
    least = min(cross_validation_errors(z, y, landmarks))
    np.testing.assert_allclose((1 - smoothed.r_squared) * y.var(), least, rtol=1e-6)


def test_a_linear_combination_leaves_nothing():
    z = standardized(generator().standard_normal((100, 3)))
    smoothed = Smoother(z, generator()).smooth(z @ [1.0, -2.0, 3.0] + 5)
    np.testing.assert_allclose(smoothed.residuals, 0, atol=1e-12)


def test_residuals_are_uncorrelated_with_the_linear_part():
    z = standardized(generator().standard_normal((100, 2)))
    residuals = Smoother(z, generator()).smooth(np.exp(z[:, 0])).residuals
    np.testing.assert_allclose(np.column_stack([np.ones(100), z]).T @ residuals, 0, atol=1e-10)


@pytest.mark.parametrize(
    "effect",
    [
        lambda z: np.sin(2 * z[:, 0]),
        lambda z: np.tanh(1.5 * z).sum(axis=1),
        lambda z: z[:, 0] * z[:, 1],
        lambda z: np.sign(z[:, 0]),
    ],
)
def test_smooth_effects_are_found(effect):
    z = standardized(generator(1).standard_normal((300, 4)))
    y = effect(z)
    noise = 0.3 * y.std() * generator(2).standard_normal(300)
    smoothed = Smoother(z, generator()).smooth(y + noise)
    assert smoothed.r_squared > 0.8  # of the 1 / 1.09 that noise leaves
    assert smoothed.degrees_of_freedom > 5


def test_noise_is_left_alone():
    z = standardized(generator(1).standard_normal((300, 3)))
    smoothed = Smoother(z, generator()).smooth(generator(2).standard_normal(300))
    assert smoothed.r_squared < 0.05
    assert smoothed.degrees_of_freedom < 30


def test_repeated_columns_count_once():
    z = standardized(generator().standard_normal((50, 1)))
    assert Smoother(np.hstack([z, z, -z]), generator()).linear_columns == 2


def test_a_column_of_two_values_is_fitted_by_means():
    z = standardized(np.repeat([[0.0], [1.0]], [20, 30], axis=0))
    y = generator().standard_normal(50)
    residuals = Smoother(z, generator()).smooth(y).residuals
    means = np.repeat([y[:20].mean(), y[20:].mean()], [20, 30])
    np.testing.assert_allclose(residuals, y - means, atol=1e-12)


def test_few_rows_are_enough():
    z = standardized(generator().standard_normal((4, 1)))
    assert np.isfinite(Smoother(z, generator()).smooth(np.arange(4.0)).r_squared)


def test_the_scale_of_residuals_is_found():
    random = np.random.default_rng(0)
    z = standardized(random.standard_normal((400, 2)))
    scale = np.exp(z[:, 0])  # its logarithm is linear in z, so an exact model
    found = smooth_scale(scale * random.standard_normal(400), Smoother(z, random).smooth)
    assert np.std(np.log(found / scale)) < 0.15
