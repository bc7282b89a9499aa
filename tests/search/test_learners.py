from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pytest

from pyknnmi import CIResult, Dataset, Pipeline, PluginError, PyknnmiWarning, ci_test, learn, simulate
from pyknnmi.components import BlanketLearner, BoundTest, CITest, LearnedGraph, Learner

NAMES = ("a", "b", "c", "d")
DATA = Dataset.of(np.random.default_rng(0).standard_normal((9, 4)), NAMES)


@dataclass(frozen=True, kw_only=True)
class Laid(BlanketLearner):
    """Blankets that were laid down, after testing every pair."""

    name: ClassVar[str] = "laid"

    rule: Literal["and", "or"] = "and"
    blankets: str = ""

    def blanket(self, target, candidates, tester):
        for other in candidates:
            tester.test(target, other)
        return [NAMES.index(name) for name in self.blankets.split("|")[target]]


@dataclass(frozen=True, kw_only=True)
class Table(CITest):
    """p-values that were laid down, by the names of x, y and z in one word."""

    name: ClassVar[str] = "table"

    p_values: ClassVar[dict[str, float]] = {}

    def bind(self, dataset, run):
        return BoundTable(dataset)


class BoundTable(BoundTest):
    def __init__(self, dataset):
        self.dataset = dataset

    def test(self, x, y, z):
        p = Table.p_values.get("".join(self.dataset.names[i] for i in (x, y, *z)), 0.5)
        return CIResult(statistic=1 - p, p_value=p, independent=p >= 0.05, n=self.dataset.n, decided_by="table")


def edges(rule, blankets, **p_values):
    Table.p_values = p_values
    result = Pipeline(Laid(rule=rule, blankets=blankets), Table()).learn(DATA)
    return ["".join(edge) for edge in result.graph.edges]


def test_and_wants_both_or_wants_either():
    # a holds b and c; b holds a; c holds nobody; d holds a
    assert edges("and", "bc|a||a") == ["ab"]
    assert edges("or", "bc|a||a") == ["ab", "ac", "ad"]
    assert edges("and", "bcd|acd|abd|abc") == edges("or", "bcd|acd|abd|abc")


def test_blankets_come_by_name():
    result = Pipeline(Laid(blankets="cb|a||a"), Table()).learn(DATA)
    assert result.blankets == {"a": ("b", "c"), "b": ("a",), "c": (), "d": ("a",)}


def test_a_blanket_holds_candidates_only():
    with pytest.raises(PluginError, match=r"laid: the blanket of 'a' is \(0,\): it may hold only the candidates"):
        Pipeline(Laid(blankets="a|||"), Table()).learn(DATA)


@dataclass(frozen=True, kw_only=True)
class Testing(BlanketLearner):
    """Tests what its parameters say: for each target, words of the other column and the conditioning set."""

    name: ClassVar[str] = "testing"

    rule: Literal["and", "or"] = "and"
    blankets: str = "|||"
    questions: str = "|||"

    def blanket(self, target, candidates, tester):
        for question in self.questions.split("|")[target].split():
            other, *given = (NAMES.index(name) for name in question)
            tester.test(target, other, given)
        return [NAMES.index(name) for name in self.blankets.split("|")[target]]


def evidence(learner, **p_values):
    Table.p_values = p_values
    result = Pipeline(learner, Table()).learn(DATA)
    return {row.source + row.target: ("".join(row.given), row.answer.p_value, row.edge) for row in result.evidence}


def test_evidence_of_an_edge_is_its_weakest_support():
    # a is tested with b given nothing, c, d; only supporting answers (p < 0.05) count
    learner = Testing(blankets="b|a||", questions="b bc bd|a|||")
    found = evidence(learner, ab=0.01, abc=0.04, abd=0.2)
    assert found["ab"] == ("c", 0.04, True)


def test_evidence_of_no_edge_is_the_strongest_exclusion():
    learner = Testing(blankets="|||", questions="b bc|a||")
    assert evidence(learner, ab=0.3, abc=0.8)["ab"] == ("c", 0.8, False)


def test_evidence_with_and_is_of_the_doubtful_side_with_or_of_the_sure_one():
    # a keeps b for 0.01; b keeps a for 0.01 and 0.03
    tested = {"blankets": "b|a||", "questions": "b|a ac||"}
    p_values = {"ab": 0.01, "abc": 0.03}
    assert evidence(Testing(rule="and", **tested), **p_values)["ab"] == ("c", 0.03, True)
    assert evidence(Testing(rule="or", **tested), **p_values)["ab"] == ("", 0.01, True)


def test_evidence_with_or_is_of_the_side_that_keeps_the_edge():
    # a keeps b; b drops a given c
    tested = {"blankets": "b|||", "questions": "b|a ac||"}
    p_values = {"ab": 0.01, "abc": 0.6}
    assert evidence(Testing(rule="or", **tested), **p_values)["ab"] == ("", 0.01, True)
    assert evidence(Testing(rule="and", **tested), **p_values)["ab"] == ("c", 0.6, False)


