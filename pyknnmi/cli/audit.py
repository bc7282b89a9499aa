"""The command that looks at a table before anything is tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pyknnmi.auditing import audited
from pyknnmi.cli.table import column_options, read_as, read_as_given
from pyknnmi.data.dataset import Missing
from pyknnmi.errors import printable

__all__ = ["audit"]


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@column_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def audit(data: Path, missing: Missing, as_json: bool, **options: Any) -> None:
    """Show what DATA look like, what follows for a graph, and which spec suits them. Nothing is tested or changed.

    First comes what each column was read as. Rows with missing values are kept unless --missing says otherwise.
    """
    table = read_as(data, **options)
    found = audited(table.dataset("drop-per-test" if missing == "raise" else missing))
    command = found.command(str(data), read_as_given(click.get_current_context()))
    if as_json:
        columns = [column.record() for column in table.columns]
        record = {"columns_read": columns, "left_out": list(table.left_out), **found.record(), "command": command}
        click.echo(json.dumps(record, indent=2, ensure_ascii=False))
    else:
        click.echo(printable(f"{table}\n\n{found}"))
        click.echo(f"    {printable(command)}")
