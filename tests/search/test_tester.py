from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import joblib
import numpy as np
import pytest

from pyknnmi import CIResult, Dataset, ParameterError, PluginError, PyknnmiWarning, Run
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.knn_cmi import KnnCMI
from pyknnmi.components import BoundTest, CITest, Tester
from pyknnmi.search.constraints import Constraints

DATA = Dataset.of(np.random.default_rng(6).standard_normal((40, 6)))


def answer(**changes):
    return CIResult(**{"statistic": 1.0, "p_value": 0.5, "independent": True, "n": 40, "decided_by": "fixed"} | changes)


class Fixed(BoundTest):
    """Gives an answer that was laid down, and keeps the questions."""

    def __init__(self, returned=None, scores=None):
        self.questions = []
        self.returned = answer() if returned is None else returned
        self.scores = scores

    def test(self, x, y, z):
        self.questions.append((x, y, z))
        if isinstance(self.returned, Exception):
            raise self.returned
        return self.returned

    def associations(self, x, candidates, z):
        self.questions.append((x, candidates, z))
        return np.zeros(len(candidates)) if self.scores is None else self.scores


def make_tester(bound, symmetric=True):
    @dataclass(frozen=True, kw_only=True)
    class FixedTest(CITest):
        """Fixed."""

        name: ClassVar[str] = "fixed"

        def bind(self, dataset, run):
            return bound

    FixedTest.symmetric = symmetric
    return Tester(FixedTest(), DATA, Run(threads=1))


def test_a_question_is_answered_once_and_in_one_order():
    bound = Fixed()
    tester = make_tester(bound)
    found = [tester.test(3, 1, (5, 0)), tester.test(1, 3, (0, 5)), tester.test(1, 3, [5, 0, 5])]
    assert bound.questions == [(1, 3, (0, 5))]
    assert found == [answer()] * 3
    assert list(tester.trail) == list(tester.answers) == [(1, 3, (0, 5))]


def test_a_question_has_a_lock_only_while_it_is_answered(monkeypatch):
    made = []
    monkeypatch.setattr("pyknnmi.search.tester.Lock", lambda: made.append(threading.Lock()) or made[-1])

    class Slow(Fixed):
        def test(self, x, y, z):
            time.sleep(0.02)
            return super().test(x, y, z)

    bound = Slow()
    tester = make_tester(bound)
    made.clear()
    for _ in range(3):
        tester.test(1, 3)
    assert (len(made), tester._locks) == (1, {})
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: tester.test(2, 4), range(4)))
    assert bound.questions == [(1, 3, ()), (2, 4, ())]
    assert not tester._locks


def test_an_asymmetric_test_answers_both_ways():
    bound = Fixed()
    tester = make_tester(bound, symmetric=False)
    tester.test(3, 1)
    tester.test(1, 3)
    assert bound.questions == [(3, 1, ()), (1, 3, ())]


@pytest.mark.parametrize(("x", "y", "z"), [(1, 1, ()), (1, 2, (1,)), (1, 2, (0, 2))])
def test_overlapping_questions(x, y, z):
    with pytest.raises(ValueError, match="x, y and z overlap"):
        make_tester(Fixed()).test(x, y, z)


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (0.5, "returned 0.5, not a CIResult"),
        (answer(statistic=float("nan")), "returned the statistic nan: it must be a finite number"),
        (answer(statistic=float("inf")), "returned the statistic inf"),
        (answer(statistic=None), "returned the statistic None"),
        (answer(p_value=float("nan")), r"returned the p-value nan: it must be a number in \[0, 1\]"),
        (answer(p_value=1.5), "returned the p-value 1.5"),
        (answer(p_value="small"), "returned the p-value 'small'"),
        (answer(independent=0.3), "returned independent = 0.3: it must be true or false"),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
    ],
)
def test_what_a_test_may_not_return(returned, problem):
    with pytest.raises(PluginError, match=f"fixed: testing 'X1' and 'X3' given 'X2', 'X6': {problem}"):
        make_tester(Fixed(returned)).test(2, 0, (5, 1))


@pytest.mark.parametrize("returned", [answer(p_value=1.5), ZeroDivisionError("division by zero")])
def test_errors_about_groups_name_all_columns(returned):
    where = "fixed: testing 'X1', 'X3' and 'X2', 'X4' given 'X6': "
    with pytest.raises(PluginError, match=where):
        make_tester(Fixed(returned)).test_groups((3, 1), (2, 0), (5,))


@pytest.mark.parametrize("scores", [[1.0], [1.0, float("nan")], [[1.0, 2.0]], ["a", "b"], None])
def test_what_associations_may_not_be(scores):
    bound = Fixed(scores=scores)
    if scores is None:
        bound.associations = lambda x, candidates, z: None
    with pytest.raises(PluginError, match="fixed: associations of 'X1' with 'X2', 'X3' given nothing: returned "):
        make_tester(bound).associations(0, [1, 2])


def test_a_test_that_binds_to_nothing():
    with pytest.raises(PluginError, match="fixed: bind returned None, not a BoundTest"):
        make_tester(None)


