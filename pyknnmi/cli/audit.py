"""The command that looks at a table before anything is tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pyknnmi.auditing import Audit
from pyknnmi.cli.table import column_options, options_of
from pyknnmi.data.dataset import Missing
from pyknnmi.data.reading import TableRead, read_columns
from pyknnmi.errors import printable
from pyknnmi.learning.preparation import audit_as_read

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
        text = json.dumps({**record, "command": command}, indent=2, ensure_ascii=False)
        click.echo(text.encode(errors="backslashreplace").decode())  # half a character as JSON escapes it
    else:
        click.echo(printable(f"{table}\n\n{found}"))
        if command:
            click.echo(f"    {printable(command)}")


def looked_at(data: Path, missing: Missing, **options: Any) -> tuple[TableRead, Audit, str]:
    """Return a table, what its usable columns show, and the command that suits it, with the options given."""
    given = options_of(**options)
    table = read_columns(data, given).without_infinite()
    found = audit_as_read(table, "drop-per-test" if missing == "raise" else missing, given)
    return table, found, found.command(str(data))
