"""The error for a keyword argument that a function does not have, and that may belong into its spec."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyknnmi.errors import ParameterError, did_you_mean
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.spec import Call, Value

__all__ = ["misplaced_argument"]

_IN_A_SPEC = {"wrapper": "{}+iamb+knn-cmi", "test": "iamb+{}", "learner": "{}+knn-cmi", "transform": "{}+iamb+knn-cmi"}


def misplaced_argument(
    function: Callable[..., Any], argument: str, components: Sequence[Component], given: Mapping[str, Any]
) -> ParameterError:
    """Return the error for arguments that a function does not have.

    Parameters
    ----------
    function : callable
    argument : str
        Its argument that takes a spec.
    components : sequence of Component
        What that spec names.
    given : mapping
        The arguments that do not exist, with their values. The error is about the first, the spec in it has all.
    """
    key, value = next(iter(given.items()))
    where = f"{function.__name__} has no argument '{key}'"
    left = {name: _plain(value) for name, value in given.items()}
    taken = [(one, {p.name: left.pop(p.name) for p in one.parameters() if p.name in left}) for one in components]
    owner = next((one for one, own in taken if key in own), None)
    if owner is not None:
        spec = "+".join(_written(one, own) for one, own in taken)
        return ParameterError(f"{where}: it is a parameter of {owner.name}, so write {argument}={spec!r}", key)
    if key in _IN_A_SPEC and isinstance(value, str):
        return ParameterError(
            f"{where}: the {key} is part of the spec, so write {argument}={_IN_A_SPEC[key].format(value)!r}", key
        )
    known = [name for name in inspect.signature(function).parameters if name != "misplaced"]
    return ParameterError(f"{where}{did_you_mean(key, known)} (it has {', '.join(known)})", key)


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python, and anything else as it is."""
    return value.item() if hasattr(value, "item") and np.ndim(value) == 0 else value


def _written(component: Component, extra: Mapping[str, Any]) -> str:
    """Return a component as in a spec, with the parameters that are not at their defaults."""
    values = {parameter.name: getattr(component, parameter.name) for parameter in component.parameters()}
    defaults = {parameter.name: parameter.default for parameter in component.parameters()}
    chosen = {name: value for name, value in values.items() if value != defaults[name]}
    shown = {name: value if isinstance(value, Value) else str(value) for name, value in {**chosen, **extra}.items()}
    return str(Call(component.name, tuple(shown.items())))