def test_numpy_answers_become_pythons():
    returned = answer(statistic=np.float32(0.5), p_value=np.float64(0.25), independent=np.bool_(True), n=np.int64(4))
    found = make_tester(Fixed(returned)).test(0, 1)
    assert found == answer(statistic=0.5, p_value=0.25, n=4)
    types = [type(v) for v in (found.statistic, found.p_value, found.independent, found.n)]
    assert types == [float, float, bool, int]


def test_associations_come_from_one_call_and_are_counted():
    bound = Fixed(scores=[3.0, 1.0, 2.0])
    tester = make_tester(bound)
    assert tester.associations(4, [0, 2, 5], (3, 1)).tolist() == [3, 1, 2]
    assert tester.associations(4, [], (3, 1)).tolist() == []
    assert bound.questions == [(4, (0, 2, 5), (1, 3))]
    assert tester.scored == 3


def test_associations_of_a_plain_test_are_its_statistics():
    class Plain(BoundTest):
        def test(self, x, y, z):
            return answer(statistic=10.0 * x + y)

    assert make_tester(Plain()).associations(1, [2, 0]).tolist() == [12.0, 10.0]


def work_with_a_few():
    """Work on an item: questions that other items have too.

    A closure, for these go to other processes by value; they could not import this module.
    """

    def work(item, branch):
        others = [i for i in range(6) if i != item]
        for other in others:
            branch.test(item, other)
        branch.associations(item, others)
        return item * item

    return work


KNN = KnnCMI(permutations=20)  # one that is made for threads
SIDE_BY_SIDE = [
    (FisherZ(), {"threads": 1}),
    (FisherZ(), {"jobs": 2}),
    (KNN, {"threads": 1}),
    (KNN, {"threads": 3}),
    (KNN, {"jobs": 2}),
]


@pytest.mark.parametrize(("test", "resources"), SIDE_BY_SIDE)
def test_each_keeps_trails_apart(test, resources):
    tester = Tester(test, DATA, Run(**resources))
    searches = {search.item: search for search in tester.each(work_with_a_few(), range(6))}
    for item, search in searches.items():
        assert search.found == item * item
        assert set(search.trail) == {(min(item, i), max(item, i), ()) for i in range(6) if i != item}
        assert search.scored == 5
    assert len(tester.answers) == 15
    assert set(tester.trail) == set(tester.answers)
    assert tester.scored == 30


def test_an_error_in_one_thread_stops_the_others():
    """The other items have tests of minutes before them."""

    def work(item, branch):
        if item == 0:
            raise KeyError("gone")
        return branch.test(item, 1 + item % 5)

    rows = Dataset.of(np.random.default_rng(6).standard_normal((3000, 6)))
    tester = Tester(KnnCMI(permutations=10**6, screen=None), rows, Run(threads=3))
    with pytest.raises(KeyError, match="gone"):
        list(tester.each(work, range(6)))
    assert not tester.answers


@pytest.mark.parametrize("threads", [1, 2])
def test_a_learner_may_leave_before_the_last_item(threads):
    run = Run(threads=threads)
    tester = Tester(KNN, DATA, run)
    for _ in tester.each(work_with_a_few(), range(6)):
        break
    assert tester.test(0, 1) == Tester(KNN, DATA, run).test(0, 1)
    assert len(list(tester.each(work_with_a_few(), range(6)))) == 6


@pytest.mark.parametrize(("test", "threads"), [(FisherZ(), 1), (KNN, 3)])
def test_progress_counts_items_and_tests(test, threads):
    seen = []
    calls = threading.Lock()

    def see(progress):
        assert calls.acquire(blocking=False), "called while it was at work"
        seen.append(progress)
        time.sleep(1e-3)
        calls.release()

    tester = Tester(test, DATA, Run(threads=threads, progress=see))
    list(tester.each(work_with_a_few(), range(6)))
    assert (seen[-1].done, seen[-1].total, seen[-1].tests) == (6, 6, 15)
    assert [p.done for p in seen] == sorted(p.done for p in seen)


@pytest.mark.parametrize("test", [FisherZ(), KNN])
def test_where_joblib_works_in_threads_the_work_stays_here(test):
    with joblib.parallel_config("threading"):
        searches = list(Tester(test, DATA, Run(jobs=2)).each(work_with_a_few(), range(6)))
    assert sorted(search.found for search in searches) == [0, 1, 4, 9, 16, 25]


def test_a_backend_of_joblib_that_cannot_be_used():
    with (
        joblib.parallel_config("multiprocessing"),
        pytest.raises(ParameterError, match=r"MultiprocessingBackend cannot be used.*: take loky"),
    ):
        list(Tester(FisherZ(), DATA, Run(jobs=2)).each(work_with_a_few(), range(6)))


@pytest.mark.parametrize(("test", "resources"), SIDE_BY_SIDE)
def test_an_error_in_one_item_comes_out(test, resources):
    def work(item, branch):
        if item == 4:
            raise KeyError("gone")
        return branch.test(item, 5 if item < 5 else 0)

    tester = Tester(test, DATA, Run(**resources))
    with pytest.raises(KeyError, match="gone"):
        list(tester.each(work, range(6)))


