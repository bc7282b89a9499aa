"""Reading tables from files."""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path

import numpy as np

from pyknnmi.data import Dataset, listing
from pyknnmi.errors import DataError, DataTypeError

__all__ = ["read_table"]

_MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}


def read_table(path: str | os.PathLike[str]) -> Dataset:
    """Return the table in a CSV or TSV file with a header line.

    Parameters
    ----------
    path : path
        A file of rows of numbers under a line of column names, separated by commas, semicolons or tabs; may be
        compressed (``.gz``).

    Raises
    ------
    DataError
        No file, no header, missing or infinite values, ragged rows.
    DataTypeError
        Text among the numbers; the message names column and line.
    """
    path = Path(path)
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
            text = stream.read()
    except OSError as error:
        raise DataError(f"cannot read '{path}': {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"cannot read '{path}': it is not text in UTF-8") from None
    header, _, body = text.partition("\n")
    if not header.strip():
        raise DataError(f"'{path}' is empty, or its first line is: it must hold the column names")
    delimiter = max("\t,;", key=header.count)
    names = [name.strip() for name in next(csv.reader([header.rstrip("\r")], delimiter=delimiter))]
    if all(_is_number(name) for name in names):
        raise DataError(f"the first line of '{path}' holds numbers: put the column names there")
    if not body.strip():
        raise DataError(f"'{path}' has column names and no rows")
    try:
        values = np.loadtxt(io.StringIO(body), delimiter=delimiter, ndmin=2, quotechar='"', comments=None)
    except ValueError:
        raise _diagnosis(path, body, delimiter, names) from None
    if values.shape[1] != len(names):
        raise DataError(f"'{path}' has {len(names)} column names and {values.shape[1]} numbers a row")
    return Dataset(values, tuple(names))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _diagnosis(path: Path, body: str, delimiter: str, names: list[str]) -> DataError | DataTypeError:
    """Return the error that tells why the fast reader gave up."""
    missing: dict[str, int] = {}
    first_missing = 0
    reader = csv.reader(io.StringIO(body), delimiter=delimiter)
    for row in reader:
        line = reader.line_num + 1
        if not row:
            continue
        if len(row) != len(names):
            return DataError(f"'{path}', line {line}: {len(row)} values for {len(names)} column names")
        for name, cell in zip(names, row, strict=True):
            if cell.strip().lower() in _MISSING:
                missing[name] = missing.get(name, 0) + 1
                first_missing = first_missing or line
            elif not _is_number(cell):
                return DataTypeError(
                    f"'{path}', line {line}: column '{name}' holds the text '{cell[:40]}': "
                    "give numbers, or leave the column out"
                )
    if missing:
        found = listing([f"'{name}' ({count})" for name, count in missing.items()])
        return DataError(
            f"'{path}': missing values in column {found}, first in line {first_missing}: drop or impute those rows"
        )
    return DataError(f"'{path}' cannot be read as a table of numbers")
