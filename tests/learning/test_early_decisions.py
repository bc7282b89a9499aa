"""Which questions of a run end as soon as they are decided, and which make all permutations."""

from __future__ import annotations

import warnings
from contextlib import suppress

import numpy as np
import pytest

import pyknnmi
from pyknnmi import Dataset, ParameterError, Run, learn, simulate
from pyknnmi.builtin.knn_cmi import BoundKnnCMI, KnnCMI
from pyknnmi.components import Tester
from pyknnmi.learning.presets import PRESETS

DATA, _ = simulate.small_network(80, seed=3)
DECIDE = (
    *("iamb", "iamb(exhaustive=true)", "inter-iamb", "fast-iamb(max_conditioning=2)", "grow-shrink", "gsmn"),
    *("mmpc(max_conditioning=1)", "si-hiton-pc(max_conditioning=1)", "pc-stable(max_conditioning=1)"),
    "stability(runs=2)+iamb",
)
COMPARE = (
    *("iamb-fdr(fdr=0.5)", "pairwise", "fdr+iamb", "fdr+pairwise", "fdr+pc-stable(max_conditioning=1)"),
    "fdr+stability(runs=2)+iamb",
)


@pytest.fixture
def asked(monkeypatch):
    """The names of the methods by which the kNN test was asked."""
    names = []

    def note(name, method):
        monkeypatch.setattr(BoundKnnCMI, name, lambda *arguments: names.append(name) or method(*arguments))

    note("test", BoundKnnCMI.test)
    note("test_at", BoundKnnCMI.test_at)
    return names


def outcome(result):
    """Return all that was found."""
    return result.graph, result.blankets, result.evidence, result.oriented, result.counts


@pytest.mark.parametrize("learner", DECIDE)
def test_searches_that_only_decide_ask_for_no_more(asked, learner):
    result = learn(DATA, f"{learner}+knn-cmi(stop=auto)", threads=1)
    assert set(asked) == {"test_at"}
    assert outcome(result) == outcome(learn(DATA, f"{learner}+knn-cmi(stop=sequential)", threads=1))
    assert "test" in asked  # by the last one


@pytest.mark.parametrize("learner", COMPARE)
def test_searches_that_compare_p_values_ask_for_these(asked, learner):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".* permutations (none|a blanket)")  # that T is small
        with suppress(ParameterError):  # fdr finds no p-values of what stability keeps, when all is learned
            learn(DATA, f"{learner}+knn-cmi(stop=auto)", threads=1)
    assert set(asked) == {"test"}


@pytest.mark.parametrize("learner", [*DECIDE, *(learner for learner in COMPARE if "stability" not in learner)])
def test_all_permutations_where_they_are_named(asked, learner):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".* permutations (none|a blanket)")
        result = learn(DATA, f"{learner}+knn-cmi(stop=never)", threads=1)
    assert set(asked) == {"test"}
    assert all(pair.answer.permutations in (0, 200) for pair in result.evidence)
    assert result.counts["permutations"] % 200 == 0


def test_orientation_asks_for_decisions(asked):
    for learner in ("iamb", "pc-stable"):
        assert learn(DATA, f"{learner}+knn-cmi(stop=auto)", orient=True, threads=1).oriented is not None
    assert set(asked) == {"test_at"}


def test_the_rule_combined_searches_by_decisions_and_combines_p_values():
    """Its p-values are those of single questions, and there is no warning."""
    result = learn(DATA, "iamb(rule=combined)+knn-cmi(stop=auto)", seed=2, threads=1)
    assert not result.warnings
    sides = [side for pair in result.edge_evidence() for side in pair.sides]
    assert sides
    for side in sides:
        assert side.answer == pyknnmi.ci_test(DATA, side.target, side.other, side.given, seed=2)


def test_fdr_keeps_edges_by_p_values_of_all_permutations():
    """Where nothing is left out they are the edges of the search, each with the p-value of a single question."""
    result = learn(DATA, "fdr(level=0.9)+iamb(rule=or)+knn-cmi(stop=auto)", seed=2)
    assert not result.warnings
    assert result.graph.edges
    for pair in result.edge_evidence():
        assert pair.answer == pyknnmi.ci_test(DATA, pair.source, pair.target, pair.given, seed=2)


def test_single_questions_make_all_permutations():
    answer = pyknnmi.ci_test(DATA, "X5", "X6", test="knn-cmi(screen=none,stop=auto)")
    assert (answer.permutations, answer.p_value_bounds, answer.anytime_p_value) == (200, None, None)
    assert answer == pyknnmi.ci_test(DATA, "X5", "X6", test="knn-cmi(screen=none,stop=never)")
    assert pyknnmi.bind(DATA, "knn-cmi(screen=none,stop=auto)").test("X5", "X6") == answer


def test_the_preset_paper_makes_all_permutations():
    """So its results are those of before: each pair's evidence is a single question's answer."""
    result = learn(DATA, "paper", seed=4)
    assert "stop=never" in PRESETS["paper"].spec
    for pair in result.evidence:
        answer = pyknnmi.ci_test(DATA, pair.source, pair.target, pair.given, "knn-cmi(stop=never)", seed=4)
        assert answer == pair.answer


@pytest.mark.parametrize("spec", ["iamb+knn-cmi(stop=auto)", "iamb(adjust=candidates)+knn-cmi(stop=auto,alpha=0.3)"])
@pytest.mark.parametrize("resources", [{"threads": 2}, {"jobs": 2}])
def test_decisions_do_not_depend_on_what_the_store_holds(tmp_path, asked, spec, resources):
    """A store that was filled by searches for p-values has full answers to the same questions: they are not taken."""
    expected = outcome(learn(DATA, spec, threads=1))
    store = tmp_path / "answers.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learn(DATA, f"fdr+{spec}", store=store)
        whole = outcome(learn(DATA, f"fdr+{spec}", threads=1))
    assert outcome(learn(DATA, spec, store=store, **resources)) == expected
    asked.clear()
    assert outcome(learn(DATA, spec, store=store)) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert outcome(learn(DATA, f"fdr+{spec}", store=store)) == whole
    assert not asked  # all is in the store


def test_a_decision_has_no_level_of_its_own():
    result = learn(DATA, "iamb+knn-cmi(stop=auto)")
    early = [pair.answer for pair in result.evidence if pair.answer.says_alpha_only]
    assert early
    assert all(answer.level is None and answer.permutations < 200 for answer in early)


def test_a_decision_where_values_are_missing_is_that_of_the_complete_rows():
    values = np.random.default_rng(1).standard_normal((90, 3))
    values[:10, 0] = np.nan
    run = Run(threads=1)
    tester = Tester(KnnCMI(screen=None, stop="auto"), Dataset.of(values, missing="drop-per-test"), run)
    assert tester.independent(0, 1, (2,)) is tester.answers[0, 1, (2,), 0.05].independent
    complete = KnnCMI(screen=None, stop="sequential").bind(Dataset.of(values[10:]), run)
    assert tester.answers[0, 1, (2,), 0.05] == complete.test(0, 1, (2,))
