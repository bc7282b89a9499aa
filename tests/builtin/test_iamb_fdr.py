"""IAMB-FDR."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from learner_checks import check_golden, check_recovery, each_input, every_seed
from scipy.stats import false_discovery_control

from pyknnmi import learn
from pyknnmi.builtin.iamb_fdr import IAMBFDR
from pyknnmi.components import ParameterError, PyknnmiWarning
from pyknnmi.simulate import small_network
from pyknnmi.testing import check_learner


@every_seed
def test_finds_the_moral_graph_with_a_perfect_test(seeds):
    check_recovery(IAMBFDR(), seeds)


def test_keeps_the_contract():
    check_learner(IAMBFDR())


@each_input
def test_blankets_equal_bnlearn(name):
    check_golden("golden_neighbors.json", name, "iamb.fdr", "iamb-fdr+fisher-z")


def test_discoveries_are_those_of_benjamini_and_yekutieli():
    # SciPy adjusts step-up: the largest p-value that is a discovery makes all smaller ones discoveries
    random = np.random.default_rng(0)
    for _ in range(50):
        p_values = sorted(random.beta(0.2, 2, 12).tolist())
        found = IAMBFDR()._discoveries(p_values)
        last = max((i for i, discovery in enumerate(found) if discovery), default=-1)
        assert (false_discovery_control(p_values, method="by") <= 0.05).sum() == last + 1


def test_equal_p_values_stand_or_fall_together():
    # m = 3, h = 11/6: one p-value needs 0.05 / 5.5 = 0.0091, each of two equal ones 0.018
    learner = IAMBFDR()
    assert learner._discoveries([0.01, 0.4, 0.5]) == [False, False, False]
    assert learner._discoveries([0.01, 0.01, 0.5]) == [True, True, False]


def test_warns_of_too_few_permutations():
    # 6 candidates, h = 2.45: 0.05 / 14.7 = 1 / 294
    data, _ = small_network(60, seed=1)
    with pytest.warns(PyknnmiWarning, match="give at least 293"):
        learn(data, "iamb-fdr+knn-cmi(permutations=199)")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(data, "iamb-fdr+knn-cmi(permutations=293)")


def test_range_of_fdr():
    with pytest.raises(ParameterError, match=r"fdr = 1\.0 must be between 0 and 1"):
        IAMBFDR(fdr=1.0)
