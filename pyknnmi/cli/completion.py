"""The command that prints what a shell needs to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from pyknnmi.cli.common import Failure

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what makes SHELL complete commands and options.

    For bash, put this line into ~/.bashrc: eval "$(pyknnmi completion bash)"
    """
    found = get_completion_class(shell)
    try:
        source = found(context.find_root().command, {}, "pyknnmi", "_PYKNNMI_COMPLETE").source() if found else ""
    except RuntimeError as error:  # a bash that is too old
        raise Failure(str(error)) from None
    click.echo(source)
