from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from pyknnmi import DataError, Dataset
from pyknnmi.regression.features import blocks_of, normal_quantiles


def block(values, kind="continuous"):
    return blocks_of(Dataset(np.asarray(values, dtype=float)[:, None], ("x",), (kind,)))[0]


def test_the_first_feature_is_the_normal_scores():
    values = np.random.default_rng(0).integers(0, 40, 200)
    scores = norm.ppf(rankdata(values) / 201)
    assert np.allclose(block(values)[:, 0], (scores - scores.mean()) / scores.std(), atol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 50, 51])
def test_normal_quantiles_of_all_average_ranks(n):
    assert np.allclose(normal_quantiles(n), norm.ppf(np.arange(2, 2 * n + 1) / (2 * n + 2)), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_features_are_centred_and_of_variance_1(seed):
    features = block(np.random.default_rng(seed).standard_t(1, 300))
    assert np.abs(features.mean(axis=0)).max() < 1e-12
    assert np.abs((features**2).mean(axis=0) - 1).max() < 1e-12
    assert np.abs(features[:, 3:].T @ features[:, 0]).max() < 1e-9  # cosines are without their projection on u


def test_cosines_are_faster_in_the_tails_than_those_of_ranks():
    values = np.random.default_rng(2).standard_normal(301)
    place = norm.cdf(norm.ppf(rankdata(values) / 302) / 2)
    place = (place - place.min()) / (place.max() - place.min())
    cosines = np.cos(np.pi * np.outer(place, np.arange(2, 15)))
    normal = np.column_stack([np.ones(301), block(values)[:, 0]])
    cosines -= normal @ np.linalg.lstsq(normal, cosines, rcond=None)[0]
    assert np.allclose(block(values)[:, 3:], cosines / cosines.std(axis=0), atol=1e-9)


def test_features_without_spread_are_zero():
    # the square of two values is constant, and every function of them is linear in u
    features = block(np.arange(100) % 2)
    assert np.flatnonzero(np.abs(features).max(axis=0)).tolist() == [0, 1]


def test_a_column_of_mostly_one_value_has_finite_features():
    features = block([0.0] * 98 + [5.0, 1e9])
    assert np.isfinite(features).all()
    assert features[:, 0].std() == pytest.approx(1)


def test_features_do_not_overflow():
    assert np.isfinite(block(np.linspace(-1, 1, 50) * 1.7e308)).all()


def test_contrasts_of_categories_are_orthonormal():
    codes = np.random.default_rng(1).choice(5, 400, p=[0.4, 0.3, 0.2, 0.07, 0.03])
    features = block(codes, "discrete")
    used = np.flatnonzero(np.abs(features).max(axis=0))
    assert len(used) == 4
    assert np.allclose(features[:, used].T @ features[:, used] / 400, np.eye(4), atol=1e-12)
    # they span the indicators
    indicators = (codes[:, None] == np.arange(5)).astype(float)
    _, residual, *_ = np.linalg.lstsq(np.column_stack([np.ones(400), features[:, used]]), indicators, rcond=None)
    assert residual.max() < 1e-20


def test_contrasts_do_not_depend_on_codes():
    codes = np.arange(120) % 4
    assert np.array_equal(block(codes, "discrete"), block(np.array([7, 1, 9, 3])[codes], "discrete"))


def test_too_many_categories_are_refused():
    with pytest.raises(DataError, match="column 'x' has 18 categories, and at most 17 can be used"):
        block(np.arange(180) % 18, "discrete")
