"""Every error and warning that pyknnmi raises on purpose."""

from __future__ import annotations

import difflib
import inspect
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = [
    "DataError",
    "DataTypeError",
    "MissingPackageError",
    "ParameterError",
    "PluginError",
    "PyknnmiError",
    "PyknnmiWarning",
    "SpecError",
    "StoppedError",
    "UnknownNameError",
    "warn",
    "without_warnings",
]

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


_MOST_SHOWN = 160


class PyknnmiError(Exception):
    """Base of all errors of this package."""

    is_placed = False
    """Whether it is settled which component raised it; the message of one of a plugin then begins with its name."""


class DataError(PyknnmiError, ValueError):
    """The data hold something that no method here can use."""


class IdentifierError(DataError):
    """A column of texts that are no categories, as names and remarks are."""


class DataTypeError(PyknnmiError, TypeError):
    """The data are of a type that is not numbers."""


class ParameterError(PyknnmiError, ValueError):
    """A parameter that does not exist, or a value out of its range.

    Attributes
    ----------
    parameter : str
        Its name; empty where the message is about several.
    """

    def __init__(self, problem: str, parameter: str = "") -> None:
        super().__init__(problem)
        self.parameter = parameter


class MissingPackageError(PyknnmiError, ImportError):
    """Another package is needed and is not there, or has a version that is not known to work."""


class UnknownNameError(PyknnmiError, LookupError):
    """A name of a column, node or component that does not exist."""


class PluginError(PyknnmiError, RuntimeError):
    """A component broke the contract, or two of them claim one name."""

    @classmethod
    def of(cls, where: str, problem: str) -> PluginError:
        """Return an error whose message begins with the component and what it was doing."""
        error = cls(f"{where}: {problem}")
        error.is_placed = True
        return error


class StoppedError(PyknnmiError, RuntimeError):
    """The run was stopped before it was done."""


class Terminated(SystemExit):
    """A signal ends the program: no component's error."""


class SpecError(PyknnmiError, ValueError):
    """A spec string that cannot be read, with the place marked.

    Parameters
    ----------
    problem : str
        What is wrong and what is allowed, in one sentence.
    text : str
        The whole spec string.
    position : int
        Index into `text` of the offending character.
    """

    def __init__(self, problem: str, text: str, position: int) -> None:
        super().__init__(f"{problem}\n  {text}\n  {' ' * position}^")
        self.problem = problem
        self.text = text
        self.position = position

    def __reduce__(self) -> tuple[type[SpecError], tuple[str, str, int], dict[str, object]]:
        return type(self), (self.problem, self.text, self.position), {**self.__dict__, "args": self.args}


class PyknnmiWarning(UserWarning):
    """The answer is given, and there is a reason to doubt it."""


_collecting: ContextVar[tuple[list[str], ...]] = ContextVar("collecting", default=())
_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the messages of `warn` within the block, each once, in a list. They are shown as ever."""
    messages: list[str] = []
    token = _collecting.set((*_collecting.get(), messages))
    try:
        yield messages
    finally:
        _collecting.reset(token)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Let `warn` be silent within the block: for work on data that the user did not give and cannot change."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def is_silent() -> bool:
    """Return whether `warn` is silent here."""
    return _silent.get()


def described(error: BaseException) -> str:
    """Return the type and the message of a stranger's exception, as text that does nothing to a terminal."""
    message = message_of(error)
    return f"{printable(type(error).__name__)}: {message}" if message else printable(type(error).__name__)


def message_of(error: BaseException) -> str:
    """Return the message of a stranger's exception, as text that does nothing to a terminal."""
    try:
        return printable(str(error))
    except Exception:  # whatever a stranger's __str__ raises
        return "its message cannot be shown"


def shown(value: object) -> str:
    """Return what a stranger returned for a message: in one line, and not longer than a line or two."""
    try:
        text = " ".join(printable(repr(value)).split())
    except Exception:  # whatever a stranger's __repr__ raises; Python's own for numbers of thousands of digits
        return f"an object of type {printable(type(value).__name__)}"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def printable(text: str) -> str:
    """Return text in which control characters and half characters stand as escapes; line feeds and tabs stay.

    Those that turn the direction of writing would let a name change how the text after it reads.
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def warn(message: str) -> None:
    """Warn with a `PyknnmiWarning`, at the line of the caller's own code that led here."""
    if is_silent():
        return
    for messages in _collecting.get():
        if message not in messages:
            messages.append(message)
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("pyknnmi"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, PyknnmiWarning, stacklevel=level + 1)


def check_choice(parameter: str, given: object, choices: tuple[str, ...], where: str = "") -> None:
    """Raise a `ParameterError` unless `given` is one of `choices`; `where` comes first in its message."""
    if not isinstance(given, str) or given not in choices:
        raise ParameterError(f"{where}{parameter} = {given!r} must be one of {', '.join(choices)}", parameter)


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a clause that suggests the nearest of `choices`, or an empty string."""
    near = difflib.get_close_matches(word, list(choices), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
