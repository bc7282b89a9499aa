"""Inter-IAMB."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from learner_checks import (
    check_code_of_2018,
    check_golden,
    check_max_conditioning,
    check_recovery,
    each_input,
    every_seed,
    placeholder,
)

from pyknnmi.builtin.inter_iamb import InterIAMB
from pyknnmi.components import BoundTest, CIResult, CITest, Run, Tester
from pyknnmi.testing import check_learner


@pytest.mark.parametrize("exhaustive", [False, True])
@every_seed
def test_finds_the_moral_graph_with_a_perfect_test(exhaustive, seeds):
    check_recovery(InterIAMB(exhaustive=exhaustive), seeds)


def test_keeps_the_contract():
    check_learner(InterIAMB())


def test_keeps_the_limit():
    check_max_conditioning(InterIAMB())


@each_input
def test_blankets_equal_bnlearn(name):
    check_golden("golden_bnlearn_mb.json", name, "inter.iamb", "inter-iamb+fisher-z")


@each_input
@pytest.mark.parametrize(
    ("mode", "spec"), [("DAG", "inter-iamb+fisher-z"), ("UG", "inter-iamb(exhaustive=true)+fisher-z")]
)
def test_blankets_equal_the_code_of_2018(name, mode, spec):
    check_code_of_2018(name, "interIAMB", mode, spec)


class BoundCircle(BoundTest):
    """Column 0 depends on 1, 2 and 3; but not on 1 given 2, not on 2 given 3, and not on 3 given 1."""

    def test(self, x, y, z):
        independent = (y, z) in {(1, (2,)), (2, (3,)), (3, (1,))}
        statistic = float(not independent)
        return CIResult(statistic=statistic, p_value=1 - statistic, independent=independent, n=5, decided_by="table")


@dataclass(frozen=True, kw_only=True)
class Circle(CITest):
    name: ClassVar[str] = "circle"

    def bind(self, dataset, run):
        return BoundCircle()


def test_ends_when_the_test_contradicts_itself():
    # 1 joins; 2 joins and 1 leaves; 3 joins and 2 leaves; 1 joins and 3 leaves: this is where it began
    tester = Tester(Circle(), placeholder("abcd"), Run())
    assert list(InterIAMB().blanket(0, (1, 2, 3), tester)) == [1]


def test_the_moral_graph_is_found_whatever_the_adjustment():
    check_recovery(InterIAMB(adjust="candidates"), range(20))
