"""The pages of the reference, made from the code: every public name, component, command and file."""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Iterator
from pathlib import Path

import click

from pyknnmi.cli import main
from pyknnmi.learning.exports import DIRECTED_WRITERS, WRITERS
from pyknnmi.protocols.spec import format_value
from pyknnmi.registry import hookspecs
from pyknnmi.registry.registry import KINDS, Registry

DOORS = (
    *("pyknnmi", "pyknnmi.numbers", "pyknnmi.simulate", "pyknnmi.sklearn", "pyknnmi.regression", "pyknnmi.calibration"),
    *("pyknnmi.components", "pyknnmi.commands", "pyknnmi.testing"),
    *("pyknnmi.bridges.causal_learn", "pyknnmi.bridges.pgmpy", "pyknnmi.bridges.dowhy"),
)
OTHER_FILES = {
    "provenance.json": (
        "What was run: spec, seed, hash of the data, versions, constraints, counts, seconds; "
        "`pyknnmi.provenance_schema` describes it."
    ),
    "result.json": "The whole result, which `pyknnmi.read_result` reads back; `pyknnmi.result_schema` describes it.",
}


def doors() -> Iterator[tuple[str, object]]:
    """Yield every public module."""
    for name in DOORS:
        yield name, importlib.import_module(name)


def first_line(thing: object) -> str:
    """Return the first sentence of a docstring, on one line."""
    lines = (inspect.getdoc(thing) or "").split("\n\n")[0].splitlines()
    return " ".join(line.strip() for line in lines).replace("|", r"\|")


def what_it_is(thing: object) -> str:
    """Return what the reference says of a public name."""
    choices = typing.get_args(thing)
    return f"One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else first_line(thing)


def public_names() -> str:
    """Return a table of the names of each door."""
    parts = []
    for door, module in doors():
        parts += [f"## `{door}`", "", first_line(module), "", "| name | what it is |", "|---|---|"]
        for name in module.__all__:
            parts.append(f"| [`{name}`](api.{door}.md) | {what_it_is(getattr(module, name))} |")
        parts.append("")
    return "\n".join(parts)


def components() -> str:
    """Return a section for each built-in component, with its parameters."""
    registry = Registry([])
    parts = []
    for kind in KINDS:
        for cls in registry.components(kind):
            parts += [f"### `{cls.name}`, a {kind}", "", first_line(cls), ""]
            if cls.parameters():
                parts += ["| parameter | default | allowed |", "|---|---|---|"]
                for parameter in cls.parameters():
                    allowed = str(parameter.allowed).replace("|", r"\|")
                    parts.append(f"| `{parameter.name}` | `{format_value(parameter.default)}` | {allowed} |")
                parts.append("")
    return "\n".join(parts)


def hooks() -> str:
    """Return a table of the hooks."""
    parts = ["| hook | what it returns |", "|---|---|"]
    for name, function in inspect.getmembers(hookspecs, inspect.isfunction):
        if name.startswith("pyknnmi_"):
            parts.append(f"| `{name}{inspect.signature(function, eval_str=False)}` | {first_line(function)} |")
    return "\n".join(parts)


def commands() -> str:
    """Return a section for each command, with its options."""
    context = click.Context(main, info_name="pyknnmi")
    parts = []
    for words, command in _commands(main, context, "pyknnmi"):
        parts += [f"### `{words}`", "", (command.help or "").split("\n\n")[0].replace("\n", " "), ""]
        options = [option for option in command.params if isinstance(option, click.Option)]
        if options:
            parts += ["| option | what it does |", "|---|---|"]
            for option in options:
                parts.append(f"| `{'`, `'.join(option.opts + option.secondary_opts)}` | {option.help or ''} |")
            parts.append("")
    return "\n".join(parts)


def _commands(group: click.Group, context: click.Context, words: str) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, click.Context(command, parent=context), f"{words} {name}")
        elif command is not None:
            yield f"{words} {name}", command


def files() -> str:
    """Return a table of the files that a result is written to."""
    written = {name: first_line(write) for name, write in {**WRITERS, **DIRECTED_WRITERS}.items()} | OTHER_FILES
    return "\n".join(["| file | holds |", "|---|---|", *(f"| `{name}` | {says} |" for name, says in written.items())])


def page() -> str:
    """Return the page of the reference."""
    return f"""# Reference

Every public name, component, hook, command and file. What is not here may change without notice.

{public_names()}
## Components

What a spec may name. `pyknnmi describe NAME` shows the whole documentation of one.

{components()}
## Hooks

What a plugin may implement; [Writing a plugin](../plugin_guide.md) shows how.

{hooks()}

## Commands

{commands()}
## Files of a result

`pyknnmi.write_result` and `learn --out` write these into a folder.

{files()}
"""


def door_page(door: str, module: object) -> str:
    """Return the page of one public module, with the documentation of each name that no door before it has."""
    before = [importlib.import_module(name) for name in DOORS[: DOORS.index(door)]]
    earlier = {id(getattr(other, name)) for other in before for name in other.__all__}
    parts = [f"# `{door}`", "", first_line(module), "", "```{eval-rst}", f".. currentmodule:: {door}", ""]
    for name in module.__all__:
        thing = getattr(module, name)
        if inspect.ismodule(thing):
            continue
        if inspect.isclass(thing):
            parts += [f".. autoclass:: {name}", "   :members:", "   :show-inheritance:"]
        else:
            parts.append(f".. autofunction:: {name}" if inspect.isroutine(thing) else f".. autodata:: {name}")
        parts += ["   :no-index:" if id(thing) in earlier else "", ""]
    return "\n".join([*parts, "```", ""])


def write_pages(folder: Path) -> None:
    """Write all pages, those alone that changed."""
    folder.mkdir(exist_ok=True)
    pages = {"reference.md": page(), **{f"api.{door}.md": door_page(door, module) for door, module in doors()}}
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
