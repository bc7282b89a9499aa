"""GSMN."""

from __future__ import annotations

from graph_truths import random_graph
from learner_checks import check_max_conditioning, check_recovery, every_seed, learn_with_oracle

from pyknnmi.builtin.grow_shrink import GrowShrink
from pyknnmi.builtin.gsmn import GSMN
from pyknnmi.components import Graph
from pyknnmi.testing import check_learner


@every_seed
def test_finds_the_moral_graph_with_a_perfect_test(seeds):
    check_recovery(GSMN(), seeds)


def test_keeps_the_contract():
    check_learner(GSMN())


def test_keeps_the_limit():
    check_max_conditioning(GSMN())


def test_it_makes_fewer_tests_than_grow_shrink():
    # the point of the algorithm: what one search found out the others need not test
    graphs = [random_graph(seed) for seed in range(40)]
    tests = {
        learner: sum(learn_with_oracle(graph, learner).counts["tests"] for graph in graphs)
        for learner in (GSMN(), GrowShrink())
    }
    assert tests[GSMN()] < 0.6 * tests[GrowShrink()]


def test_no_pair_is_tested_in_two_searches():
    # a - b - c: a finds b, and c independent given b; b knows a and finds c given a; c knows b, and that a is none
    assert learn_with_oracle(Graph("abc", ["ab", "bc"]), GSMN()).counts["tests"] == 3
