"""The command that looks at a table before anything is tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pyknnmi.auditing import Audit, audited
from pyknnmi.cli.table import column_options, read_as, read_as_given
from pyknnmi.data.dataset import Missing
from pyknnmi.data.reading import TableRead
from pyknnmi.errors import printable

__all__ = ["audit", "looked_at"]


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@column_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def audit(data: Path, missing: Missing, as_json: bool, **options: Any) -> None:
    """Show what DATA look like, what follows for a graph, and which spec suits them. Nothing is tested or changed.

    First comes what each column was read as. Rows with missing values are kept unless --missing says otherwise.
    Columns that cannot be used, such as identifiers, are left out, and the error of each is shown.
    """
    table, found, command = looked_at(data, missing, **options)
    if as_json:
        columns = [column.record() for column in table.columns]
        record = {"columns_read": columns, "left_out": list(table.left_out), **found.record()}
        click.echo(json.dumps({**record, "command": command}, indent=2, ensure_ascii=False))
    else:
        click.echo(printable(f"{table}\n\n{found}"))
        click.echo(f"    {printable(command)}")


def looked_at(data: Path, missing: Missing, **options: Any) -> tuple[TableRead, Audit, str]:
    """Return a table, what its usable columns show, and the command that suits it, with the options given."""
    table = read_as(data, **options)
    found = audited(table.usable("drop-per-test" if missing == "raise" else missing), table.refused)
    return table, found, found.command(str(data), read_as_given(click.get_current_context()))
