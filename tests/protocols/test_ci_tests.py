from __future__ import annotations

from dataclasses import replace

import pytest

from pyknnmi import CIResult, PyknnmiWarning
from pyknnmi.components import warn_of_stopped


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


def test_a_p_value_that_is_a_bound_has_no_interval():
    bound = replace(result(2 / 201, 200), p_value_bounds=(1 / 201, 2 / 201))
    assert bound.monte_carlo_interval is None
    # all of 20 permutations reached the statistic, and so may the other 180
    stopped = replace(result(1.0, 20), p_value_bounds=(21 / 201, 1.0))
    assert stopped.monte_carlo_interval is not None


@pytest.mark.parametrize("level", [None, 0.01])
def test_what_helps_against_p_values_of_one_level(level):
    stopped = replace(result(1 / 51, 50), p_value_bounds=(1 / 201, 151 / 201), anytime_p_value=0.03, level=level)
    with pytest.warns(PyknnmiWarning, match="fdr: .* only whether p < alpha: take stop=never, or a resolution$"):
        warn_of_stopped("fdr", [result(0.5, 200), stopped], [])


def test_a_test_without_permutations_has_no_interval():
    assert result(0.2, 0).monte_carlo_interval is None
