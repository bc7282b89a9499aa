"""The checks of a component by name, and what makes tests of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pyknnmi.conformance.ci_tests import CHECKS_OF_TESTS
from pyknnmi.conformance.expectations import (
    require,
    sent_to_a_worker,
    without_traces,
)
from pyknnmi.conformance.learners import CHECKS_OF_LEARNERS
from pyknnmi.conformance.transforms import CHECKS_OF_TRANSFORMS
from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import PluginError
from pyknnmi.learning.pipeline import Pipeline
from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.spec import Spec
from pyknnmi.protocols.transforms import Transform
from pyknnmi.protocols.wrappers import Wrapper
from pyknnmi.registry.registry import default_registry
from pyknnmi.search.learners import Learner

__all__ = [
    "Check",
    "check_ci_test",
    "check_learner",
    "check_transform",
    "checks_of",
    "example_data",
    "failures",
    "parametrize_with_checks",
]


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
    require(isinstance(test, CITest), f"{test!r} is no CITest")
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
    require(isinstance(learner, Learner), f"{learner!r} is no Learner")
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
    require(isinstance(transform, Transform), f"{transform!r} is no Transform")
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
        found = {name: partial(check, component, data) for name, check in CHECKS_OF_TESTS.items()}
    elif isinstance(component, Learner):
        pipeline = Pipeline(component, Pipeline.parse(f"iamb+{test}").test if component.uses_test else None)
        found = {name: partial(check, pipeline, data) for name, check in CHECKS_OF_LEARNERS.items()}
    elif isinstance(component, Wrapper):
        pipeline = replace(Pipeline.parse(f"iamb+{test}"), wrappers=(component,))
        found = {name: partial(check, pipeline, data) for name, check in CHECKS_OF_LEARNERS.items()}
    elif isinstance(component, Transform):
        found = {name: partial(check, component, data) for name, check in CHECKS_OF_TRANSFORMS.items()}
    else:
        raise PluginError(f"{component!r} is no CITest, Learner, Transform or Wrapper")
    return [
        Check("parameters", component, partial(_parameters, component)),
        *(Check(name, component, without_traces(check, data)) for name, check in found.items()),
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
    require(bool(cls.summary()), f"{cls.__name__} has no docstring: its first line is its summary")
    written = str(component)
    spec = Spec.parse(written)
    require(str(spec) == written, f"the spec {written} is read back as {spec}")
    call = default_registry().with_components(cls, spec, spec.calls[0])
    require(cls.from_call(call) == component, f"{written} makes another component")
    require(copy.copy(component) == component, "a copy is not equal")
    require(hash(component) == hash(cls.from_call(call)), "equal components differ in hash")
    require(str(sent_to_a_worker(component, "component")) == written, "a worker process gets another component")
