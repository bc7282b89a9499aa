from __future__ import annotations

import numpy as np
import pytest

from pyknnmi.regression import jumps
from pyknnmi.regression.features import block_of, put_steps
from pyknnmi.regression.jumps import places_of_jumps
from pyknnmi.regression.priors import NUMBER_PRIORS, STEP_PRIORS, STEP_SIZES


def standardized(values):
    return (values - values.mean()) / values.std()


def evidence(features, deviations, y):
    """Of a Bayesian regression, relative to one on nothing, by matrices of the size of the table."""
    n = len(y)
    covariance = np.eye(n) + (features * deviations**2) @ features.T
    left = y @ np.linalg.solve(covariance, y)
    return -0.5 * np.linalg.slogdet(covariance)[1] - 0.5 * (n - 1) * np.log(left / (y @ y))


def quick_evidence(features, deviations, y):
    """The same, by matrices of the size of the features."""
    scaled = features * deviations
    gram = np.eye(scaled.shape[1]) + scaled.T @ scaled
    left = y @ y - y @ scaled @ np.linalg.solve(gram, scaled.T @ y)
    return -0.5 * np.linalg.slogdet(gram)[1] - 0.5 * (len(y) - 1) * np.log(left / (y @ y))


def places(x, *effects, looks=1):
    block = block_of(x)
    effects = np.array([standardized(y) for y in effects])
    without = [max(quick_evidence(block, d, y) for d in NUMBER_PRIORS) for y in effects]
    return places_of_jumps(x, block, effects, np.array(without), looks)


def test_evidence_of_a_step_at_each_place():
    rng = np.random.default_rng(0)
    x = np.sort(rng.standard_normal(40))
    features = np.column_stack([block_of(x), standardized((x > 1).astype(float))])
    deviations = np.append(NUMBER_PRIORS[6], 1.5)
    effects = np.array([standardized(np.sin(x) + rng.standard_normal(40)) for _ in range(2)])
    where = np.array([4, 11, 36])
    found = jumps._evidence(features, effects, deviations, where)
    for row, y in enumerate(effects):
        for column, place in enumerate(where):
            step = standardized((np.arange(40) >= place).astype(float))
            expected = max(
                evidence(np.column_stack([features, step]), np.append(deviations, np.sqrt(size)), y)
                for size in STEP_SIZES
            )
            assert found[row, column] == pytest.approx(expected, rel=1e-9)


def test_jumps_are_found_at_their_places():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(400)
    y = np.where(x < -0.5, 0.0, np.where(x < 0.8, 3.0, 1.0)) + 0.1 * rng.standard_normal(400)
    assert sorted(places(x, y)) == [x[x >= -0.5].min(), x[x >= 0.8].min()]


def test_effects_count_together():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(200)
    effects = [(x > 0.4) + 0.8 * rng.standard_normal(200) for _ in range(6)]
    assert all(len(places(x, y, looks=6)) == 0 for y in effects)
    assert len(places(x, *effects, looks=6)) == 1


def test_smooth_effects_and_noise_have_none():
    rng = np.random.default_rng(3)
    x = rng.standard_normal(400)
    noise = rng.standard_normal((4, 400))
    assert len(places(x, np.sin(2 * x) + 0.3 * noise[0], np.tanh(2 * x) + 0.3 * noise[1], *noise[2:], looks=12)) == 0


def test_of_rows_with_one_value_none_is_split():
    x = np.repeat(np.arange(4.0), 25)
    y = np.repeat([0.0, 5.0], 50) + 0.1 * np.random.default_rng(4).standard_normal(100)
    assert set(places(x, y)) <= {1.0, 2.0, 3.0}


def test_steps_take_the_last_places_of_a_block():
    x = np.arange(50.0)
    block, before = block_of(x), block_of(x)
    put_steps(block, x, np.array([20.0, 35.0]))
    assert np.array_equal(block[:, :14], before[:, :14])
    assert np.allclose(block[:, 15], standardized((x >= 20).astype(float)))
    assert np.allclose(block[:, 14], standardized((x >= 35).astype(float)))
    without = STEP_PRIORS[1][: len(NUMBER_PRIORS)]
    assert not without[:, 14:].any()
    assert np.array_equal(without[:, :14], NUMBER_PRIORS[:, :14])
