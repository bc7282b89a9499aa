from __future__ import annotations

import pytest

from pyknnmi import CIResult


def result(p_value, permutations):
    return CIResult(
        statistic=0.0, p_value=p_value, independent=True, n=9, decided_by="permutations", permutations=permutations
    )


def test_the_monte_carlo_interval_is_wilsons():
    # 10 of 100; Wilson (1927) without continuity correction, as statsmodels.stats.proportion.proportion_confint(10,
    # 100, method="wilson") has it.
    low, high = result(11 / 101, 100).monte_carlo_interval
    assert low == pytest.approx(0.0552, abs=5e-5)
    assert high == pytest.approx(0.1744, abs=5e-5)


def test_the_interval_of_no_exceedance_starts_at_zero():
    low, high = result(1 / 201, 200).monte_carlo_interval
    assert low == 0
    assert high == pytest.approx(1.959964**2 / (200 + 1.959964**2))


def test_a_test_without_permutations_has_no_interval():
    assert result(0.2, 0).monte_carlo_interval is None
