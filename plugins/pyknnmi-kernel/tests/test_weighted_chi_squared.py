import numpy as np
import pytest
from pyknnmi_kernel.weighted_chi_squared import TAILS, gamma_tail, hbe_tail, lpb_tail, normal_score, sw_tail
from scipy import stats


def tail_of_pairs(q, weights):
    """P(Q >= q) when each weight occurs twice: a sum of exponentials, whose tail is known in closed form."""
    total = 0.0
    for i, weight in enumerate(weights):
        others = np.delete(weights, i)
        total += np.exp(-q / (2 * weight)) * np.prod(weight / (weight - others))
    return total


SPREAD = [np.array([1.0, 2, 3, 4, 5]), np.array([1, 0.1, 0.01, 0.001]), np.array([5, 1, 0.5, 0.3, 0.2, 0.1, 0.05])]


@pytest.mark.parametrize("weights", SPREAD, ids=["even", "steep", "one-large"])
@pytest.mark.parametrize(
    ("times_mean", "lpb", "hbe", "sw"), [(1, 0.005, 0.02, 0.1), (2, 0.005, 0.04, 0.1), (4, 0.01, 0.2, 0.5)]
)
def test_tails_against_the_closed_form(weights, times_mean, lpb, hbe, sw):
    q = times_mean * 2 * weights.sum()
    exact = tail_of_pairs(q, weights)
    pairs = np.repeat(weights, 2)
    assert lpb_tail(q, pairs) == pytest.approx(exact, rel=lpb)
    assert hbe_tail(q, pairs) == pytest.approx(exact, rel=hbe)
    assert sw_tail(q, pairs) == pytest.approx(exact, rel=sw)


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
@pytest.mark.parametrize("count", [1, 2, 25])
def test_equal_weights_give_a_scaled_chi_squared(tail, count):
    q = 1.7 * count
    assert tail(q, np.full(count, 0.3)) == pytest.approx(stats.chi2.sf(q / 0.3, count), rel=1e-9)


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_nearly_equal_weights_are_no_trouble(tail):
    weights = 1 + 1e-6 * np.arange(6)
    assert tail(8.0, weights) == pytest.approx(stats.chi2.sf(8, 6), rel=1e-4)


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_a_sum_that_is_always_zero(tail):
    assert tail(0.0, np.zeros(3)) == 1.0


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_tails_are_probabilities_and_fall(tail):
    weights = np.random.default_rng(0).gamma(0.3, size=25)
    found = [tail(q, weights) for q in np.linspace(0, 20 * weights.sum(), 40)]
    assert found[0] == pytest.approx(1.0)
    assert all(0 <= p <= 1 for p in found)
    assert all(np.diff(found) <= 1e-12)


@pytest.mark.parametrize(("tail", "name"), [(hbe_tail, "hbe"), (sw_tail, "sw")])
@pytest.mark.filterwarnings("ignore")
def test_tails_against_momentchi2(tail, name):
    momentchi2 = pytest.importorskip("momentchi2")
    weights = np.random.default_rng(1).gamma(0.3, size=25)
    for q in np.array([0.5, 1, 3]) * weights.sum():
        assert tail(q, weights) == pytest.approx(1 - getattr(momentchi2, name)(list(weights), q), rel=1e-9)


def test_normal_score_ranks_as_the_gamma_tail():
    cases = [(q, mean, variance) for q in (1.0, 2, 5, 9) for mean in (1.0, 2) for variance in (0.5, 1.5)]
    by_score = sorted(cases, key=lambda case: -normal_score(*case))
    tails = [gamma_tail(*case) for case in by_score]
    assert all(np.diff(np.log(tails)) > -0.05)  # the transformation is an approximation


def test_normal_score_does_not_underflow():
    assert gamma_tail(1e5, 1.0, 1.0) == 0.0
    assert normal_score(1e5, 1.0, 1.0) < normal_score(1e6, 1.0, 1.0) < np.inf
