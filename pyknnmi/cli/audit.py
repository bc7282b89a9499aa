"""The command that looks at a table before anything is tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pyknnmi.auditing import audited, quoted
from pyknnmi.cli.table import column_options, read_as, read_as_given
from pyknnmi.data.dataset import Missing
from pyknnmi.data.reading import TableRead
from pyknnmi.errors import IdentifierError, printable

__all__ = ["audit"]


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@column_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def audit(data: Path, missing: Missing, as_json: bool, **options: Any) -> None:
    """Show what DATA look like, what follows for a graph, and which spec suits them. Nothing is tested or changed.

    First comes what each column was read as. Rows with missing values are kept unless --missing says otherwise, and
    columns of identifiers are left out.
    """
    table, identifiers = _read(data, **options)
    found = audited(table.dataset("drop-per-test" if missing == "raise" else missing))
    ignored = [f"--ignore={quoted(error.column)}" for error in identifiers]
    command = found.command(str(data), [*read_as_given(click.get_current_context()), *ignored])
    if as_json:
        columns = [column.record() for column in table.columns]
        record = {"columns_read": columns, "left_out": list(table.left_out), **found.record(), "command": command}
        click.echo(json.dumps(record, indent=2, ensure_ascii=False))
    else:
        said = "".join(f"! {error}\n" for error in identifiers)
        click.echo(printable(f"{table}\n\n{said}{found}"))
        click.echo(f"    {printable(command)}")


def _read(data: Path, ignore: tuple[str, ...], **options: Any) -> tuple[TableRead, list[IdentifierError]]:
    """Return a table without its columns of identifiers, and what is to be said of each of these."""
    identifiers: list[IdentifierError] = []
    while True:
        try:
            return read_as(
                data, ignore=(*ignore, *(quoted(error.column) for error in identifiers)), **options
            ), identifiers
        except IdentifierError as error:
            if str(data) == "-":  # which cannot be read again
                raise
            identifiers.append(error)
