"""The hooks through which components come in; the built-in ones use them too.

A distribution offers a module with functions of these names, marked with `hookimpl`, under the entry-point group
``pyknnmi``.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pluggy

from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.protocols.transforms import Transform
from pyknnmi.protocols.wrappers import Wrapper
from pyknnmi.search.learners import Learner

if TYPE_CHECKING:
    import click

__all__ = ["PROJECT", "hookimpl", "unmarked_hooks"]

PROJECT = "pyknnmi"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def pyknnmi_ci_tests() -> Iterable[type[CITest]]:  # type: ignore[empty-body]
    """Return the CI tests that this plugin brings."""


@hookspec
def pyknnmi_learners() -> Iterable[type[Learner]]:  # type: ignore[empty-body]
    """Return the learners that this plugin brings."""


@hookspec
def pyknnmi_transforms() -> Iterable[type[Transform]]:  # type: ignore[empty-body]
    """Return the transforms that this plugin brings."""


@hookspec
def pyknnmi_wrappers() -> Iterable[type[Wrapper]]:  # type: ignore[empty-body]
    """Return the wrappers that this plugin brings."""


@hookspec
def pyknnmi_commands(group: click.Group) -> None:
    """Add commands to the command line ``pyknnmi``."""


def unmarked_hooks(module: Any) -> list[str]:
    """Return the functions of a plugin that have a hook's name and not its mark: nothing ever calls them."""
    functions = inspect.getmembers(module, inspect.isfunction)
    return [name for name, function in functions if name.startswith("pyknnmi_") and not _is_marked(function)]


def _is_marked(function: Any) -> bool:
    return hasattr(function, f"{PROJECT}_impl")  # what pluggy's marker sets
