"""mmpc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from learner_checks import (
    check_golden,
    check_max_conditioning,
    check_recovery,
    each_input,
    every_seed,
    learn_with_oracle,
    placeholder,
)

from pyknnmi.builtin.mmpc import MMPC
from pyknnmi.components import BoundTest, CIResult, CITest, PartiallyDirectedGraph, Run, Tester
from pyknnmi.testing import check_learner


@every_seed
def test_finds_the_skeleton_with_a_perfect_test(seeds):
    check_recovery(MMPC(), seeds, largest=9)


@pytest.mark.slow
def test_finds_larger_skeletons_with_a_perfect_test():
    check_recovery(MMPC(), range(200))


def test_keeps_the_contract():
    check_learner(MMPC())


def test_keeps_the_limit():
    check_max_conditioning(MMPC())


@each_input
def test_neighbors_equal_bnlearn(name):
    # there the neighbours of one column are found without the other's consent, as in our blankets
    check_golden("golden_neighbors.json", name, "mmpc", "mmpc+fisher-z")


def test_the_other_column_must_agree():
    # t and c are separated by a and b only, and b is independent of t, so it is no candidate there (Tsamardinos,
    # Brown and Aliferis 2006, section 4)
    graph = PartiallyDirectedGraph("tabc", [("t", "a"), ("b", "a"), ("b", "c"), ("a", "c")])
    both = learn_with_oracle(graph, MMPC())
    assert both.graph == graph.skeleton()
    assert "c" in both.blankets["t"]
    assert "t" not in both.blankets["c"]
    assert ("t", "c") in learn_with_oracle(graph, MMPC(rule="or")).graph


@dataclass(frozen=True, kw_only=True)
class Strengths(CITest):
    """Everything depends on column 0: 1, 2 and 3 by 0.9, 0.8 and 0.7, but 2 by 0.1 only when 1 is given."""

    name: ClassVar[str] = "strengths"

    def bind(self, dataset, run):
        return BoundStrengths()


class BoundStrengths(BoundTest):
    def test(self, x, y, z):
        statistic = 0.1 if y == 2 and 1 in z else 1 - y / 10
        return CIResult(statistic=statistic, p_value=0.01, independent=False, n=5, decided_by="table")


def test_the_weakest_association_ranks():
    tester = Tester(Strengths(), placeholder("abcd"), Run())
    assert list(MMPC().blanket(0, (1, 2, 3), tester)) == [1, 3, 2]
