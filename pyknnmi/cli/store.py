"""Commands about stores of answers."""

from __future__ import annotations

from pathlib import Path

import click

from pyknnmi.search.store import Store

__all__ = ["store"]


@click.group()
def store() -> None:
    """Look into files that keep answers."""


@store.command()
@click.argument("file", type=click.Path(path_type=Path))
def show(file: Path) -> None:
    """List what FILE holds: for each data set and test, how many answers."""
    for summary in Store(file).summaries():
        click.echo(f"data {summary.data[:12]}  {summary.answers} answers\n  {summary.test}")


@store.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """See whether FILE is whole: read every answer, and compare it with its checksum."""
    count = Store(file).check()
    click.echo(f"{count} answers, all whole")
