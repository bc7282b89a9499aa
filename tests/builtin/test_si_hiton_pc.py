"""si-hiton-pc."""

from __future__ import annotations

import pytest
from learner_checks import (
    check_golden,
    check_max_conditioning,
    check_recovery,
    each_input,
    every_seed,
    learn_with_oracle,
)

from pyknnmi.builtin.si_hiton_pc import SIHitonPC
from pyknnmi.components import PartiallyDirectedGraph
from pyknnmi.testing import check_learner


@every_seed
def test_finds_the_skeleton_with_a_perfect_test(seeds):
    check_recovery(SIHitonPC(), seeds, largest=9)


@pytest.mark.slow
def test_finds_larger_skeletons_with_a_perfect_test():
    check_recovery(SIHitonPC(), range(200))


def test_keeps_the_contract():
    check_learner(SIHitonPC())


def test_keeps_the_limit():
    check_max_conditioning(SIHitonPC())


@each_input
def test_neighbors_equal_bnlearn(name):
    # there the neighbours of one column are found without the other's consent, as in our blankets
    check_golden("golden_neighbors.json", name, "si.hiton.pc", "si-hiton-pc+fisher-z")


def test_the_other_column_must_agree():
    # t and c are separated by a and b only, and b is independent of t, so it is no candidate there (Tsamardinos,
    # Brown and Aliferis 2006, section 4)
    graph = PartiallyDirectedGraph("tabc", [("t", "a"), ("b", "a"), ("b", "c"), ("a", "c")])
    both = learn_with_oracle(graph, SIHitonPC())
    assert both.graph == graph.skeleton()
    assert "c" in both.blankets["t"]
    assert "t" not in both.blankets["c"]
    assert ("t", "c") in learn_with_oracle(graph, SIHitonPC(rule="or")).graph
