from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaincc

from pyknnmi.regression.chi_squared import cauchy_combination, gamma_tail, weighted_tail


@pytest.mark.parametrize("shape", [0.01, 0.5, 1.0, 3.7, 40.0, 900.0])
def test_gamma_tail_against_scipy(shape):
    for x in (1e-6, 0.1, 1.0, shape, shape + 1, 2 * shape + 5, 10 * shape + 20):
        assert gamma_tail(shape, x) == pytest.approx(gammaincc(shape, x), rel=1e-9, abs=1e-14)


def test_gamma_tail_has_a_floor_instead_of_zero():
    assert gamma_tail(0.5, 5000.0) == pytest.approx(1e-300)
    assert gamma_tail(0.5, 0.0) == 1.0


@pytest.mark.parametrize("count", [1, 2, 9])
def test_equal_weights_give_the_chi_squared_distribution(count):
    # w times a chi-squared variable: exact
    w = 0.3
    traces = [count * w, count * w**2, count * w**3]
    for q in (0.01, 1.0, 7.0):
        assert weighted_tail(q, traces) == pytest.approx(stats.chi2.sf(q / w, count), rel=1e-9)


def test_different_weights_come_near_simulation():
    weights = np.array([1.0, 1 / 2, 1 / 3, 1 / 4])
    sums = np.random.default_rng(0).chisquare(1, (200_000, 4)) @ weights
    traces = [(weights**k).sum() for k in (1, 2, 3)]
    for q in (1.0, 3.0, 8.0):
        share = (sums >= q).mean()
        assert weighted_tail(q, traces) == pytest.approx(share, abs=0.02)  # that is how good the approximation is here


def test_no_products_say_nothing():
    assert weighted_tail(0.0, [0.0, 0.0, 0.0]) == 1.0


def test_cauchy_combination():
    assert cauchy_combination([(0.03, 2.0), (0.03, 5.0)]) == pytest.approx(0.03)
    # the definition (Liu and Xie 2020, section 2.1)
    p = [(0.2, 0.5), (0.01, 0.3), (0.9, 0.2)]
    mean = sum(w * math.tan((0.5 - q) * math.pi) for q, w in p)
    assert cauchy_combination(p) == pytest.approx(0.5 - math.atan(mean) / math.pi)
    # of tiny p-values the smallest over its share
    assert cauchy_combination([(1e-200, 0.25), (0.5, 0.75)]) == pytest.approx(4e-200)
