"""The command line."""

from __future__ import annotations

import click

from pyknnmi.cli.calibrate import calibrate
from pyknnmi.cli.common import PluginGroup
from pyknnmi.cli.components import components, describe, explain
from pyknnmi.cli.learn import demo, learn, test
from pyknnmi.cli.plugins import plugins
from pyknnmi.cli.simulate import simulate
from pyknnmi.cli.store import store

__all__ = ["main"]


@click.group(cls=PluginGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pyknnmi")
def main() -> None:
    """Learn which variables depend on which, without assuming a distribution."""


for command in (calibrate, components, demo, describe, explain, learn, plugins, simulate, store, test):
    main.add_command(command)
