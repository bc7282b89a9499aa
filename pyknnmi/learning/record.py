"""A result as a JSON record, and back.

Both follow from the fields and types of `LearnResult`, so a field that is added is written and read.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any

from pyknnmi.errors import DataError
from pyknnmi.learning.provenance import Provenance
from pyknnmi.learning.result import LearnResult

__all__ = ["FORMAT", "from_record", "to_record"]

FORMAT = 1
"""The version of the records. It grows when a program that reads the old one would misread the new one."""


def to_record(value: LearnResult | Provenance) -> dict[str, Any]:
    """Return a result, or what it rests on, as a mapping of what JSON knows."""
    return {"format": FORMAT, **_encoded(value)}


def from_record(record: Mapping[str, Any]) -> LearnResult:
    """Return the result that `to_record` made a record of.

    Raises
    ------
    DataError
        A record of another format, or one in which something is missing.
    """
    if record.get("format") != FORMAT:
        raise DataError(
            f"this result has the format {record.get('format')!r}, and this version of pyknnmi reads format {FORMAT}"
        )
    try:
        result: LearnResult = _decoded({key: value for key, value in record.items() if key != "format"}, LearnResult)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"this is no complete result: {error}") from error
    return result


def _encoded(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: _encoded(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _encoded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(inner) for inner in value]
    return value


def _decoded(value: Any, annotation: Any) -> Any:
    """Return a value that was read as JSON in the type that a field is of."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        present = [choice for choice in arguments if choice is not type(None)]
        return None if value is None or len(present) != 1 else _decoded(value, present[0])
    if dataclasses.is_dataclass(annotation):
        hints = typing.get_type_hints(annotation)
        return typing.cast(type, annotation)(**{key: _decoded(inner, hints[key]) for key, inner in value.items()})
    if origin is tuple:
        kinds = arguments[:1] * len(value) if arguments[1:] == (...,) else arguments
        return tuple(_decoded(inner, kind) for inner, kind in zip(value, kinds, strict=True))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _decoded(inner, arguments[1]) for key, inner in value.items()}
    return float(value) if annotation is float else value
