from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import ClassVar

import numpy as np
import pytest

import pyknnmi
from pyknnmi import DataError, ParameterError, PyknnmiWarning, SpecError, UnknownNameError, bind, ci_test
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.components import BoundTest, CITest
from pyknnmi.registry.from_function import component_from_function

DATA, _ = pyknnmi.simulate.small_network(120, seed=4)
QUESTIONS = [(x, y, given) for x in range(3) for y in range(3, 5) for given in ((), (5,), (6, 5))]
KNN = "knn-cmi(permutations=39)"


def same_p_value(x, y, z):
    return 0.25


@pytest.mark.parametrize("test", ["fisher-z", KNN])
def test_answers_are_those_of_single_questions(test):
    table = bind(DATA, test, seed=3)
    for x, y, given in QUESTIONS:
        assert table.test(x, y, given) == ci_test(DATA, x, y, given, test, seed=3)


@pytest.mark.parametrize(("learner", "test"), [("pairwise", KNN), ("iamb", "knn-cmi(permutations=39,stop=never)")])
def test_answers_are_those_that_learn_gets_where_it_compares_p_values(learner, test):
    result = pyknnmi.learn(DATA, f"{learner}+{test}", seed=3)
    table = bind(DATA, test, seed=3)
    assert [table.test(pair.source, pair.target, pair.given) for pair in result.evidence] == [
        pair.answer for pair in result.evidence
    ]


def test_columns_by_name_and_number():
    table = bind(DATA, "fisher-z")
    expected = table.test("X1", "X2", ["X3"])
    for question in [(0, 1, 2), (np.int64(0), "X2", np.array([2])), (1, 0, ("X3", 2)), ("X2", "X1", "X3")]:
        assert table.test(*question) == expected
    assert table.test(0, 1, None) == table.test(0, 1)


@pytest.mark.parametrize(
    ("question", "error", "problem"),
    [
        (("X1", "X8"), UnknownNameError, "there is no column 'X8'"),
        ((0, 7), UnknownNameError, "there is no column number 7"),
        ((True, 2), UnknownNameError, "there is no column number True"),
        (("X1", 0), DataError, "column 'X1' is in x and in y"),
        (("X1", "X2", ["X2"]), DataError, "column 'X2' is in the conditioning set too"),
        (("X1", []), DataError, "x and y need a column each"),
        ((["X1", "X2"], "X3"), ParameterError, "fisher-z takes one column as x and one as y: test them one by one"),
    ],
)
def test_questions_that_are_none(question, error, problem):
    with pytest.raises(error, match=problem):
        bind(DATA, "fisher-z").test(*question)


@pytest.mark.parametrize(
    ("put", "question"),
    [((0, 1), (False, 1)), ((0, 1), (0, 1.0)), ((0, 2, [1]), (0, 2, [True])), (("X1", 1), ("X1", True))],
)
def test_a_remembered_answer_belongs_to_no_other_kind_of_name(put, question):
    table = bind(DATA, "fisher-z")
    assert table.test(*put) is table.test(*put)
    with pytest.raises(UnknownNameError):
        table.test(*question)


@pytest.mark.parametrize("test", ["iamb", "iamb+fisher-z", "fisher-z+fisher-z"])
def test_a_text_that_names_no_test(test):
    with pytest.raises(SpecError, match="expected one CI test"):
        bind(DATA, test)


def test_a_test_may_be_given_as_an_object():
    assert bind(DATA, FisherZ(alpha=0.01)).component == pyknnmi.parse_test("fisher-z(alpha=0.01)")
    with pytest.raises(ParameterError, match=r"test = 3: give a text such as knn-cmi\(k=5\), or a CITest"):
        bind(DATA, 3)


def test_associations_rank_as_the_statistics_do():
    table = bind(DATA, KNN, seed=3)
    candidates = ["X1", 2, "X4", 5]
    statistics = [table.test("X2", y, "X5").statistic for y in candidates]
    assert table.associations("X2", candidates, "X5") == pytest.approx(statistics, abs=1e-12)


@pytest.mark.parametrize(
    ("question", "error", "problem"),
    [
        (("X1", []), DataError, "x and candidates need a column each"),
        (("X1", ["X2", "X1"]), DataError, "column 'X1' is in x and in candidates"),
        (("X1", ["X2"], ["X2"]), DataError, "column 'X2' is in the conditioning set too"),
        ((["X1", "X2"], ["X3"]), ParameterError, "give one column"),
        (("X1", ["X2", 1]), ParameterError, "give each column once"),
    ],
)
def test_associations_that_are_none(question, error, problem):
    with pytest.raises(error, match=problem):
        bind(DATA, "fisher-z").associations(*question)


