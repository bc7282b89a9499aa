"""Reading tables from files."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.columns import Kind, categories
from pyknnmi.data.dataset import INFINITE_VALUES, MISSING_VALUES, Dataset, Missing, check_names, check_none
from pyknnmi.errors import DataError, DataTypeError

__all__ = ["read_table"]

_MISSING = {"", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "#null!", "none", "?", "."}
_DELIMITERS = ",;\t"


def read_table(path: str | os.PathLike[str], missing: Missing = "raise") -> Dataset:
    """Return the table in a CSV or TSV file with a header line.

    Parameters
    ----------
    path : path
        A file of rows of numbers under a line of column names, separated by commas, semicolons or tabs; may be
        compressed (``.gz``). A column of text alone holds categories; numbers with a decimal comma are an error.
        Missing values are empty cells, ``NA``, ``NaN`` and the like. Names and cells may stand in quotation marks.
    missing : {"raise", "drop", "drop-per-test"}
        As in `Dataset.of`.

    Raises
    ------
    DataError
        No file, no header, missing or infinite values, ragged rows, a quotation mark that is left open.
    DataTypeError
        Text among the numbers of a column, or decimal commas; the message names column and line.
    ParameterError
        Another word for `missing`.
    """
    path = Path(path)
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
            text = stream.read()
    except UnicodeDecodeError:
        raise DataError(f"cannot read '{path}': it is not text in UTF-8: save it as CSV in UTF-8") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:  # damaged compressed files; a path with a null in it
        raise DataError(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None
    if "\n" not in text:
        text = text.replace("\r", "\n")  # how spreadsheets for the Macintosh end lines
    header, body = _split_header(text)
    if not header.strip():
        raise DataError(f"'{path}' is empty, or its first line is: it must hold the column names")
    first_row = _split_header(body.lstrip("\r\n"))[0]
    delimiter = _delimiter(header, first_row)
    _, first = next(_rows(path, header.rstrip("\r"), 1, delimiter))
    names = [name.strip() for name in first]
    if all(_is_number(name) for name in names):
        raise DataError(f"the first line of '{path}' holds numbers: put the column names there")
    if not body.strip():
        raise DataError(f"'{path}' has column names and no rows")
    one_column = len(names) == len(_cells(first_row, delimiter)) == 1
    if one_column and _pieces(first_row) > 1 and _pieces(first_row) - _pieces(names[0]) in (0, 1):  # 1: row names
        raise DataError(f"'{path}' has one column, '{names[0]}': separate columns by commas, semicolons or tabs")
    check_names(names)
    first_line = header.count("\n") + 2
    try:
        values = np.loadtxt(io.StringIO(body), delimiter=delimiter, ndmin=2, quotechar='"', comments=None)
    except ValueError:
        return _read_cells(path, body, first_line, delimiter, names, missing)
    if values.shape[1] != len(names):
        raise _width_error(path, first_line, values.shape[1], names, is_first=True)

    def lines() -> list[int]:
        return [line for line, row in _rows(path, body, first_line, delimiter) if row]

    return _dataset(values, names, (), missing, lines)


def _dataset(
    values: NDArray[np.float64],
    names: list[str],
    kinds: tuple[Kind, ...],
    missing: Missing,
    lines: Callable[[], Sequence[int]],
) -> Dataset:
    """Return the table; what is missing or infinite is told by its line in the file."""

    def place(row: int) -> str:
        return f"line {lines()[row]}"

    if missing == "raise":
        check_none(np.isnan(values), names, *MISSING_VALUES, place)
    check_none(np.isinf(values), names, *INFINITE_VALUES, place)
    return Dataset.of(Dataset(values, tuple(names), kinds, has_missing=True), missing=missing)


def _delimiter(header: str, row: str) -> str:
    """Return what cuts names and first row into equally many cells, rather numbers than text; else, into most."""

    def fit(delimiter: str) -> tuple[bool, bool, int, int]:
        names, cells = _cells(header, delimiter), _cells(row, delimiter)
        numbers = all(_is_number(cell) or _is_number_with_comma(cell) for cell in cells)
        return len(names) == len(cells) > 1, numbers, len(names), len(cells)

    return max(_DELIMITERS, key=fit)


def _cells(row: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(row), delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:  # told when the row is read
        return []


def _pieces(row: str) -> int:
    """Return the number of cells if bars or blanks, which are not read, were to separate them."""
    return len(re.split(r"[|\s]+", row.strip()))


def _width_error(path: Path, line: int, width: int, names: list[str], is_first: bool) -> DataError:
    way_out = ""
    if is_first and len(names) == 1:
        way_out = ": the first line must hold the column names, and be no title or comment"
    elif is_first and width == len(names) + 1:
        way_out = ": each column needs a name, also one of row names"
    return DataError(f"'{path}', line {line}: {width} values for {len(names)} column names{way_out}")


def _split_header(text: str) -> tuple[str, str]:
    """Return the line of names, which may hold line breaks within quotes, and what follows."""
    quotes, start = 0, 0
    while (end := text.find("\n", start)) >= 0:
        quotes += text.count('"', start, end)
        if quotes % 2 == 0:
            if _is_one_row(text[:end]):
                return text[:end], text[end + 1 :]
            break
        start = end + 1
    header, _, body = text.partition("\n")  # a quotation mark that stands alone is part of a name
    return header, body


def _is_one_row(text: str) -> bool:
    """Return whether quotation marks hold lines together, whatever separates the cells."""

    def rows(delimiter: str) -> int:
        return sum(1 for _ in csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True))

    try:
        return any(rows(delimiter) == 1 for delimiter in _DELIMITERS)
    except csv.Error:
        return False


def _rows(path: Path, text: str, first_line: int, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row begins, and its cells."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True)
    line = first_line
    try:
        for row in reader:
            yield line, row
            line = first_line + reader.line_num
    except csv.Error as error:
        raise DataError(
            f"'{path}', line {line}: cannot read the row that begins here ({error}): is a quotation mark left open?"
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python's own way to group digits: in a table it is a label


def _read_cells(path: Path, body: str, first_line: int, delimiter: str, names: list[str], missing: Missing) -> Dataset:
    """Return a table in which not all cells are numbers."""
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, row in _rows(path, body, first_line, delimiter):
        if not row:
            continue
        if len(row) != len(names):
            raise _width_error(path, line, len(row), names, is_first=not rows)
        rows.append([cell.strip() for cell in row])
        lines.append(line)
    columns = [
        _column(path, name, lines, [None if cell.lower() in _MISSING else cell for cell in cells])
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]
    kinds = tuple(kind for _, kind in columns)
    return _dataset(np.column_stack([values for values, _ in columns]), names, kinds, missing, lambda: lines)


def _column(path: Path, name: str, lines: list[int], cells: list[str | None]) -> tuple[NDArray[np.float64], Kind]:
    text = [(line, cell) for line, cell in zip(lines, cells, strict=True) if cell is not None and not _is_number(cell)]
    if not text:
        return np.array([np.nan if cell is None else float(cell) for cell in cells]), "continuous"
    if all(_is_number_with_comma(cell) for _, cell in text):
        line, cell = text[0]
        raise DataTypeError(
            f"'{path}', line {line}: column '{name}' holds '{cell}', a number with a comma: write decimal points and "
            "nothing between thousands, or put a letter before it if it is a category"
        )
    if len(text) == len(cells) - cells.count(None):
        return categories(cells, name), "discrete"
    line, cell = text[0]
    raise DataTypeError(
        f"'{path}', line {line}: column '{name}' holds the text '{cell[:40]}' among numbers: give numbers, leave the "
        "cell empty or write NA where a value is missing, or leave the column out"
    )


def _is_number_with_comma(cell: str) -> bool:
    """Return whether a cell is a number like 0,5 or 1.234,5."""
    return cell.count(",") == 1 and _is_number(cell.replace(".", "").replace(",", "."))
