"""The conformance kit: one line lets an author check a component.

::

    from pyknnmi.testing import check_ci_test

    check_ci_test(MyTest())

Each check raises `AssertionError` with what is wrong, and returns nothing. Built-in components pass them too.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from joblib.externals.loky.backend.reduction import dumps

from pyknnmi.data.dataset import Dataset
from pyknnmi.learning.pipeline import Pipeline
from pyknnmi.protocols.ci_tests import BoundTest, CIResult, CITest
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.learned_graph import LearnedGraph
from pyknnmi.protocols.spec import Spec
from pyknnmi.protocols.transforms import Transform
from pyknnmi.run import Run
from pyknnmi.search.constraints import Constraints
from pyknnmi.search.learners import Learner
from pyknnmi.search.tester import Tester

__all__ = ["check_ci_test", "check_learner", "check_transform", "example_data"]


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
        At least four columns that the test can be bound to; `example_data` when left out.

    Raises
    ------
    AssertionError
        Naming what is wrong: parameters that do not survive a spec string, an answer of the wrong type or out
        of range, an answer that changes on asking again, in another order, after pickling or with the order of x and
        y, data that were written to, or use of NumPy's global random numbers.
    """
    _check_component(test, CITest)
    data = data or example_data()
    run = Run(seed=1, threads=1)
    with _leaves_alone(data):
        bound = test.bind(data, run)
        questions = [(0, 1, ()), (0, 2, (1,)), (0, 3, (1, 2)), (1, 3, ())]
        answers = [bound.test(*question) for question in questions]
        for question, answer in zip(questions, answers, strict=True):
            _check_answer(test, question, answer, data)
        again = test.bind(data, run)
        for question, answer in reversed(list(zip(questions, answers, strict=True))):
            _same(again.test(*question), answer, f"{question} asked again, in another order")
        for what, copied in (("test", pickle.loads(dumps(test)).bind(data, run)), ("bound test", _copied(bound))):
            _same(copied.test(*questions[1]), answers[1], f"the {what}, as a worker process gets it,")
        if test.symmetric:
            x, y, z = questions[1]
            _close(bound.test(y, x, z), answers[1], "x and y exchanged, in a symmetric test,")
        for z in ((), (3,)):
            scores = np.asarray(bound.associations(0, (1, 2), z))
            _require(scores.shape == (2,), f"associations of 2 candidates have shape {scores.shape}")
            _require(bool(np.isfinite(scores).all()), f"associations are not finite: {scores}")
            each = [bound.associations(0, (y,), z)[0] for y in (1, 2)]
            _require(
                np.allclose(scores, each, rtol=1e-9, atol=1e-12),
                f"associations of two candidates are {scores}, of one at a time {each}",
            )
        Tester(test, data, run).test(0, 1)


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
        Naming what is wrong: a result of the wrong type, columns that do not exist, a graph that changes on a second
        run or with the order of the columns, a required or forbidden edge or a target that is not heeded, data that
        were written to, or use of NumPy's global random numbers.
    """
    _check_component(learner, Learner)
    data = example_data()
    component = Pipeline.parse(f"iamb+{test}").test if learner.uses_test else None
    pipeline = Pipeline(learner, component)
    run = Run(seed=1, threads=1)
    with _leaves_alone(data):
        learned = learner.learn(data, Tester(component, data, run), run)
        _require(isinstance(learned, LearnedGraph), f"learn returned {learned!r}, not a LearnedGraph")
        for i, j in learned.edges:
            inside = 0 <= i < data.p and 0 <= j < data.p and i != j
            _require(inside, f"({i}, {j}) is no pair of the columns 0 to {data.p - 1}")
        for target, blanket in (learned.blankets or {}).items():
            _require(target not in blanket, f"column {target} is in its own blanket")
        first = pipeline.learn(data, run)
        _require(pipeline.learn(data, run).graph == first.graph, "a second run gives another graph")
        turned = pipeline.learn(data.select([3, 1, 0, 2]), run)
        _require(
            turned.graph.reordered(data.names) == first.graph,
            "the graph changes with the order of the columns",
        )
        _check_constraints(pipeline, data, run)


def _check_constraints(pipeline: Pipeline, data: Dataset, run: Run) -> None:
    a, b, _, d = data.names
    if pipeline.learner.uses_test or pipeline.learner.takes_constraints:
        graph = pipeline.learn(data, run, Constraints(required=((a, d),), forbidden=((a, b),))).graph
        _require((a, d) in graph and (a, b) not in graph, "a required or forbidden edge was not heeded")
    if pipeline.learner.takes_targets:
        graph = pipeline.learn(data, run, Constraints(targets=(d,))).graph
        _require(all(d in edge for edge in graph.edges), "an edge between two columns that are no targets was joined")


def check_transform(transform: Transform) -> None:
    """Check that a transform keeps the contract.

    Raises
    ------
    AssertionError
        Naming what is wrong: other rows or names, values that are not finite, a result that changes on a second call
        or with the order of the columns, data that were written to, or use of NumPy's global random numbers.
    """
    _check_component(transform, Transform)
    data = example_data()
    with _leaves_alone(data):
        result = transform.apply(data)
        _require(isinstance(result, Dataset), f"apply returned {result!r}, not a Dataset")
        _require(result.names == data.names, f"the names became {result.names}")
        _require(result.n == data.n, f"{data.n} rows became {result.n}")
        again = transform.apply(data)
        _require(np.array_equal(result.values, again.values), "a second call gives other values")
        order = [3, 1, 0, 2]
        turned = transform.apply(data.select(order))
        _require(
            np.array_equal(turned.values, result.values[:, order]),
            "values change with the order of the columns",
        )


def _check_component(component: Component, base: type[Component]) -> None:
    cls = type(component)
    _require(isinstance(component, base), f"{component!r} is no {base.__name__}")
    cls.verify()
    _require(bool(cls.summary()), f"{cls.__name__} has no docstring: its first line is its summary")
    written = str(component)
    spec = Spec.parse(written)
    _require(str(spec) == written, f"the spec {written} is read back as {spec}")
    _require(cls.from_call(spec.calls[0]) == component, f"{written} makes another component")
    _require(copy.copy(component) == component, "a copy is not equal")
    _require(hash(component) == hash(cls.from_call(spec.calls[0])), "equal components differ in hash")


def _copied(bound: BoundTest) -> BoundTest:
    try:
        copied: BoundTest = pickle.loads(dumps(bound))
    except Exception as error:
        raise AssertionError(f"the bound test cannot be sent to a worker process: {error}") from error
    return copied


def _check_answer(test: CITest, question: object, answer: object, data: Dataset) -> None:
    where = f"{test.name}, question {question}"
    _require(isinstance(answer, CIResult), f"{where}: returned {answer!r}, not a CIResult")
    assert isinstance(answer, CIResult)
    _require(bool(np.isfinite(answer.statistic)), f"{where}: statistic {answer.statistic}")
    _require(0 <= answer.p_value <= 1, f"{where}: p-value {answer.p_value} is not in [0, 1]")
    _require(isinstance(answer.independent, bool), f"{where}: independent {answer.independent!r}")
    _require(0 < answer.n <= data.n, f"{where}: n = {answer.n} of {data.n} rows")
    _require(bool(answer.decided_by), f"{where}: decided_by is empty")


def _same(answer: CIResult, expected: CIResult, what: str) -> None:
    _require(answer == expected, f"{what} gave {answer}, before {expected}")


def _close(answer: CIResult, expected: CIResult, what: str) -> None:
    close = bool(np.isclose(answer.statistic, expected.statistic, rtol=1e-9, atol=1e-12))
    _require(close, f"{what} gave the statistic {answer.statistic}, before {expected.statistic}")


@contextmanager
def _leaves_alone(data: Dataset) -> Iterator[None]:
    """Check that the data and NumPy's global generator are as they were."""
    values = data.values.copy()
    state = _global_state()
    yield
    _require(np.array_equal(values, data.values), "the data were written to")
    _require(_global_state() == state, "NumPy's global random numbers were used: take run.generator")


def _global_state() -> bytes:
    return pickle.dumps(np.random.get_state())  # noqa: NPY002


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise AssertionError(problem)


CHECKS: dict[str, Callable[..., None]] = {
    "test": check_ci_test,
    "learner": check_learner,
    "transform": check_transform,
}
