"""What pyknnmi sees of this distribution: two commands."""

from __future__ import annotations

import click

from pyknnmi.components import hookimpl


@hookimpl
def pyknnmi_commands(group: click.Group) -> None:
    """Add the commands that run the experiments and draw their results."""
    from pyknnmi_experiments.commands import experiment, figures

    group.add_command(experiment)
    group.add_command(figures)
