"""What the commands share: errors in one line, files, progress, plugins' commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from pyknnmi.errors import PyknnmiError, PyknnmiWarning
from pyknnmi.registry import default_registry
from pyknnmi.run import Progress

__all__ = ["Failure", "PluginGroup", "progress_bar", "show_warning", "writing"]


class Failure(click.ClickException):
    """An error for the user: one line, and exit code 2."""

    exit_code = 2


class PluginGroup(click.Group):
    """Turns the package's errors into one line and exit code 2, and lets plugins add commands."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except PyknnmiError as error:
            raise Failure(str(error)) from error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; those of plugins are looked for after the package's own."""
        if cmd_name not in self.commands:
            default_registry().add_commands(self)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        default_registry().add_commands(self)
        return super().list_commands(ctx)


@contextmanager
def writing() -> Iterator[None]:
    """Turn an error of the file system into a `Failure` that names the file."""
    try:
        yield
    except OSError as error:
        raise Failure(f"cannot write '{error.filename}': {error.strerror}") from None


@contextmanager
def progress_bar() -> Iterator[Any]:
    """Yield a progress callback that draws one line on a terminal, or None where there is none."""
    if not sys.stderr.isatty():
        yield None
        return
    start = last = time.monotonic()

    def draw(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < 0.1:
            return
        last = now
        filled = 30 * progress.done // progress.total
        bar = "#" * filled + "-" * (30 - filled)
        click.echo(
            f"\r[{bar}] {progress.done}/{progress.total} columns, {progress.tests} tests, {now - start:.0f} s",
            nl=False,
            err=True,
        )

    try:
        yield draw
    finally:
        click.echo("\r" + " " * 78 + "\r", nl=False, err=True)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: object = None,
) -> None:
    """Print a warning in one line; what the package says itself needs no place in the code."""
    place = "" if issubclass(category, PyknnmiWarning) else f" ({filename}:{lineno})"
    click.echo(f"Warning: {message}{place}", err=True)