def test_the_best_of_several_needs_a_smaller_p_value():
    tester = Tester(FisherZ(alpha=0.5), DATA, Run(threads=1))
    for x in range(5):
        plain, best_of_ten = tester.test(x, 5), tester.test(x, 5, among=10)
        assert best_of_ten.independent is (plain.p_value >= 0.05)
        assert best_of_ten.p_value == plain.p_value
        assert best_of_ten.level == 0.05
        assert plain.level is None
    assert tester.answers[0, 5, ()].independent is tester.test(0, 5).independent
    assert len(tester.answers) == 10


def test_a_test_without_alpha_answers_as_ever():
    tester = make_tester(Fixed())
    assert tester.test(0, 1, among=10) == tester.test(0, 1)


class BoundEarly(BoundTest):
    """Says independent by `test`, and dependent by `test_at`; keeps who was asked what."""

    def __init__(self):
        self.asked = []

    def test(self, x, y, z):
        self.asked.append((x, y, z))
        return answer()

    def test_at(self, x, y, z, level):
        self.asked.append((x, y, z, level))
        return answer(p_value=0.01, independent=False)


def early_tester(symmetric=True, **options):
    bound = BoundEarly()

    @dataclass(frozen=True, kw_only=True)
    class Early(CITest):
        """Early."""

        name: ClassVar[str] = "early"
        alpha: float = 0.25

        @property
        def decides_early(self):
            return True

        def bind(self, dataset, run):
            return bound

    Early.symmetric = symmetric
    return bound.asked, Tester(Early(), DATA, Run(threads=1), **options)


@pytest.mark.parametrize("first", ["p-value", "decision"])
def test_a_decision_and_a_p_value_are_two_questions_in_any_order(first):
    asked, tester = early_tester()
    if first == "p-value":
        assert tester.test(1, 0).independent
    for _ in range(2):
        assert not tester.independent(0, 1)
        assert tester.test(0, 1).independent
    assert sorted(asked) == [(0, 1, ()), (0, 1, (), 0.25)]
    assert tester.trail == tester.answers
    assert all(answer.level is None for answer in tester.answers.values())


def test_a_decision_is_made_once_and_in_one_order():
    asked, tester = early_tester()
    assert not tester.independent(3, 1, (5, 0))
    assert not tester.independent(1, 3, [0, 5, 0])
    assert asked == [(1, 3, (0, 5), 0.25)]
    asked, tester = early_tester(symmetric=False)
    tester.independent(3, 1)
    tester.independent(1, 3)
    assert asked == [(3, 1, (), 0.25), (1, 3, (), 0.25)]


def test_a_decision_about_the_best_of_several_is_that_of_the_test():
    asked, tester = early_tester()
    assert not tester.independent(0, 1, among=5)
    assert tester.test(0, 1, among=5).level == 0.05
    assert asked == [(0, 1, (), 0.05)]


def test_where_p_values_are_compared_later_they_decide():
    asked, tester = early_tester(for_p_values=True)
    assert tester.independent(0, 1)
    assert tester.test(0, 1).independent
    assert asked == [(0, 1, ())]


def test_a_test_that_does_not_decide_early_is_asked_once():
    """Whether it has an alpha or not."""
    bound = Fixed()
    without_alpha = make_tester(bound)
    assert without_alpha.independent(0, 1)
    assert without_alpha.test(0, 1).independent
    assert bound.questions == [(0, 1, ())]
    tester = Tester(FisherZ(alpha=0.5), DATA, Run(threads=1))
    for x in range(5):
        assert tester.independent(x, 5) is tester.test(x, 5).independent
        assert tester.independent(x, 5, among=10) is tester.test(x, 5, among=10).independent
    assert len(tester.answers) == 10


def test_a_required_edge_is_decided_without_a_question():
    asked, tester = early_tester(constraints=Constraints((("X1", "X2"),), (("X1", "X3"),)))
    assert (tester.independent(0, 1), tester.independent(2, 0)) == (False, True)
    assert not asked


def test_a_decision_needs_three_columns_that_differ():
    _, tester = early_tester()
    with pytest.raises(ValueError, match="overlap"):
        tester.independent(0, 1, (1,))


def test_a_level_is_kept_where_values_are_missing():
    values = DATA.values.copy()
    values[:10, 0] = np.nan
    tester = Tester(FisherZ(alpha=0.5), Dataset.of(values, missing="drop-per-test"), Run(threads=1))
    assert tester.test(0, 1, among=10).independent is (tester.test(0, 1).p_value >= 0.05)


def test_a_level_below_every_p_value_is_reported():
    @dataclass(frozen=True, kw_only=True)
    class Coarse(CITest):
        """Twenty permutations."""

        name: ClassVar[str] = "coarse"
        alpha: float = 0.05

        def bind(self, dataset, run):
            return Fixed(answer(p_value=1 / 21, independent=False, permutations=20))

    tester = Tester(Coarse(), DATA, Run(threads=1))
    with pytest.warns(PyknnmiWarning, match=r"no p-value is below the level 0.005 .* give at least 200"):
        assert tester.test(0, 1, among=10).independent
