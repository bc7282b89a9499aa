"""The conformance kit: checks that a component keeps the contract.

One line checks all at once::

    from pyknnmi.testing import check_ci_test

    check_ci_test(MyTest())

With pytest each check is a test of its own::

    from pyknnmi.testing import parametrize_with_checks


    @parametrize_with_checks([MyTest(), MyLearner()])
    def test_contract(check):
        check()

Built-in components pass the same checks, and every run holds what comes back to the same contract.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import DataError, PluginError
from pyknnmi.learning.pipeline import Pipeline
from pyknnmi.learning.preparation import transformed
from pyknnmi.learning.result import LearnResult
from pyknnmi.protocols.ci_tests import CIResult, CITest
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.learned_graph import Question
from pyknnmi.protocols.spec import Spec
from pyknnmi.protocols.transforms import Transform
from pyknnmi.protocols.wrappers import Wrapper
from pyknnmi.registry.registry import default_registry
from pyknnmi.run import Run
from pyknnmi.search.constraints import Constraints
from pyknnmi.search.contract import CheckedTest, checked_transform
from pyknnmi.search.learners import Learner
from pyknnmi.search.tester import Tester

__all__ = [
    "Check",
    "check_ci_test",
    "check_learner",
    "check_transform",
    "checks_of",
    "example_data",
    "parametrize_with_checks",
]

T = TypeVar("T")

_QUESTIONS: list[Question] = [(0, 1, ()), (0, 2, (1,)), (0, 3, (1, 2)), (1, 3, ())]
_RUN = Run(seed=1, threads=1)
_OTHER_ORDER = [3, 1, 0, 2]


@dataclass(frozen=True)
class Check:
    """One check of one component; call it.

    Attributes
    ----------
    name : str
        What is checked, such as ``threads``.
    component : Component
    """

    name: str
    component: Component
    _run: Callable[[], None]

    def __call__(self) -> None:
        """Raise an AssertionError that says what is wrong, if anything is."""
        try:
            self._run()
        except PluginError as error:
            raise AssertionError(str(error)) from error
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}") from error


def example_data(n: int = 120, seed: int = 0) -> Dataset:
    """Return a chain a - b - c of dependent columns and a column d that is independent of them, shape (n, 4)."""
    noise = np.random.default_rng(seed).standard_normal((n, 4))
    a = noise[:, 0]
    b = a + 0.5 * noise[:, 1]
    c = b + 0.5 * noise[:, 2]
    return Dataset(np.column_stack([a, b, c, noise[:, 3]]), ("a", "b", "c", "d"))


def check_ci_test(test: CITest, data: Dataset | None = None) -> None:
    """Check that a CI test keeps the contract.

    Parameters
    ----------
    test : CITest
        With any parameters.
    data : Dataset, optional
        At least four columns of numbers that the test can be bound to; `example_data` when left out.

    Raises
    ------
    AssertionError
        With the names of the checks that failed, and what is wrong: parameters that do not survive a spec string; an
        answer of the wrong type or out of range; an answer that changes when it is computed again, in another order,
        after pickling, in threads, with the seed, or with the order of x and y; groups, categories or missing values
        that the test says it takes and does not; data that were written to; settings of NumPy that were changed.
    """
    _require(isinstance(test, CITest), f"{test!r} is no CITest")
    _report(checks_of(test, data=data))


def check_learner(learner: Learner, test: str = "fisher-z") -> None:
    """Check that a learner keeps the contract.

    Parameters
    ----------
    learner : Learner
        With any parameters.
    test : str
        Spec of the CI test to give it; not used if it needs none.

    Raises
    ------
    AssertionError
        With the names of the checks that failed, and what is wrong: a result of the wrong type; columns that do not
        exist; a graph that changes on a second run or with the number of threads; a required or forbidden edge or a
        target that is not heeded; data that were written to; settings of NumPy that were changed.
    """
    _require(isinstance(learner, Learner), f"{learner!r} is no Learner")
    _report(checks_of(learner, test=test))


def check_transform(transform: Transform) -> None:
    """Check that a transform keeps the contract.

    Raises
    ------
    AssertionError
        With the names of the checks that failed, and what is wrong: other rows or names; values that are not finite; a
        result that changes on a second call or with the order of the columns; data that were written
        to; settings of NumPy that were changed.
    """
    _require(isinstance(transform, Transform), f"{transform!r} is no Transform")
    _report(checks_of(transform))


def checks_of(component: Component, *, data: Dataset | None = None, test: str = "fisher-z") -> list[Check]:
    """Return the checks of a component.

    Parameters
    ----------
    component : CITest, Learner, Transform or Wrapper
        With any parameters. A wrapper goes round the learner iamb.
    data, test
        As in `check_ci_test` and `check_learner`.
    """
    data = data or example_data()
    if isinstance(component, CITest):
        found = {name: partial(check, component, data) for name, check in _OF_TESTS.items()}
    elif isinstance(component, Learner):
        pipeline = Pipeline(component, Pipeline.parse(f"iamb+{test}").test if component.uses_test else None)
        found = {name: partial(check, pipeline, data) for name, check in _OF_LEARNERS.items()}
    elif isinstance(component, Wrapper):
        pipeline = replace(Pipeline.parse(f"iamb+{test}"), wrappers=(component,))
        found = {name: partial(check, pipeline, data) for name, check in _OF_LEARNERS.items()}
    elif isinstance(component, Transform):
        found = {name: partial(check, component, data) for name, check in _OF_TRANSFORMS.items()}
    else:
        raise PluginError(f"{component!r} is no CITest, Learner, Transform or Wrapper")
    return [
        Check("parameters", component, partial(_parameters, component)),
        *(Check(name, component, _alone(check, data)) for name, check in found.items()),
    ]


def parametrize_with_checks(components: Iterable[Component], *, test: str = "fisher-z") -> Any:
    """Return a decorator that makes each check of each component a test of pytest.

    Parameters
    ----------
    components : iterable of CITest, Learner, Transform or Wrapper
    test : str
        Spec of the CI test to give to learners.

    Examples
    --------
    >>> from pyknnmi.components import CITest
    >>> @parametrize_with_checks([])  # such as [MyTest(), MyLearner()]
    ... def test_contract(check):
    ...     check()
    """
    import pytest

    checks = [check for component in components for check in checks_of(component, test=test)]
    return pytest.mark.parametrize("check", checks, ids=[f"{check.component.name}-{check.name}" for check in checks])


def failures(checks: Iterable[Check]) -> list[str]:
    """Return what is wrong, a line for each problem, with the names of the checks that found it."""
    problems: dict[str, list[str]] = {}
    for check in checks:
        try:
            check()
        except AssertionError as error:
            problems.setdefault(str(error), []).append(check.name)
    return [f"{', '.join(names)}: {problem}" for problem, names in problems.items()]


def _report(checks: list[Check]) -> None:
    if found := failures(checks):
        raise AssertionError("\n".join(found))


def _parameters(component: Component) -> None:
    cls = type(component)
    cls.verify()
    _require(bool(cls.summary()), f"{cls.__name__} has no docstring: its first line is its summary")
    written = str(component)
    spec = Spec.parse(written)
    _require(str(spec) == written, f"the spec {written} is read back as {spec}")
    call = default_registry().with_components(cls, spec, spec.calls[0])
    _require(cls.from_call(call) == component, f"{written} makes another component")
    _require(copy.copy(component) == component, "a copy is not equal")
    _require(hash(component) == hash(cls.from_call(call)), "equal components differ in hash")
    _require(str(_sent(component, "component")) == written, "a worker process gets another component")


# CI tests


def _answers(test: CITest, data: Dataset) -> list[CIResult]:
    """Return the answers to the questions of the kit, which keep the contract."""
    bound = CheckedTest(test, data, _RUN)
    return [bound.test(*question) for question in _QUESTIONS]


def _same_answers_again(test: CITest, data: Dataset) -> None:
    expected = dict(zip(_QUESTIONS, _answers(test, data), strict=True))
    again = CheckedTest(test, data, _RUN)
    for question in reversed(_QUESTIONS):
        _same(again.test(*question), expected[question], f"{question} answered again, in another order,")


def _other_process(test: CITest, data: Dataset) -> None:
    bound = CheckedTest(test, data, _RUN)
    expected = bound.test(*_QUESTIONS[1])
    for what, copied in (
        ("test", CheckedTest(_sent(test, "test"), data, _RUN)),
        ("bound test", _sent(bound, "bound test")),
    ):
        _same(copied.test(*_QUESTIONS[1]), expected, f"the {what}, as a worker process gets it,")


def _threads(test: CITest, data: Dataset) -> None:
    expected = _answers(test, data)
    on_two = CheckedTest(test, data, Run(seed=_RUN.seed, threads=2))
    for question, answer in zip(_QUESTIONS, expected, strict=True):
        _same(on_two.test(*question), answer, f"{question} on two threads")
    if shared := CheckedTest(test, data, _RUN).for_threads():
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda question: shared.test(*question), 2 * _QUESTIONS))
        for question, answer, before in zip(2 * _QUESTIONS, found, 2 * expected, strict=True):
            _same(answer, before, f"{question} beside others in several threads")


def _seed(test: CITest, data: Dataset) -> None:
    if not test.needs_seed:
        other = CheckedTest(test, data, Run(seed=_RUN.seed + 1, threads=1))
        for question, answer in zip(_QUESTIONS, _answers(test, data), strict=True):
            _same(other.test(*question), answer, f"{question} with another seed, for a test without needs_seed,")


def _symmetry(test: CITest, data: Dataset) -> None:
    if test.symmetric:
        bound = CheckedTest(test, data, _RUN)
        x, y, z = _QUESTIONS[1]
        _close(bound.test(y, x, z), bound.test(x, y, z), "x and y exchanged, in a symmetric test,")


def _associations(test: CITest, data: Dataset) -> None:
    bound = CheckedTest(test, data, _RUN)
    for z in ((), (3,)):
        scores = bound.associations(0, (1, 2), z)
        _require(bool(np.isfinite(scores).all()), f"associations are not finite: {scores}")
        each = [bound.associations(0, (y,), z)[0] for y in (1, 2)]
        _require(
            np.allclose(scores, each, rtol=1e-9, atol=1e-12),
            f"associations of two candidates are {scores}, of one at a time {each}",
        )


def _groups(test: CITest, data: Dataset) -> None:
    if test.takes_groups:
        bound = CheckedTest(test, data, _RUN)
        answer = bound.test_groups((0, 1), (3,), (2,))
        _same(bound.test_groups((0, 1), (3,), (2,)), answer, "a question about groups, answered again,")
        bound.test_groups((0,), (1, 2), ())


def _categories(test: CITest, data: Dataset) -> None:
    if test.accepts("discrete"):
        codes = _with_categories(data)
        recoded = codes.values.copy()
        recoded[:, 3] = np.array([5.0, 0.0, 2.0])[recoded[:, 3].astype(int)]
        other = Dataset(recoded, codes.names, codes.kinds)
        for question, answer, found in zip(_QUESTIONS, _answers(test, codes), _answers(test, other), strict=True):
            _close(found, answer, f"{question} with other codes for the same categories")


def _no_traces(test: CITest, data: Dataset) -> None:
    """Call the test itself: a run changes back what it changes of NumPy's settings."""
    bound = test.bind(data, _RUN)
    for question in _QUESTIONS:
        bound.test(*question)
    bound.associations(0, (1, 2), ())


