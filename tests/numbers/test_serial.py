from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from pyknnmi.numbers.serial import (
    block_length,
    common_season,
    lag_one_correlation,
    less_season,
    runs_test,
    same_season,
    season_length,
    variance_inflation,
)


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


def test_blocks_are_as_long_as_the_memory_at_any_lag():
    steps = np.random.default_rng(4).standard_normal((2, 3_000))
    series = steps.copy()
    for i in range(12, 3_000):
        series[:, i] += 0.7 * series[:, i - 12]
    # products 0.49^j at lag 12 j: 2 * 12 * (0.49 / 0.51^2) / (0.12 * (1.49 / 0.51)) rows lose 12 % of them
    assert 90 <= block_length(*series) <= 170
    assert block_length(series[0], steps[1]) <= 5
    spread = np.exp(np.stack([autoregressive(0.97, 3_000, seed) for seed in (1, 2)]) / 3)
    assert block_length(*steps) <= 5
    assert block_length(*(steps * spread)) >= 15, "their squares have a memory, though they have none"


@pytest.mark.parametrize(("season", "n"), [(7, 200), (12, 240), (24, 300), (365, 3_650)])
def test_season_length_of_a_known_season(season, n):
    random = np.random.default_rng(season)
    time = np.arange(n)
    for course in (np.sin(2 * np.pi * time / season) * 2, 3.0 * (time % season < season // 3)):
        if season < 365:
            assert season_length(course + random.standard_normal(n)) == season
        assert season_length(course + 4 * time / n + 0.1 * random.standard_normal(n)) == season
    assert season_length(np.sin(2 * np.pi * time / 12.5) + 0.3 * random.standard_normal(n)) == 25


def test_season_length_of_series_without_one():
    noise = np.random.default_rng(5).standard_normal((40, 200))
    assert sum(season_length(row) > 1 for row in noise) <= 2
    assert [season_length(values) for values in (np.ones(50), np.arange(200), np.arange(10), [1, 2] * 5)] == [1] * 4


@pytest.mark.parametrize("kind", ["walks", "autoregressive", "means of 5 rows", "waves of 12 rows"])
def test_memory_is_seldom_taken_for_a_season(kind):
    steps = np.random.default_rng(6).standard_normal((60, 400))
    series = steps.cumsum(axis=1)
    if kind == "autoregressive":
        series = np.array([autoregressive(0.9, 400, seed) for seed in range(60)])
    elif kind == "means of 5 rows":
        series[:, 5:] -= series[:, :-5].copy()
    elif kind == "waves of 12 rows":
        series = steps
        for i in range(2, 400):
            series[:, i] += 1.6 * series[:, i - 1] - 0.86 * series[:, i - 2]
    found = sum(season_length(row[200:]) > 1 for row in series)
    assert found <= 7  # 98.6 % of the binomial with 60 and 0.05


@pytest.mark.parametrize("season", [4, 7, 12, 24])
def test_season_length_beside_noise_and_memory(season):
    wave = np.sin(2 * np.pi * np.arange(200) / season)
    noise = 0.7 * np.random.default_rng(season).standard_normal((20, 200))
    assert sum(season_length(wave + row) == season for row in noise) >= 19
    memory = [autoregressive(0.7, 200, seed) for seed in range(20)]
    assert sum(season_length(3 * wave + row) == season for row in memory) >= 16


@pytest.mark.parametrize(("season", "n"), [(365.25, 1_826), (30.44, 365), (12.0, 200)])
def test_series_with_one_season_have_it_in_common(season, n):
    wave = np.sin(2 * np.pi * np.arange(n) / season)
    for seed in range(4):
        x, y = wave + 0.7 * np.random.default_rng(seed).standard_normal((2, n))
        assert common_season(x, y) == common_season(y, x) == pytest.approx(season, rel=0.02)


def test_lengths_that_the_rows_tell_apart_are_no_common_season():
    x, y = (np.sin(2 * np.pi * np.arange(200) / season) for season in (7, 12))
    assert common_season(x, y) == common_season(x, np.arange(200)) == 1
    assert common_season(x, y, (4, 12)) == 12
    # one season more or less in n rows: n / 30 - n / 31 = 1 where n = 930
    assert [same_season(30, 31, n) for n in (929, 930)] == [same_season(62, 30, n) for n in (929, 930)] == [True, False]
    assert not same_season(1, 12, 100)


def test_less_season_by_hand():
    assert less_season([1, 5, 3, 9, 8], 2).tolist() == [-3, -2, -1, 2, 4]
    assert less_season([1, 5, 3], 1).tolist() == [1, 5, 3]


def test_block_length_with_a_season_is_a_multiple_of_it():
    time = np.arange(240)
    x, y = 3 * np.sin(2 * np.pi * time / 12) + np.random.default_rng(1).standard_normal((2, 240))
    assert block_length(x, y) >= 40, "the season is a memory without an end"
    assert block_length(x, y, 12) == 12, "without it there is none"
    assert block_length(np.arange(100), np.arange(100), 15) == 15  # the most that a fifth of the rows holds


def test_of_too_few_rows_nothing_is_said():
    assert (lag_one_correlation([1]), runs_test([]), runs_test([3, 3])) == (0, 1, 1)
    assert (variance_inflation([1, 2, 4]), season_length([1, 2] * 9)) == (1, 1)
    assert block_length([1, 2, 3], [3, 1, 2]) == 1  # at most a fifth of the rows, and one at least
