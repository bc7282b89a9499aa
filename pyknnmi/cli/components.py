"""Commands that show which components there are, and what a spec makes of them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import click

from pyknnmi.cli.audit import looked_at
from pyknnmi.cli.table import column_options, table_given
from pyknnmi.data.dataset import Missing
from pyknnmi.errors import ParameterError, printable
from pyknnmi.learning.pipeline import Pipeline
from pyknnmi.learning.presets import PRESETS
from pyknnmi.protocols.spec import format_value
from pyknnmi.registry.registry import KINDS, default_registry

__all__ = ["components", "describe", "explain"]

_HEADINGS = {"wrapper": "Wrappers", "transform": "Transforms", "learner": "Learners", "test": "CI tests"}


@click.command()
def components() -> None:
    """List the components that a spec may name, and the presets that may stand for a spec."""
    registry = default_registry()
    for kind in KINDS:
        click.echo(_HEADINGS[kind])
        found = registry.components(kind)
        width = max(len(cls.name) for cls in found)
        for cls in found:
            plugin = registry.plugin_of(cls.name).name
            click.echo(f"  {cls.name:<{width}}  {cls.summary()} [{plugin}]")
    click.echo("Presets")
    width = max(map(len, PRESETS))
    for preset in PRESETS.values():
        click.echo(f"  {preset.name:<{width}}  {preset.summary} [{preset.spec}]")


@click.command()
@click.argument("name")
def describe(name: str) -> None:
    """Show what component NAME does, and its parameters; of a preset, what it stands for."""
    if name in PRESETS:
        click.echo(f"{name}, a preset for {PRESETS[name].spec}\n\n{PRESETS[name].summary}")
        return
    cls = default_registry().get(name)
    click.echo(f"{name}, a {cls.kind} [{default_registry().plugin_of(name).name}]\n")
    click.echo(inspect.getdoc(cls) or "")
    if cls.parameters():
        click.echo("\nIn a spec\n---------")
    defaults = [f"{parameter.name}={format_value(parameter.default)}" for parameter in cls.parameters()]
    for parameter, default in zip(cls.parameters(), defaults, strict=True):
        click.echo(f"{default:<{max(map(len, defaults))}}  {parameter.allowed}")


@click.command()
@click.argument("spec")
@click.option("--data", type=click.Path(path_type=Path), help="A table: say which spec suits it, and why.")
@column_options
def explain(spec: str, data: Path | None, missing: Missing, **options: Any) -> None:
    """Show what SPEC will run, stage by stage, with every parameter."""
    if data is None and (given := table_given(click.get_current_context())):
        raise ParameterError(f"{given[0]} says how a table is read: name the table too (--data)")
    pipeline = Pipeline.parse(spec)
    if pipeline.preset:
        click.echo(f"{pipeline.preset}: {PRESETS[pipeline.preset].summary}\n")
    for stage, component in enumerate(pipeline.components(), start=1):
        click.echo(f"{stage}. {component}\n   {component.summary()}")
    click.echo(f"\nin full: {pipeline}")
    if data is not None:
        _, found, command = looked_at(data, missing, **options)
        click.echo(printable(f"\nfor these data: {command or 'no run'}"))
        for reason in found.reasons:
            click.echo(f"   {reason}")
