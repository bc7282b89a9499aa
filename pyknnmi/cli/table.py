"""The options about how a table is read, which several commands share."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, get_args

import click

from pyknnmi.data.dataset import Dataset, Missing
from pyknnmi.data.options import TableOptions
from pyknnmi.data.reading import read_columns
from pyknnmi.learning.preparation import Repeats, observations

__all__ = ["column_options", "names_in", "options_of", "read", "read_as_given", "table_given", "table_options"]

_LISTED = "Separated by commas; may be repeated."
_OPTIONS = (
    click.option(
        "--missing",
        type=click.Choice(["raise", "drop", "drop-per-test"]),
        default="raise",
        show_default=True,
        help="Rows with missing values: an error, left out, or left out of the tests that they concern.",
    ),
    click.option(
        "--missing-marks",
        metavar="A,B,...",
        multiple=True,
        help=f"What stands for a missing value, instead of NA and other usual words. {_LISTED}",
    ),
    click.option("--header/--no-header", default=None, help="Whether the first line holds the column names."),
    click.option("--categories", metavar="A,B,...", multiple=True, help=f"Columns of codes of categories. {_LISTED}"),
    click.option("--ignore", metavar="A,B,...", multiple=True, help=f"Columns to leave out. {_LISTED}"),
    click.option("--index", metavar="COLUMN", help="The column that names the rows; '' if it has no name."),
)
_ABOUT_ROWS = (
    click.option(
        "--repeats",
        type=click.Choice(get_args(Repeats)),
        default="keep",
        show_default=True,
        help="Equal rows: each an observation, or each set of them one.",
    ),
    click.option("--blocks", metavar="COLUMN", help="A column that says which rows belong together."),
)


def column_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``missing`` and the options that `options_of` takes."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


_READING = {"repeats", "blocks", "missing_marks", "header", "categories", "ignore", "index"}


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that `read` takes."""
    return column_options(reduce(lambda decorated, option: option(decorated), reversed(_ABOUT_ROWS), command))


def read_as_given(context: click.Context) -> list[str]:
    """Return the words of a command line that say how the table is read, but for missing values."""
    return _given(context, _READING)


def table_given(context: click.Context) -> list[str]:
    """Return the words of a command line that say how the table is read."""
    return _given(context, _READING | {"missing"})


def _given(context: click.Context, names: set[str]) -> list[str]:
    words = []
    for option in context.command.params:
        if not isinstance(option, click.Option) or option.name not in names:
            continue
        if context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE:
            given = context.params[option.name]
            if isinstance(given, bool):
                words.append(option.opts[0] if given else option.secondary_opts[0])
            else:
                words += [f"{option.opts[0]}={value}" for value in (given if option.multiple else [given])]
    return words


def options_of(
    missing_marks: tuple[str, ...] = (),
    header: bool | None = None,
    categories: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    index: str | None = None,
) -> TableOptions:
    """Return how a table is to be read."""
    marks, codes, outside = (
        tuple(name for written in several for name in names_in(written))
        for several in (missing_marks, categories, ignore)
    )
    return TableOptions(header, marks or None, codes, outside, index)


def read(data: Path, missing: Missing, repeats: Repeats = "keep", blocks: str | None = None, **options: Any) -> Dataset:
    """Return the table in a file, or on standard input for ``-``."""
    return observations(read_columns(data, options_of(**options)).dataset(missing), repeats, blocks)


def names_in(written: str) -> list[str]:
    """Return names that are separated by commas; one that has a comma stands in quotation marks."""
    rows = csv.reader(io.StringIO(written, newline=""), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]
