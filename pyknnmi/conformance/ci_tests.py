"""The checks of CI tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pyknnmi.conformance.expectations import (
    RUN,
    require,
    require_close,
    require_same,
    sent_to_a_worker,
    with_categories,
    with_holes,
)
from pyknnmi.data.dataset import Dataset
from pyknnmi.protocols.ci_tests import CIResult, CITest
from pyknnmi.protocols.learned_graph import Question
from pyknnmi.run import Run
from pyknnmi.search.contract import CheckedTest
from pyknnmi.search.tester import Tester

__all__ = ["CHECKS_OF_TESTS"]

_QUESTIONS: list[Question] = [(0, 1, ()), (0, 2, (1,)), (0, 3, (1, 2)), (1, 3, ())]


def _answers(test: CITest, data: Dataset) -> list[CIResult]:
    """Return the answers to the questions of the kit, which keep the contract."""
    bound = CheckedTest(test, data, RUN)
    return [bound.test(*question) for question in _QUESTIONS]


def _p_values(test: CITest, data: Dataset) -> None:
    found = {answer.p_value for answer in _answers(test, data)}
    require(found != {0.0, 1.0}, "all p-values are 0 or 1: a verdict is no p-value, give a number in [0, 1]")


def _same_answers_again(test: CITest, data: Dataset) -> None:
    expected = dict(zip(_QUESTIONS, _answers(test, data), strict=True))
    again = CheckedTest(test, data, RUN)
    for question in reversed(_QUESTIONS):
        require_same(again.test(*question), expected[question], f"{question} answered again, in another order,")


def _decisions(test: CITest, data: Dataset) -> None:
    """Ask as searches do: a test that decides early answers at its own alpha, and no test needs to."""
    if not test.decides_early:
        return
    alpha: Any = getattr(test, "alpha", None)
    require(isinstance(alpha, float), f"decides_early is for tests with an alpha, and alpha is {alpha}")
    expected = {question: CheckedTest(test, data, RUN).test_at(*question, alpha) for question in _QUESTIONS}
    again = CheckedTest(test, data, Run(seed=RUN.seed, threads=2))
    for question, whole in reversed(list(zip(_QUESTIONS, _answers(test, data), strict=True))):
        answer = expected[question]
        require_same(again.test_at(*question, alpha), answer, f"the decision of {question}, made again on two threads,")
        require_close(answer, whole, f"the decision of {question}, against its p-value,")
        agree = answer.independent is not (answer.p_value < alpha)
        require(agree, f"the decision of {question} is not that of its p-value at alpha: {answer}")


def _other_process(test: CITest, data: Dataset) -> None:
    bound = CheckedTest(test, data, RUN)
    expected = bound.test(*_QUESTIONS[1])
    for what, copied in (
        ("test", CheckedTest(sent_to_a_worker(test, "test"), data, RUN)),
        ("bound test", sent_to_a_worker(bound, "bound test")),
    ):
        require_same(copied.test(*_QUESTIONS[1]), expected, f"the {what}, as a worker process gets it,")


def _threads(test: CITest, data: Dataset) -> None:
    expected = _answers(test, data)
    on_two = CheckedTest(test, data, Run(seed=RUN.seed, threads=2))
    for question, answer in zip(_QUESTIONS, expected, strict=True):
        require_same(on_two.test(*question), answer, f"{question} on two threads")
    if shared := CheckedTest(test, data, RUN).for_threads():
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda question: shared.test(*question), 2 * _QUESTIONS))
        for question, answer, before in zip(2 * _QUESTIONS, found, 2 * expected, strict=True):
            require_same(answer, before, f"{question} beside others in several threads")


def _seed(test: CITest, data: Dataset) -> None:
    if not test.needs_seed:
        other = CheckedTest(test, data, Run(seed=RUN.seed + 1, threads=1))
        for question, answer in zip(_QUESTIONS, _answers(test, data), strict=True):
            require_same(other.test(*question), answer, f"{question} with another seed, for a test without needs_seed,")


def _symmetry(test: CITest, data: Dataset) -> None:
    if test.symmetric:
        bound = CheckedTest(test, data, RUN)
        x, y, z = _QUESTIONS[1]
        require_close(bound.test(y, x, z), bound.test(x, y, z), "x and y exchanged, in a symmetric test,")


def _associations(test: CITest, data: Dataset) -> None:
    bound = CheckedTest(test, data, RUN)
    for z in ((), (3,)):
        scores = bound.associations(0, (1, 2), z)
        require(bool(np.isfinite(scores).all()), f"associations are not finite: {scores}")
        each = [bound.associations(0, (y,), z)[0] for y in (1, 2)]
        require(
            np.allclose(scores, each, rtol=1e-9, atol=1e-12),
            f"associations of two candidates are {scores}, of one at a time {each}",
        )


def _groups(test: CITest, data: Dataset) -> None:
    if test.takes_groups:
        bound = CheckedTest(test, data, RUN)
        answer = bound.test_groups((0, 1), (3,), (2,))
        require_same(bound.test_groups((0, 1), (3,), (2,)), answer, "a question about groups, answered again,")
        bound.test_groups((0,), (1, 2), ())


def _categories(test: CITest, data: Dataset) -> None:
    if test.accepts("discrete"):
        codes = with_categories(data)
        recoded = codes.values.copy()
        recoded[:, 3] = np.array([5.0, 0.0, 2.0])[recoded[:, 3].astype(int)]
        other = Dataset(recoded, codes.names, codes.kinds)
        for question, answer, found in zip(_QUESTIONS, _answers(test, codes), _answers(test, other), strict=True):
            require_close(found, answer, f"{question} with other codes for the same categories")


def _no_traces(test: CITest, data: Dataset) -> None:
    """Call the test itself: a run changes back what it changes of NumPy's settings."""
    bound = test.bind(data, RUN)
    for question in _QUESTIONS:
        bound.test(*question)
    bound.associations(0, (1, 2), ())


def _missing_values(test: CITest, data: Dataset) -> None:
    holes = with_holes(data)
    tester = Tester(test, holes, RUN)
    for x, y, z in _QUESTIONS:
        complete = holes.complete_rows((x, y, *z))
        expected = CheckedTest(test, complete, RUN).test(0, 1, tuple(range(2, complete.p)))
        require_same(
            tester.test(x, y, z), expected, f"{(x, y, z)} where rows miss values, against the complete rows alone,"
        )


CHECKS_OF_TESTS: Mapping[str, Callable[[CITest, Dataset], object]] = {
    "answers": _answers,
    "p-values": _p_values,
    "same-answers-again": _same_answers_again,
    "decisions": _decisions,
    "other-process": _other_process,
    "threads": _threads,
    "seed": _seed,
    "symmetry": _symmetry,
    "associations": _associations,
    "groups": _groups,
    "categories": _categories,
    "missing-values": _missing_values,
    "no-traces": _no_traces,
}
