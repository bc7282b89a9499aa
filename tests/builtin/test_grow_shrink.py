"""Grow-shrink."""

from __future__ import annotations

import pytest
import reference
from learner_checks import (
    check_code_of_2018,
    check_golden,
    check_max_conditioning,
    check_recovery,
    each_input,
    every_seed,
)

from pyknnmi.builtin._phases import shrink
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.grow_shrink import GrowShrink
from pyknnmi.components import Run, Tester
from pyknnmi.testing import check_learner

# bnlearn tries the candidates in the order of the columns and starts again after each that joins. That, and nothing
# else, makes a difference for two columns: see test_the_order_explains_the_difference.
OTHER_ORDER = {"huge_random_d20_n500.csv": {10, 13}}


@pytest.mark.parametrize("rule", ["and", "or"])
@every_seed
def test_finds_the_moral_graph_with_a_perfect_test(rule, seeds):
    check_recovery(GrowShrink(rule=rule), seeds)


def test_keeps_the_contract():
    check_learner(GrowShrink())


def test_keeps_the_limit():
    check_max_conditioning(GrowShrink())


@each_input
def test_blankets_equal_bnlearn(name):
    check_golden("golden_bnlearn_mb.json", name, "gs", "grow-shrink+fisher-z", OTHER_ORDER)


@pytest.mark.parametrize(("name", "columns"), OTHER_ORDER.items())
def test_the_order_explains_the_difference(name, columns):
    data = reference.table(f"inputs/{name}")
    expected = reference.load("golden_bnlearn_mb.json")[name]["gs"]
    tester = Tester(FisherZ(), data, Run())
    for target in columns:
        blanket: list[int] = []
        while joining := next(
            (
                other
                for other in range(data.p)
                if other not in (target, *blanket) and not tester.test(target, other, blanket).independent
            ),
            None,
        ):
            blanket.append(joining)
        assert shrink(target, blanket, tester) == sorted(expected[target])


@each_input
def test_blankets_equal_the_code_of_2018(name):
    # that code goes by the order of the columns too, which makes a difference for one column of the cubed data
    check_code_of_2018(name, "GS", "-", "grow-shrink+fisher-z", {"huge_random_d20_n500.csvcubed": {13}})


def test_the_moral_graph_is_found_whatever_the_adjustment():
    check_recovery(GrowShrink(adjust="candidates"), range(20))
