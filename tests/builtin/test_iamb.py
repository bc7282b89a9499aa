"""IAMB."""

from __future__ import annotations

import numpy as np
import pytest
from learner_checks import (
    check_code_of_2018,
    check_golden,
    check_max_conditioning,
    check_recovery,
    each_input,
    every_seed,
)

from pyknnmi import learn
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.testing import check_learner


@pytest.mark.parametrize("rule", ["and", "or", "combined"])
@pytest.mark.parametrize("exhaustive", [False, True])
@every_seed
def test_finds_the_moral_graph_with_a_perfect_test(rule, exhaustive, seeds):
    check_recovery(IAMB(rule=rule, exhaustive=exhaustive), seeds)


def test_keeps_the_contract():
    check_learner(IAMB())


def test_keeps_the_limit():
    check_max_conditioning(IAMB())


@each_input
def test_blankets_equal_bnlearn(name):
    check_golden("golden_bnlearn_mb.json", name, "iamb", "iamb+fisher-z")


@each_input
@pytest.mark.parametrize(("mode", "spec"), [("DAG", "iamb+fisher-z"), ("UG", "iamb(exhaustive=true)+fisher-z")])
def test_blankets_equal_the_code_of_2018(name, mode, spec):
    check_code_of_2018(name, "IAMB", mode, spec)


def test_the_moral_graph_is_found_whatever_the_adjustment():
    check_recovery(IAMB(adjust="candidates"), range(40))


def test_adjusted_blankets_of_independent_columns_stay_empty():
    data = np.random.default_rng(0).standard_normal((200, 40))
    blankets = learn(data, "iamb(adjust=candidates)+fisher-z").blankets
    # A column gets a member with probability .05 at most; of 40 independent ones more than 8 do with probability .0001.
    assert sum(map(bool, blankets.values())) <= 8
    paper = learn(data, "iamb+fisher-z").blankets
    assert sum(map(bool, paper.values())) > 30  # the best of 39 has p < .05 with probability .86
