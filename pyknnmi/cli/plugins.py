"""Commands about plugins: list them, check one, start one."""

from __future__ import annotations

import importlib.metadata
import json
import warnings
from pathlib import Path

import click

from pyknnmi.cli.common import Failure, writing
from pyknnmi.conformance.kit import checks_of, failures
from pyknnmi.errors import PyknnmiError, PyknnmiWarning, UnknownNameError, did_you_mean
from pyknnmi.registry.hookspecs import PROJECT, unmarked_hooks
from pyknnmi.registry.registry import Plugin, Registry, default_registry
from pyknnmi.registry.scaffold import new_plugin

__all__ = ["plugins"]


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def plugins(context: click.Context, as_json: bool) -> None:
    """List the plugins, what they bring, and why one was skipped."""
    if context.invoked_subcommand:
        return
    registry = _registry()
    if as_json:
        click.echo(json.dumps([vars(plugin) for plugin in registry.plugins()], indent=2))
        return
    for plugin in registry.plugins():
        click.echo(f"{plugin.name} {plugin.version}".rstrip())
        skipped = f"skipped: {plugin.problem}"
        click.echo(f"  {skipped if plugin.problem else ', '.join(plugin.components)}")
    for clash in registry.clashes():
        click.echo(f"clash: {clash}")


@plugins.command()
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Check every plugin, the built-in one too.")
def check(name: str | None, everything: bool) -> None:
    """Run the conformance kit on the components of plugin NAME, with their default parameters.

    Hooks that are not marked with pyknnmi.components.hookimpl fail, too: they bring nothing.
    """
    registry = _registry()
    found = {plugin.name: plugin for plugin in registry.plugins()}
    if everything is (name is not None):
        raise Failure("name one plugin, or give --all")
    if name is not None and name not in found:
        raise UnknownNameError(f"there is no plugin '{name}'{did_you_mean(name, found)} (there are {', '.join(found)})")
    problems = [_check(registry, plugin) for plugin in found.values() if everything or plugin.name == name]
    if any(problems):
        raise Failure("some components do not keep the contract")


def _check(registry: Registry, plugin: Plugin) -> int:
    """Print what the kit finds in a plugin, and each hook without its mark; return how many failed."""
    if plugin.problem:
        click.echo(f"{plugin.name}: skipped: {plugin.problem}")
        return 1
    failed = 0
    width = max((len(component) for component in plugin.components), default=0)
    for component in plugin.components:
        if missing := _missing_packages(registry, component):
            click.echo(f"{plugin.name}  {component:<{width}}  not checked: it needs {', '.join(missing)}")
            continue
        problems = _problems(registry, component)
        for verdict in [f"FAILED {problem}" for problem in problems] or ["ok"]:
            click.echo(f"{plugin.name}  {component:<{width}}  {verdict}")
        failed += bool(problems)
    for entry in importlib.metadata.entry_points(group=PROJECT, name=plugin.name):
        for hook in unmarked_hooks(entry.load()):
            click.echo(f"{plugin.name}  {hook}  FAILED: it is never called: put @pyknnmi.components.hookimpl before it")
            failed += 1
    return failed


def _missing_packages(registry: Registry, component: str) -> list[str]:
    """Return the packages that a component needs and that are not installed."""
    installed = {distribution.metadata["Name"] for distribution in importlib.metadata.distributions()}
    return [name for name in registry.get(component).distributions if name not in installed]


def _problems(registry: Registry, component: str) -> list[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PyknnmiWarning)
            return failures(checks_of(registry.get(component)()))
    except PyknnmiError as error:
        return [f"parameters: {error}"]


@plugins.command()
@click.argument("name")
@click.option("--in", "parent", type=click.Path(path_type=Path), default=Path(), help="Where; default here.")
def new(name: str, parent: Path) -> None:
    """Start a plugin project pyknnmi-NAME: a test, a learner, and their tests."""
    with writing():
        folder = new_plugin(name, parent)
    click.echo(f"wrote {folder}; next:\n  cd {folder}\n  pip install -e '.[test]'\n  pytest\n  pyknnmi components")


def _registry() -> Registry:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PyknnmiWarning)  # the commands here say why a plugin was skipped
        return default_registry()
