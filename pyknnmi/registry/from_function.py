"""A plain function becomes a component."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import typing
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from pyknnmi.data.columns import Values
from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import PluginError, UnknownNameError, shown, warn
from pyknnmi.protocols.ci_tests import BoundTest, CIResult, CITest
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.learned_graph import LearnedGraph
from pyknnmi.protocols.spec import Value
from pyknnmi.protocols.transforms import Transform
from pyknnmi.run import Run
from pyknnmi.search.contract import number
from pyknnmi.search.learners import Learner
from pyknnmi.search.tester import Tester

__all__ = ["component_from_function"]

_ARGUMENTS = {"test": ("x", "y", "z"), "learner": ("dataset", "tester"), "transform": ("column",)}


def component_from_function(
    kind: str, name: str, function: Callable[..., Any]
) -> type[CITest] | type[Learner] | type[Transform]:
    """Return a component class that calls `function`.

    Parameters
    ----------
    kind : {"test", "learner", "transform"}
        A test is ``f(x, y, z)`` on arrays of shape (n,), (n,) and (n, d), and returns a p-value, a pair (statistic,
        p-value) whose statistic grows with dependence, or a `CIResult`. A learner is ``f(dataset, tester)``, and
        returns edges as pairs of column names. A transform is ``f(column)`` on an array of shape (n,), and
        returns the new column.
    name : str
        Its name in specs.
    function : callable
        Keyword-only arguments with defaults become its parameters. A test also gets ``alpha``, 0.05, unless it
        has its own.

    Raises
    ------
    PluginError
        A function that cannot be called in this way, or whose parameters cannot be written in a spec.
    """
    base = {"test": _FunctionTest, "learner": _FunctionLearner, "transform": _FunctionTransform}[kind]
    fields: list[tuple[str, Any, Any]] = []
    for parameter in _signature(kind, name, function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            if parameter.name in {*dir(base), "name", "function", "own"}:
                raise PluginError(f"{name}: a parameter cannot be called '{parameter.name}': choose another name")
            if not isinstance(parameter.default, Value | Real):
                raise PluginError(
                    f"{name}: the default of '{parameter.name}' is {parameter.default!r}: give a number, a boolean, "
                    "text or None"
                )
            annotated = parameter.annotation is not parameter.empty
            annotation = parameter.annotation if annotated else type(parameter.default)
            fields.append((parameter.name, annotation, parameter.default))
    own = frozenset(field[0] for field in fields)
    plain = function.func if isinstance(function, functools.partial) else function
    if kind == "test" and "alpha" not in own:
        fields.append(("alpha", float, 0.05))
    cls = dataclasses.make_dataclass(
        "".join(word.capitalize() for word in name.split("-")),
        [(key, hint, dataclasses.field(default=default)) for key, hint, default in fields],
        bases=(base,),
        namespace={
            "name": name,
            "function": staticmethod(function),
            "own": own,
            "__doc__": inspect.getdoc(plain) or f"The function {getattr(plain, '__qualname__', name)}.",
        },
        frozen=True,
        kw_only=True,
        eq=False,  # the base compares what the class was made from
    )
    cls.__module__ = plain.__module__
    return typing.cast(type[CITest], cls)


def _signature(kind: str, name: str, function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function that can be called as its kind is, and takes nothing else by position."""
    arguments = _ARGUMENTS[kind]
    form = f"a {kind} is a function f({', '.join(arguments)})"
    try:
        signature = inspect.signature(function, eval_str=True)
    except (TypeError, ValueError) as error:  # not callable, or written in C
        raise PluginError(f"{name}: {form}; wrap it in one: {error}") from None
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise PluginError(f"{name}: give the argument '{parameter.name}' a default")
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise PluginError(f"{name}: {form}; this one is f{signature}: {error}") from None
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [parameter.name for parameter in signature.parameters.values() if parameter.kind in by_position]
    if kept := positional[len(arguments) :]:
        warn(f"{name}: {', '.join(kept)} will always have the default: put it after '*' to make it a parameter")
    return signature


_SMALLEST = math.ulp(0.0)
"""The smallest double above zero, for the logarithm of p-values that underflow."""


class _FunctionComponent(Component):
    function: ClassVar[Callable[..., Any]]
    own: ClassVar[frozenset[str]]

    def call(self, *arguments: Any) -> Any:
        return self.function(*arguments, **{name: getattr(self, name) for name in self.own})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the class is made from: a class that was made while running cannot be found by its name."""
        values = {parameter.name: getattr(self, parameter.name) for parameter in self.parameters()}
        return _rebuilt, (self.kind, self.name, self.function, values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _FunctionComponent) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(str(self))


def _rebuilt(kind: str, name: str, function: Callable[..., Any], values: dict[str, Value]) -> Component:
    return component_from_function(kind, name, function)(**values)


class _FunctionTest(_FunctionComponent, CITest):
    alpha: ClassVar[Any]  # a field of every subclass

    def check(self) -> None:
        self.require(not isinstance(self.alpha, float) or 0 < self.alpha < 1, "alpha", "between 0 and 1")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        return _BoundFunction(self, dataset)


class _BoundFunction(BoundTest):
    def __init__(self, component: _FunctionTest, dataset: Dataset) -> None:
        self._component = component
        self._values = dataset.values

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        values = self._values
        answer = self._component.call(values[:, x], values[:, y], values[:, list(z)])
        if isinstance(answer, CIResult):
            return answer
        is_pair = isinstance(answer, tuple) and len(answer) == 2
        p_value = answer[1] if is_pair else answer
        p = number(p_value)  # None if it is no number: the check of answers refuses it, and names the columns
        alpha: float = self._component.alpha
        return CIResult(
            statistic=answer[0] if is_pair else -math.log(max(p or 0.0, _SMALLEST)),
            p_value=p_value,
            independent=p is None or not p < alpha,
            n=len(values),
            decided_by=self._component.name,
        )


class _FunctionLearner(_FunctionComponent, Learner):
    def learn(self, dataset: Dataset, tester: Tester, run: Run) -> LearnedGraph:
        edges: Iterable[tuple[str, str]] = self.call(dataset, tester)
        try:
            return LearnedGraph([(dataset.column(a), dataset.column(b)) for a, b in edges])
        except (TypeError, ValueError, UnknownNameError) as error:
            raise PluginError(f"it returned {shown(edges)}, not pairs of column names: {error}") from error


class _FunctionTransform(_FunctionComponent, Transform):
    def apply(self, dataset: Dataset) -> Dataset:
        columns = [self._column(name, column) for name, column in zip(dataset.names, dataset.values.T, strict=True)]
        # the contract of transforms refuses values that it made missing
        return Dataset(np.column_stack(columns), dataset.names, has_missing=True)

    def _column(self, name: str, column: Values) -> Values:
        given = self.call(column)
        array: Any = np.ma.asarray(given)
        if array.shape != column.shape or array.dtype.kind not in "fiub":
            raise PluginError(f"of column '{name}' it returned {shown(given)}, not an array of {len(column)} numbers")
        return np.asarray(array.astype(np.float64).filled(np.nan))
