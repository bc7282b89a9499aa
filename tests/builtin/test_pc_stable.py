"""PC-stable."""

from __future__ import annotations

from learner_checks import check_golden, check_max_conditioning, check_recovery, each_input, every_seed

from pyknnmi import learn, simulate
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.pc_stable import PCStable
from pyknnmi.components import Tester
from pyknnmi.run import Run
from pyknnmi.testing import check_learner


@every_seed
def test_finds_the_skeleton_with_a_perfect_test(seeds):
    check_recovery(PCStable(), seeds)


def test_keeps_the_contract():
    check_learner(PCStable())


def test_keeps_the_limit():
    check_max_conditioning(PCStable())


@each_input
def test_skeleton_equals_causal_learn(name):
    check_golden("golden_neighbors.json", name, "pc", "pc-stable+fisher-z")


def test_names_do_not_matter():
    # the order of the tests follows the names; the skeleton must not
    data, _ = simulate.small_network(200, noise="uniform", seed=3)
    for order in ([3, 1, 6, 0, 2, 5, 4], [6, 5, 4, 3, 2, 1, 0]):
        renamed = data.select(order)
        tester = Tester(FisherZ(), renamed, Run())
        edges = {frozenset((order[i], order[j])) for i, j in PCStable().learn(renamed, tester, Run()).edges}
        graph = learn(data, "pc-stable+fisher-z").graph
        assert edges == {frozenset((data.column(a), data.column(b))) for a, b in graph.edges}


def test_workers_change_nothing():
    data, _ = simulate.small_network(150, seed=2)
    one = learn(data, "pc-stable+fisher-z", orient=True)
    two = learn(data, "pc-stable+fisher-z", orient=True, jobs=2)
    assert (two.graph, two.evidence, two.oriented, two.counts) == (one.graph, one.evidence, one.oriented, one.counts)
