"""Spec strings: a pipeline written in one line, such as ``iamb(rule=or)+knn-cmi(k=5)``.

::

    spec      = component { "+" component }
    component = name [ "(" [ identifier "=" value { "," identifier "=" value } ] ")" ]
    value     = number | true | false | none | word | 'string' | component

This module knows the grammar and nothing of which components exist.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NoReturn

from pyknnmi.errors import SpecError

__all__ = ["Call", "Spec", "Value", "format_value"]

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*(?![A-Za-z0-9_])")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?(?![A-Za-z0-9_.])")
_STRING = re.compile(r"'((?:[^']|'')*)'")
_CONSTANTS: dict[str, Value] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Call:
    """One component of a spec: its name and the parameters that were written.

    `positions` says where in the spec's text the name (key ``""``) and each parameter stand, for errors.
    """

    name: str
    arguments: tuple[tuple[str, Value], ...] = ()
    positions: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        if not self.arguments:
            return self.name
        return f"{self.name}({','.join(f'{k}={format_value(v)}' for k, v in self.arguments)})"


Value = bool | int | float | str | Call | None


@dataclass(frozen=True)
class Spec:
    """A parsed spec string.

    Examples
    --------
    >>> spec = Spec.parse("nonparanormal + iamb + knn-cmi(k=5, alpha=1e-2)")
    >>> str(spec)
    'nonparanormal+iamb+knn-cmi(k=5,alpha=0.01)'
    >>> Spec.parse(str(spec)) == spec
    True
    """

    calls: tuple[Call, ...]
    text: str = field(default="", compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Return `text` as a `Spec`, or raise `SpecError` with the place marked."""
        return _Parser(text).spec()

    def __str__(self) -> str:
        return "+".join(map(str, self.calls))

    def error(self, problem: str, call: Call, parameter: str = "") -> SpecError:
        """Return an error that points at a component of this spec, or at one of its parameters."""
        text = self.text or str(self)
        return SpecError(problem, text, call.positions.get(parameter, 0))


def format_value(value: Value) -> str:
    """Return a value as it is written in a spec."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str):
        return str(value)
    if _NAME.fullmatch(value) and value not in _CONSTANTS:
        return value
    return "'" + value.replace("'", "''") + "'"


class _Parser:
    """Reads from left to right; what is expected next decides how a character is taken, so ``1e+3`` is safe."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def spec(self) -> Spec:
        calls = [self.call()]
        while not self.at_end():
            self.expect("+", "expected '+' and another component, or the end")
            calls.append(self.call())
        return Spec(tuple(calls), self.text)

    def call(self) -> Call:
        positions = {"": self.skip_space()}
        name = self.match(_NAME, "expected a component's name (lower case, words joined by '-')")
        arguments: dict[str, Value] = {}
        if self.accept("("):
            while not self.accept(")"):
                if arguments:
                    self.expect(",", "expected ',' or ')'")
                place = self.skip_space()
                key = self.match(_IDENTIFIER, "expected a parameter's name, as in k=3")
                if key in arguments:
                    raise SpecError(f"'{key}' is given twice", self.text, place)
                self.expect("=", f"expected '=' and a value after '{key}', as in k=3")
                positions[key] = place
                arguments[key] = self.value()
        return Call(name, tuple(arguments.items()), positions)

    def value(self) -> Value:
        start = self.skip_space()
        if found := _STRING.match(self.text, start):
            self.position = found.end()
            return found[1].replace("''", "'")
        if found := _NUMBER.match(self.text, start):
            self.position = found.end()
            number = found[0]
            if math.isinf(float(number)):
                self.fail("this number is too large", start)
            return float(number) if re.search(r"[.eE]", number) else int(number)
        word = self.match(
            _NAME,
            "expected a value: a number, true, false, none, a lower-case word, or text in single quotes",
        )
        if self.text.startswith("(", self.skip_space()):
            self.position = start
            return self.call()
        return _CONSTANTS.get(word, word)

    def skip_space(self) -> int:
        while not self.at_end_of_text() and self.text[self.position].isspace():
            self.position += 1
        return self.position

    def at_end_of_text(self) -> bool:
        return self.position >= len(self.text)

    def at_end(self) -> bool:
        self.skip_space()
        return self.at_end_of_text()

    def accept(self, symbol: str) -> bool:
        self.skip_space()
        if self.text.startswith(symbol, self.position):
            self.position += len(symbol)
            return True
        return False

    def expect(self, symbol: str, problem: str) -> None:
        if not self.accept(symbol):
            self.fail(problem, self.position)

    def match(self, pattern: re.Pattern[str], problem: str) -> str:
        found = pattern.match(self.text, self.skip_space())
        if not found:
            self.fail(problem, self.position)
        self.position = found.end()
        return found[0]

    def fail(self, problem: str, position: int) -> NoReturn:
        raise SpecError(problem, self.text, position)
