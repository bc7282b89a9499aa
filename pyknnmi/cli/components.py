"""Commands that show which components and plugins there are."""

from __future__ import annotations

import inspect
import json
import warnings

import click

from pyknnmi.errors import PyknnmiWarning
from pyknnmi.pipeline import Pipeline
from pyknnmi.registry import KINDS, default_registry
from pyknnmi.spec import format_value

__all__ = ["components", "describe", "explain", "plugins"]

_HEADINGS = {"transform": "Transforms", "learner": "Learners", "test": "CI tests"}


@click.command()
def components() -> None:
    """List the components that a spec may name."""
    registry = default_registry()
    for kind in KINDS:
        click.echo(_HEADINGS[kind])
        found = registry.components(kind)
        width = max(len(cls.name) for cls in found)
        for cls in found:
            plugin = registry.plugin_of(cls.name).name
            click.echo(f"  {cls.name:<{width}}  {cls.summary()} [{plugin}]")


@click.command()
@click.argument("name")
def describe(name: str) -> None:
    """Show what component NAME does, and its parameters."""
    cls = default_registry().get(name)
    click.echo(f"{name}, a {cls.kind} [{default_registry().plugin_of(name).name}]\n")
    click.echo(inspect.getdoc(cls) or "")
    if cls.parameters():
        click.echo("\nIn a spec\n---------")
    for parameter in cls.parameters():
        default = format_value(parameter.default)
        click.echo(f"{parameter.name}={default}    {parameter.allowed}")


@click.command()
@click.argument("spec")
def explain(spec: str) -> None:
    """Show what SPEC will run, stage by stage, with every parameter."""
    pipeline = Pipeline.parse(spec)
    for stage, component in enumerate(pipeline.components(), start=1):
        click.echo(f"{stage}. {component}\n   {component.summary()}")
    click.echo(f"\nin full: {pipeline}")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plugins(as_json: bool) -> None:
    """List the plugins, what they bring, and why one was skipped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PyknnmiWarning)  # told below
        found = default_registry().plugins()
    if as_json:
        click.echo(json.dumps([vars(plugin) for plugin in found], indent=2))
        return
    for plugin in found:
        click.echo(f"{plugin.name} {plugin.version}".rstrip())
        skipped = f"skipped: {plugin.problem}"
        click.echo(f"  {skipped if plugin.problem else ', '.join(plugin.components)}")
