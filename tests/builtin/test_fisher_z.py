from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from pyknnmi import ci_test, learn, simulate
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.components import ParameterError, PyknnmiWarning, Run

DATA, _ = simulate.small_network(200, linear=True, seed=3)


def bound(data=DATA, **parameters):
    return FisherZ(**parameters).bind(data, Run())


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.5])
def test_range_of_alpha(alpha):
    with pytest.raises(ParameterError, match=r"alpha = .* must be between 0 and 1"):
        FisherZ(alpha=alpha)


def test_formula():
    r = np.corrcoef(DATA.values[:, 0], DATA.values[:, 1])[0, 1]
    answer = bound().test(0, 1, ())
    assert answer.statistic == pytest.approx(math.sqrt(200 - 3) * abs(math.atanh(r)), rel=1e-12)
    assert answer.p_value == pytest.approx(2 * stats.norm.sf(answer.statistic), rel=1e-10)
    assert answer.log_p_value == pytest.approx(math.log(answer.p_value), rel=1e-12)
    assert (answer.decided_by, answer.n, answer.permutations) == ("normal", 200, 0)


def test_symmetric():
    forward, backward = bound().test(0, 1, (2, 3)), bound().test(1, 0, (2, 3))
    assert forward.statistic == pytest.approx(backward.statistic, rel=1e-12)


def test_decision_is_strict():
    p = bound().test(0, 3, ()).p_value
    assert bound(alpha=p).test(0, 3, ()).independent
    assert not bound(alpha=float(np.nextafter(p, 1))).test(0, 3, ()).independent


def test_associations_rank_as_the_statistics_do():
    candidates = (1, 2, 3, 4, 6)
    scores = bound().associations(5, candidates, (0,))
    statistics = [bound().test(5, y, (0,)).statistic for y in candidates]
    assert np.argsort(scores).tolist() == np.argsort(statistics).tolist()


def test_strong_candidates_do_not_tie():
    # both p-values are far below the smallest double
    x = np.random.default_rng(0).standard_normal(5000)
    e = np.random.default_rng(1).standard_normal((5000, 2))
    data = np.column_stack([x, x + 2e-6 * e[:, 0], x + 1e-6 * e[:, 1]])
    answers = [ci_test(data, 0, y, test="fisher-z") for y in (1, 2)]
    assert answers[0].p_value == answers[1].p_value == np.finfo(float).tiny
    assert answers[0].log_p_value > answers[1].log_p_value
    assert learn(data, "iamb+fisher-z").graph.edges


def test_too_few_rows():
    values = np.random.default_rng(0).standard_normal((6, 5))
    with pytest.warns(PyknnmiWarning, match="fisher-z: 6 rows are too few to condition on 3 columns; such questions"):
        answer = ci_test(values, 0, 1, [2, 3, 4], "fisher-z")
    assert (answer.p_value, answer.independent, answer.decided_by) == (1.0, True, "too few rows")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ci_test(values, 0, 1, [2, 3], "fisher-z").decided_by == "normal"


def test_level_under_independence():
    # Fisher's approximation at n = 30; 2000 pairs, binomial
    pairs = np.random.default_rng(12).standard_normal((2000, 30, 2))
    found = sum(not ci_test(pair, 0, 1, test="fisher-z").independent for pair in pairs)
    assert abs(found - 100) < 4 * math.sqrt(2000 * 0.05 * 0.95)


@pytest.mark.parametrize("correlation", ["spearman", "kendall"])
def test_rank_correlations_see_no_monotone_map(correlation):
    test = f"fisher-z(correlation={correlation})"
    bent = np.exp(DATA.values)
    bent[:, 3] **= 3
    for given in ([], [2]):
        assert ci_test(bent, 0, 1, given, test).p_value == ci_test(DATA, 0, 1, given, test).p_value
