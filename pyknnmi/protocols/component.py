"""What CI tests, learners and transforms have in common: a name and typed parameters."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import numbers
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar

from pyknnmi.data.columns import Kind
from pyknnmi.errors import (
    ParameterError,
    PluginError,
    PyknnmiError,
    PyknnmiWarning,
    StoppedError,
    Terminated,
    described,
    did_you_mean,
    message_of,
)
from pyknnmi.protocols.spec import Call, Value, format_value
from pyknnmi.protocols.strangers import global_state_kept, interrupts_told_apart
from pyknnmi.run import ProgressError

__all__ = ["Component", "Parameter", "guarded"]

T = TypeVar("T")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a component, as a spec string and `describe` see it."""

    name: str
    annotation: Any
    default: Value

    @property
    def component(self) -> type[Component] | None:
        """The base of the components that it takes as values; None if it takes none."""
        annotation = self.annotation
        return annotation if isinstance(annotation, type) and issubclass(annotation, Component) else None

    @property
    def allowed(self) -> str:
        """The values it takes, in words."""
        return _allowed(self.annotation)


class Component:
    """Base of every component: a frozen, keyword-only dataclass whose fields are its parameters.

    A subclass sets `name`, has a default for every field, and may check ranges in `check`. Fields are of type
    bool, int, float, str, `Literal` of words, one of these or None, or a base of components; values are checked against
    them.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    distributions: ClassVar[tuple[str, ...]] = ()
    """Packages that do the work: their versions are recorded, and a store looks at them."""

    def __post_init__(self) -> None:
        for parameter in self.parameters():
            given = getattr(self, parameter.name)
            try:
                value = _typed(given, parameter.annotation)
            except TypeError:
                raise self.parameter_error(parameter.name, f"must be {parameter.allowed}") from None
            object.__setattr__(self, parameter.name, value)
        self.check()

    def accepts(self, kind: Kind) -> bool:
        """Return whether columns of this kind can be used: numbers only, unless overridden."""
        return kind == "continuous"

    def check(self) -> None:
        """Raise `ParameterError` if a parameter is out of its range. Does nothing unless overridden."""

    def require(self, holds: bool, parameter: str, range_: str) -> None:
        """Raise a `ParameterError` that says the range, unless it holds. For use in `check`."""
        if not holds:
            raise self.parameter_error(parameter, f"must be {range_}")

    def parameter_error(self, parameter: str, problem: str) -> ParameterError:
        """Return the error for a bad value of a parameter."""
        given = getattr(self, parameter)
        shown = format_value(given) if isinstance(given, Value) else repr(given)
        return ParameterError(f"{self.name}: {parameter} = {shown} {problem}", parameter)

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the parameters in the order of the fields."""
        return _parameters_of(cls)  # type: ignore[arg-type]  # mypy takes the hash of a component for its class's

    @classmethod
    def from_call(cls, call: Call) -> Self:
        """Return the component with the parameters of a parsed spec."""
        known = [parameter.name for parameter in cls.parameters()]
        for key, _ in call.arguments:
            if key not in known:
                raise ParameterError(
                    f"{cls.name} has no parameter '{key}'{did_you_mean(key, known)} "
                    f"(it has {', '.join(known) or 'none'})",
                    key,
                )
        return cls(**dict(call.arguments))

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the docstring."""
        return (inspect.getdoc(cls) or "").partition("\n")[0]

    def __str__(self) -> str:
        arguments = tuple((p.name, getattr(self, p.name)) for p in self.parameters())
        return str(Call(self.name, arguments))

    @classmethod
    def verify(cls) -> None:
        """Raise `PluginError` unless the class keeps the contract of a component."""
        where = f"{cls.__module__}.{cls.__qualname__}"
        name = getattr(cls, "name", None)
        if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
            raise PluginError(f"{where}: name = {name!r}: give a lower-case name, words joined by '-'")
        settings = getattr(cls, "__dataclass_params__", None)
        if settings is None or not settings.frozen or "__dataclass_fields__" not in vars(cls):
            raise PluginError(f"{where}: decorate it with @dataclass(frozen=True, kw_only=True)")
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            if field.default is dataclasses.MISSING or not field.kw_only:
                raise PluginError(f"{where}: give field '{field.name}' a default, keyword-only")
        for parameter in cls.parameters():
            if not re.fullmatch(r"[a-z][a-z0-9_]*", parameter.name):
                raise PluginError(f"{where}: no spec can set '{parameter.name}': give it a lower-case name")
            try:
                _typed(parameter.default, parameter.annotation)
            except TypeError:
                raise PluginError(f"{where}: the default of '{parameter.name}' is not {parameter.allowed}") from None
        cls()


@functools.cache  # types are read from their text, which takes as long as a small test
def _parameters_of(cls: type[Component]) -> tuple[Parameter, ...]:
    hints = typing.get_type_hints(cls)
    return tuple(
        Parameter(field.name, hints[field.name], typing.cast(Value, field.default))
        for field in dataclasses.fields(cls)  # type: ignore[arg-type]
    )


def _typed(value: Any, annotation: Any) -> Value:
    """Return `value` as the annotated type, or raise TypeError. A whole number will do for a float."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        for choice in typing.get_args(annotation):
            try:
                return _typed(value, choice)
            except TypeError:
                continue
        raise TypeError
    if origin is Literal:
        if value in typing.get_args(annotation):
            return typing.cast(Value, value)
        raise TypeError
    if annotation in (None, type(None)) and value is None:
        return None
    if annotation is bool and isinstance(value, bool):
        return value
    if isinstance(value, bool):
        raise TypeError
    if annotation is int and isinstance(value, numbers.Integral):
        return int(value)
    if annotation is float and isinstance(value, numbers.Real) and math.isfinite(value):
        return float(value)
    if annotation is str and isinstance(value, str):
        return value
    if isinstance(value, Component) and isinstance(annotation, type) and isinstance(value, annotation):
        return typing.cast(Value, value)
    raise TypeError


def _allowed(annotation: Any) -> str:
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_allowed(choice) for choice in typing.get_args(annotation))
    if origin is Literal:
        return f"one of {', '.join(map(format_value, typing.get_args(annotation)))}"
    if annotation in (None, type(None)):
        return "none"
    if isinstance(annotation, type) and issubclass(annotation, Component):
        return f"a component, a {annotation.kind}"
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return words.get(annotation, str(annotation))


def is_own(component: Component) -> bool:
    """Return whether a component ships with this package."""
    return str(type(component).__module__).startswith("pyknnmi.")


def guarded(component: Component, doing: str | Callable[[], str], call: Callable[[], T]) -> T:
    """Return call(), and report an exception of a plugin with the component that raised it and what it was doing.

    An error of ours that a plugin raises, such as a `DataError`, keeps its type.

    Changes that it makes to the state of the whole process are taken back, as far as no other thread may have made
    them. `doing` may be a function that returns the text, for calls that are made often.
    """

    def where() -> str:
        return f"{component.name}: {doing if isinstance(doing, str) else doing()}"

    try:
        if is_own(component):
            return call()
        with global_state_kept(), interrupts_told_apart(where):
            return call()
    except (PyknnmiWarning, KeyboardInterrupt, Terminated):
        raise  # the first where warnings are made errors
    except PyknnmiError as error:
        if not error.is_placed and not isinstance(error, StoppedError | ProgressError):
            error.is_placed = True  # the innermost component is the one to name
            if not is_own(component):
                error.args = (f"{where()}: {message_of(error)}",)
        raise
    except BaseException as error:  # SystemExit of a stranger must not end the run without a word
        raise PluginError.of(where(), described(error)) from error
