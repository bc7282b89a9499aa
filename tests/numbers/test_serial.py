from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from pyknnmi.numbers.serial import block_length, lag_one_correlation, runs_test, variance_inflation


def autoregressive(coefficient, n, seed):
    steps = np.random.default_rng(seed).standard_normal(n)
    series = np.empty(n)
    series[0] = steps[0] / np.sqrt(1 - coefficient**2)  # its variance from the first row on
    for i in range(1, n):
        series[i] = coefficient * series[i - 1] + steps[i]
    return series


@pytest.mark.parametrize("coefficient", [-0.5, 0.0, 0.8])
def test_lag_one_correlation_of_a_series_with_a_known_one(coefficient):
    n = 40_000  # Bartlett: the standard deviation is sqrt((1 - coefficient^2) / n)
    found = lag_one_correlation(autoregressive(coefficient, n, 1))
    assert found == pytest.approx(coefficient, abs=4 * np.sqrt((1 - coefficient**2) / n))


def test_lag_one_correlation_of_a_constant():
    assert lag_one_correlation(np.ones(9)) == 0


def test_runs_test_by_hand():
    # 6 above and 6 below the median in 12 rows: 7 runs expected, variance 6 * 5 / 11; two of them seen
    values = [0] * 6 + [1] * 6
    assert runs_test(values) == pytest.approx(2 * NormalDist().cdf(-(7 - 2) / math.sqrt(30 / 11)))
    assert runs_test([0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1]) > 0.5  # 8 runs, which is near 7
    assert runs_test(np.zeros(5)) == 1


def test_runs_test_holds_its_level():
    random = np.random.default_rng(2)
    rejected = sum(runs_test(random.standard_normal(200)) < 0.05 for _ in range(400))
    assert 6 <= rejected <= 36  # 0.1 % and 99.9 % of the binomial with 400 and 0.05 are 8 and 35


def test_block_length_follows_from_the_product():
    n = 4000
    ones = [autoregressive(r, n, seed) for seed, r in enumerate((0.0, 0.5, 0.95))]
    others = [autoregressive(r, n, seed + 10) for seed, r in enumerate((0.0, 0.5, 0.95))]
    assert block_length(ones[0], others[2]) <= 5  # a series without memory needs no blocks
    assert 5 <= block_length(ones[1], others[1]) <= 7  # 3 / (1 - 0.5)
    assert 45 <= block_length(ones[2], others[2]) <= 75  # 3 / (1 - 0.95) = 60
    assert block_length(np.arange(100), np.arange(100)) == 20  # at most a fifth of the rows


@pytest.mark.parametrize("coefficient", [-0.6, 0.0, 0.6])
def test_variance_inflation_of_an_autoregressive_series(coefficient):
    # the squares of its autocorrelations sum to (1 + r^2) / (1 - r^2)
    found = np.mean([variance_inflation(autoregressive(coefficient, 2_000, seed)) for seed in range(100)])
    assert found == pytest.approx((1 + coefficient**2) / (1 - coefficient**2), rel=0.05)
