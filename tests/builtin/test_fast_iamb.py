"""Fast-IAMB."""

from __future__ import annotations

import pytest
from learner_checks import check_golden, check_max_conditioning, check_recovery, each_input, every_seed, placeholder

from pyknnmi.builtin.fast_iamb import FastIAMB
from pyknnmi.builtin.separation import Separation
from pyknnmi.components import Run, Tester
from pyknnmi.testing import check_learner


@pytest.mark.parametrize("rule", ["and", "or"])
@every_seed
def test_finds_the_moral_graph_with_a_perfect_test(rule, seeds):
    check_recovery(FastIAMB(rule=rule), seeds)


def test_keeps_the_contract():
    check_learner(FastIAMB())


def test_keeps_the_limit():
    check_max_conditioning(FastIAMB())


@each_input
def test_blankets_equal_bnlearn(name):
    check_golden("golden_bnlearn_mb.json", name, "fast.iamb", "fast-iamb+fisher-z")


def test_all_dependent_candidates_join_at_once():
    # in a - b - c - d all are dependent given nothing: one round of three tests, then shrinking given two
    tester = Tester(Separation(graph="a -- b; b -- c; c -- d"), placeholder("abcd"), Run())
    assert list(FastIAMB().blanket(0, (1, 2, 3), tester)) == [1]
    assert list(tester.trail)[:4] == [(0, 1, ()), (0, 2, ()), (0, 3, ()), (0, 1, (2, 3))]


def test_the_moral_graph_is_found_whatever_the_adjustment():
    check_recovery(FastIAMB(adjust="candidates"), range(20))