def test_pairs_that_were_not_tested_have_no_evidence():
    assert set(evidence(Testing(questions="b|||"))) == {"ab"}


@dataclass(frozen=True, kw_only=True)
class Whole(Learner):
    """A learner of the whole graph at once."""

    name: ClassVar[str] = "whole"

    def learn(self, dataset, tester, run):
        tester.test(0, 1)
        tester.test(0, 1, [2])
        tester.test(2, 3)
        return LearnedGraph([(1, 0)])


def test_a_learner_without_evidence_is_given_that_of_its_questions():
    found = evidence(Whole(), ab=0.01, abc=0.03, cd=0.7)
    assert found == {"ab": ("c", 0.03, True), "cd": ("", 0.7, False)}


def test_learners_see_varying_columns_in_natural_order():
    seen = []

    @dataclass(frozen=True, kw_only=True)
    class Look(Learner):
        """Looks."""

        name: ClassVar[str] = "look"

        def learn(self, dataset, tester, run):
            seen.append((dataset.names, tester.names))
            return LearnedGraph([(0, 1)])

    values = np.random.default_rng(1).standard_normal((9, 4))
    values[:, 1] = 7.0
    with pytest.warns(UserWarning, match="column c9 is constant"):
        result = Pipeline(Look(), Table()).learn(Dataset.of(values, ["c10", "c9", "c2", "a"]))
    assert seen == [(("a", "c2", "c10"),) * 2]
    assert result.graph.names == ("c10", "c9", "c2", "a")
    assert result.graph.edges == (("c2", "a"),)


def test_both_sides_of_a_pair_are_kept():
    data, _ = simulate.small_network(150, seed=2)
    result = learn(data, "iamb+fisher-z")
    for row in result.evidence:
        assert [side.target for side in row.sides] == [row.source, row.target]
        assert any(side.answer for side in row.sides)
        for side in row.sides:
            assert side.member is (side.other in result.blankets[side.target])
            assert side.answer in (None, ci_test(data, side.target, side.other, side.given, "fisher-z"))
        both = all(side.member for side in row.sides)
        assert row.edge is both
        assert row.outcome.startswith("lost by the AND rule") is (not both and any(side.member for side in row.sides))


def test_a_target_has_its_own_side_only():
    data, _ = simulate.small_network(150, seed=2)
    result = learn(data, "iamb+fisher-z", targets="X5")
    assert all([side.target for side in row.sides] == ["X5"] for row in result.evidence)
    assert {row.outcome for row in result.evidence if row.edge} == {"in the blanket of X5"}


def test_a_learner_of_pairs_has_no_sides():
    data, _ = simulate.small_network(150, seed=2)
    result = learn(data, "pairwise+fisher-z")
    assert not any(row.sides for row in result.evidence)
    assert {row.outcome for row in result.evidence} == {"joined", "not joined"}


def test_the_rule_combined_decides_each_pair_of_the_rule_or_once():
    data, _ = simulate.small_network(150, seed=2)
    either = learn(data, "iamb(rule=or)+fisher-z")
    result = learn(data, "iamb(rule=combined)+fisher-z")
    assert result.blankets == either.blankets
    assert set(result.graph.edges) < set(either.graph.edges)
    for row in result.evidence:
        if (row.source, row.target) in either.graph:
            first, second = (
                ci_test(data, a, b, set(either.blankets[a]) - {b}, "fisher-z")
                for a, b in ((row.source, row.target), (row.target, row.source))
            )
            assert [side.answer for side in row.sides] == [first, second]
            same = set(row.sides[0].given) == set(row.sides[1].given)
            p_value = first.p_value if same else min(1, np.e * np.sqrt(first.p_value * second.p_value))
            assert row.answer.p_value == pytest.approx(p_value)
            assert row.edge is (row.answer.p_value < 0.05)
        else:
            assert not row.edge


def test_the_rule_combined_keeps_constraints():
    data, _ = simulate.small_network(150, seed=2)
    result = learn(data, "iamb(rule=combined)+fisher-z", required=[("X1", "X7")], forbidden=[("X5", "X6")])
    assert ("X1", "X7") in result.graph
    assert ("X5", "X6") not in result.graph


def test_too_few_permutations_for_the_rule_combined_are_reported():
    data, _ = simulate.small_network(100, seed=2)
    with pytest.warns(PyknnmiWarning, match="give at least 109"):
        learn(data, "iamb(rule=combined)+knn-cmi(permutations=30)")


@pytest.mark.parametrize("test", ["fisher-z", pytest.param("knn-cmi", marks=pytest.mark.slow)])
def test_one_target_among_many_columns_takes_no_matrix(test):
    """Neither the search nor the audit before it makes a p x p array."""
    p = 2100
    values = np.random.default_rng(0).standard_normal((20, p))
    values[:, 1] = values[:, 0] + 0.1 * values[:, 1]
    tracemalloc.start()
    result = learn(values, f"iamb(adjust=candidates)+{test}", targets="X1", threads=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.graph.edges == (("X1", "X2"),)
    assert peak < p * p  # an eighth of a matrix of doubles
