"""JSON schemas (draft 2020-12) of the records that a result is written to, made from the fields and their types."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal

from pyknnmi.learning.provenance import Provenance
from pyknnmi.learning.record import FORMAT
from pyknnmi.learning.result import LearnResult

__all__ = ["provenance_schema", "result_schema"]

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def result_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of ``result.json``, as `write_result` writes it."""
    return _record_schema(LearnResult, "Result of pyknnmi.learn")


def provenance_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of ``provenance.json``, as `write_result` writes it.

    Whoever writes a result may add entries, as the command line does.
    """
    return {**_record_schema(Provenance, "Provenance of a result of pyknnmi.learn"), "additionalProperties": True}


def _record_schema(cls: type, title: str) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    _schema(cls, definitions)
    root = definitions.pop(cls.__name__)
    root["properties"] = {"format": {"const": FORMAT}, **root["properties"]}
    root["required"] = ["format", *root["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **root, "$defs": definitions}


def _schema(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _PLAIN:
        return {"type": _PLAIN[annotation]}
    if annotation is type(None):
        return {"type": "null"}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(choice, definitions) for choice in arguments]}
    if dataclasses.is_dataclass(annotation):
        name = typing.cast(type, annotation).__name__
        if name not in definitions:
            hints, fields = typing.get_type_hints(annotation), dataclasses.fields(annotation)
            definitions[name] = {}
            definitions[name] = {
                "type": "object",
                "properties": {field.name: _schema(hints[field.name], definitions) for field in fields},
                "required": [field.name for field in fields],
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{name}"}
    if origin is tuple and arguments[1:] == (...,):
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if origin is tuple:
        items = [_schema(kind, definitions) for kind in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    return {}  # whatever JSON knows
