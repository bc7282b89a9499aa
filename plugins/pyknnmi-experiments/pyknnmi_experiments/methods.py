"""The methods that an experiment compares: specs, with names for the table and the figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pyknnmi import ParameterError, Pipeline

__all__ = ["Method", "parse_methods"]

_SEPARATOR = re.compile(r";(?=(?:[^']*'[^']*')*[^']*$)")  # outside of quotes
_NAMED = re.compile(r"\s*([^\s=(+']+)\s*=(.*)", re.DOTALL)  # a bare spec has no '=' before its first '('


@dataclass(frozen=True)
class Method:
    """A pipeline with a name.

    Attributes
    ----------
    name : str
    pipeline : Pipeline
    """

    name: str
    pipeline: Pipeline

    @property
    def spec(self) -> str:
        """The pipeline with every parameter written out."""
        return str(self.pipeline)


def parse_methods(texts: Iterable[str]) -> tuple[Method, ...]:
    """Return the methods that these texts list.

    Parameters
    ----------
    texts : iterable of str
        Each holds one or more specs, separated by semicolons. A spec may be given a name, ``name=spec``; without one
        it is called by its text.

    Raises
    ------
    SpecError
        A spec that cannot be read.
    ParameterError
        No method, or two of one name.

    Examples
    --------
    >>> [method.name for method in parse_methods(["iamb+fisher-z; or = iamb(rule=or)+fisher-z"])]
    ['iamb+fisher-z', 'or']
    """
    methods: dict[str, Method] = {}
    for text in _SEPARATOR.split(";".join(texts)):
        if not text.strip():
            continue
        named = _NAMED.fullmatch(text)
        name, spec = named.groups() if named else ("".join(text.split()), text)
        if name in methods:
            raise ParameterError(f"two methods are called '{name}': give one another name, as in name=spec", "methods")
        methods[name] = Method(name, Pipeline.parse(spec.strip()))
    if not methods:
        raise ParameterError("no method is given: give specs separated by semicolons", "methods")
    return tuple(methods.values())
