"""The command that looks at a table before anything is tested."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pyknnmi.auditing import audited
from pyknnmi.data.dataset import Missing
from pyknnmi.data.reading import read_table

__all__ = ["audit"]


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--missing",
    type=click.Choice(["drop", "drop-per-test"]),
    default="drop-per-test",
    show_default=True,
    help="Rows with missing values: left out, or kept.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def audit(data: Path, missing: Missing, as_json: bool) -> None:
    """Show what DATA look like, what follows for a graph, and which spec suits them. Nothing is tested or changed."""
    found = audited(read_table(data, missing))
    click.echo(json.dumps(found.record(), indent=2, ensure_ascii=False) if as_json else str(found))