def test_constant_columns():
    values = np.column_stack([DATA.values, np.ones(DATA.n)])
    with pytest.warns(PyknnmiWarning, match="column X8 is constant"):
        table = bind(values, "fisher-z")
    answer = table.test("X1", "X8")
    assert (answer.statistic, answer.p_value, answer.independent, answer.n) == (0.0, 1.0, True, DATA.n)
    assert table.test("X1", "X2", ["X8"]).redundant == ("X8",)
    assert table.test("X1", "X2", ["X8"]).p_value == table.test("X1", "X2").p_value
    assert table.associations("X1", ["X8", "X2"])[0] == -np.inf
    assert table.associations("X8", ["X1"]) == [-np.inf]


def test_a_table_of_constants():
    with pytest.warns(PyknnmiWarning, match="columns X1, X2 are constant"):
        assert bind(np.ones((5, 2)), "fisher-z").test(0, 1).independent


def test_missing_values_are_left_out_of_the_tests_that_they_concern():
    values = DATA.values.copy()
    values[:9, 0] = np.nan
    with pytest.raises(DataError, match="missing values"):
        bind(values, "fisher-z")
    assert bind(values, "fisher-z", missing="drop-per-test").test(1, 2).n == DATA.n
    assert bind(values, "fisher-z", missing="drop-per-test").test(0, 2).n == DATA.n - 9
    assert bind(values, "fisher-z", missing="drop").test(1, 2).n == DATA.n - 9


def test_groups_of_columns():
    pair = bind(DATA, KNN, seed=1).test(["X1", "X2"], ["X3", "X4"])
    assert pair == ci_test(DATA, ["X1", "X2"], ["X3", "X4"], test=KNN, seed=1)


class Counting(BoundTest):
    """Counts how often it works, and how many callers are inside at a time."""

    def __init__(self):
        self.calls = self.inside = self.most_inside = 0

    def test(self, x, y, z):
        self.inside += 1
        self.most_inside = max(self.inside, self.most_inside)
        threading.Event().wait(0.002)
        self.calls += 1
        self.inside -= 1
        return pyknnmi.CIResult(statistic=1.0, p_value=0.5, independent=True, n=9, decided_by="count")


class CountingSideBySide(Counting):
    def for_threads(self):
        return self


@dataclass(frozen=True, kw_only=True)
class CountingTest(CITest):
    """Counts."""

    name: ClassVar[str] = "counting"
    bound: ClassVar[Counting]

    def bind(self, dataset, run):
        return self.bound


@pytest.mark.parametrize(
    ("bound", "threads", "side_by_side"),
    [(Counting, 1, False), (CountingSideBySide, 1, True), (CountingSideBySide, 2, False)],
)
def test_threads_compute_each_question_once(bound, threads, side_by_side, monkeypatch):
    monkeypatch.setattr(CountingTest, "bound", bound(), raising=False)
    table = bind(DATA, CountingTest(), threads=threads)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda question: table.test(*question), QUESTIONS * 3))
    assert CountingTest.bound.calls == len(QUESTIONS)
    assert (CountingTest.bound.most_inside > 1) is side_by_side


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("test", ["fisher-z", KNN])
def test_threads_get_the_answers_of_one(test, threads):
    alone = bind(DATA, test, seed=3)
    table = bind(DATA, test, seed=3, threads=threads)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda question: table.test(*question), QUESTIONS)) == [
            alone.test(*question) for question in QUESTIONS
        ]


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])
@pytest.mark.parametrize("test", ["fisher-z", KNN, component_from_function("test", "same-p-value", same_p_value)()])
def test_copies_and_pickles_also_after_use(made, test):
    table = bind(DATA, test, seed=3)
    before = made(table)
    answers = [table.test(*question) for question in QUESTIONS]
    after = made(table)
    for one in (before, after):
        assert [one.test(*question) for question in QUESTIONS] == answers
        assert (one.names, one.n, str(one.component)) == (table.names, table.n, str(table.component))


def test_a_copy_has_the_answers(monkeypatch):
    monkeypatch.setattr(CountingTest, "bound", Counting(), raising=False)
    table = bind(DATA, CountingTest())
    table.test(0, 1)
    copied = pickle.loads(pickle.dumps(table))
    copied._tester._bound._bound = None  # whoever works now fails
    assert copied.test(1, 0) == table.test(0, 1)


def test_processes_get_the_answers_of_one():
    table = bind(DATA, KNN, seed=3, threads=1)
    answers = [table.test(0, y) for y in range(1, 7)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(bind(DATA, KNN, seed=3, threads=1).test, [0] * 6, range(1, 7))) == answers


def test_tasks_of_an_event_loop_get_the_answers_of_one():
    async def answers(table):
        return await asyncio.gather(*(asyncio.to_thread(table.test, *question) for question in QUESTIONS))

    alone = bind(DATA, KNN, seed=3)
    assert asyncio.run(answers(bind(DATA, KNN, seed=3))) == [alone.test(*question) for question in QUESTIONS]


def test_the_form_for_people():
    assert repr(bind(DATA, "fisher-z")).startswith("<TableTest of fisher-z(alpha=0.05")