def _missing_values(test: CITest, data: Dataset) -> None:
    holes = _with_holes(data)
    tester = Tester(test, holes, _RUN)
    for x, y, z in _QUESTIONS:
        complete = holes.complete_rows((x, y, *z))
        expected = CheckedTest(test, complete, _RUN).test(0, 1, tuple(range(2, complete.p)))
        _same(tester.test(x, y, z), expected, f"{(x, y, z)} where rows miss values, against the complete rows alone,")


_OF_TESTS: Mapping[str, Callable[[CITest, Dataset], object]] = {
    "answers": _answers,
    "same-answers-again": _same_answers_again,
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


# Learners


def _graph(pipeline: Pipeline, data: Dataset) -> LearnResult:
    """Return the result, which keeps the contract."""
    return pipeline.learn(data, _RUN)


def _same_graph_again(pipeline: Pipeline, data: Dataset) -> None:
    first, second = _graph(pipeline, data), _graph(pipeline, data)
    _require(second.graph == first.graph, "a second run gives another graph")
    _require(second.blankets == first.blankets, "a second run gives other blankets")


def _resources(pipeline: Pipeline, data: Dataset) -> None:
    on_two = pipeline.learn(data, Run(seed=_RUN.seed, threads=2))
    _require(on_two.graph == _graph(pipeline, data).graph, "the graph changes with the number of threads")


def _constraints(pipeline: Pipeline, data: Dataset) -> None:
    if pipeline.learner.uses_test or pipeline.learner.takes_constraints:
        a, b, _, d = data.names[:4]
        # the pipeline refuses a graph that does not keep to them
        pipeline.learn(data, _RUN, Constraints(required=((a, d),), forbidden=((a, b),)))


def _learns_without_traces(pipeline: Pipeline, data: Dataset) -> None:
    pipeline.learner.learn(data, Tester(pipeline.test, data, _RUN), _RUN)


def _targets(pipeline: Pipeline, data: Dataset) -> None:
    if pipeline.learner.takes_targets:
        pipeline.learn(data, _RUN, Constraints(targets=(data.names[3],)))


def _data_with_holes(pipeline: Pipeline, data: Dataset) -> None:
    try:
        pipeline.learn(_with_holes(data), _RUN)
    except DataError:  # a learner without a test may refuse them
        if pipeline.learner.uses_test:
            raise


_OF_LEARNERS: Mapping[str, Callable[[Pipeline, Dataset], object]] = {
    "graph": _graph,
    "same-graph-again": _same_graph_again,
    "threads": _resources,
    "constraints": _constraints,
    "targets": _targets,
    "no-traces": _learns_without_traces,
    "missing-values": _data_with_holes,
}


# Transforms


def _values(transform: Transform, data: Dataset) -> Dataset:
    """Return the result, which keeps the contract."""
    return checked_transform(transform, data)


def _same_values_again(transform: Transform, data: Dataset) -> None:
    again = _values(transform, data)
    _require(np.array_equal(_values(transform, data).values, again.values), "a second call gives other values")


def _order_of_columns(transform: Transform, data: Dataset) -> None:
    turned = _values(transform, data.select(_OTHER_ORDER)).values
    expected = _values(transform, data).values[:, _OTHER_ORDER]
    _require(np.array_equal(turned, expected), "values change with the order of the columns")


def _among_categories(transform: Transform, data: Dataset) -> None:
    mixed = _with_categories(data)
    result = transformed(transform, mixed)
    _require(result.kinds == mixed.kinds, f"the kinds {mixed.kinds} became {result.kinds}")
    if not transform.accepts("discrete"):
        _require(np.array_equal(result.values[:, 3], mixed.values[:, 3]), "categories were changed")


def _transforms_without_traces(transform: Transform, data: Dataset) -> None:
    transform.apply(data)


_OF_TRANSFORMS: Mapping[str, Callable[[Transform, Dataset], object]] = {
    "values": _values,
    "same-values-again": _same_values_again,
    "column-order": _order_of_columns,
    "categories": _among_categories,
    "no-traces": _transforms_without_traces,
}


def _with_categories(data: Dataset) -> Dataset:
    """Return the data with the fourth column cut into three categories."""
    values = data.values.copy()
    values[:, 3] = np.searchsorted(np.quantile(values[:, 3], [1 / 3, 2 / 3]), values[:, 3])
    kinds = tuple("discrete" if i == 3 else kind for i, kind in enumerate(data.kinds))
    return Dataset(values, data.names, kinds)


def _with_holes(data: Dataset) -> Dataset:
    """Return the data with a few values missing from two columns."""
    values = data.values.copy()
    values[:5, 0] = values[3:9, 1] = np.nan
    return Dataset(values, data.names, data.kinds, has_missing=True)


def _sent(thing: T, what: str) -> T:
    """Return what another process gets."""
    from joblib.externals.loky.backend.reduction import dumps

    try:
        copied: T = pickle.loads(dumps(thing))
    except Exception as error:
        raise AssertionError(f"the {what} cannot be sent to a worker process: {error}") from error
    return copied


def _same(answer: CIResult, expected: CIResult, what: str) -> None:
    _require(answer == expected, f"{what} gave {answer}, before {expected}")


def _close(answer: CIResult, expected: CIResult, what: str) -> None:
    close = bool(np.isclose(answer.statistic, expected.statistic, rtol=1e-9, atol=1e-12))
    _require(close, f"{what} gave the statistic {answer.statistic}, before {expected.statistic}")


def _alone(check: Callable[[], object], data: Dataset) -> Callable[[], None]:
    """Return a check that also sees that the data and the settings of NumPy are left as they were."""

    def run() -> None:
        with _left_alone(data):
            check()

    return run


@contextmanager
def _left_alone(data: Dataset) -> Iterator[None]:
    values, state, handling = data.values.copy(), _global_state(), np.geterr()
    try:
        yield
        _require(np.array_equal(values, data.values), "the data were written to")
        _require(_global_state() == state, "NumPy's global random numbers were used: take run.generator")
        _require(np.geterr() == handling, "NumPy's error handling was changed: use numpy.errstate")
    finally:
        np.seterr(**handling)


def _global_state() -> bytes:
    return pickle.dumps(np.random.get_state())  # noqa: NPY002


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise AssertionError(problem)
