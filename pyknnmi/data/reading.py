"""Reading tables from files."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import IO, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.columns import (
    WHOLE_NUMBERS,
    ColumnRead,
    Values,
    check_count,
    check_no_quantities,
    in_table,
    is_quantity,
    lost_digits,
    number,
    python_or_command,
    quantity_as_text,
    too_small,
    warn_of_spellings,
)
from pyknnmi.data.dataset import (
    INFINITE_VALUES,
    Dataset,
    Missing,
    Refused,
    check_names,
    check_none,
    check_none_refused,
    columns_of_array,
    columns_of_labels,
    each_column,
)
from pyknnmi.data.files import csv_line, plain_name, shell_command
from pyknnmi.data.frames import columns_of
from pyknnmi.data.options import TableOptions, TableOptionsGiven
from pyknnmi.data.sources import content_of, is_source
from pyknnmi.errors import DataError, DataTypeError, IdentifierError, warn
from pyknnmi.run import check_memory

__all__ = ["TableRead", "columns_as_read", "read_columns", "read_table"]

_MISSING = {
    *("", "na", "n/a", "n.a.", "#n/a", "<na>", "#na", "nan", "-nan", "null", "#null!", "none", "?", "."),
    *("\\n", "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", "nan(ind)", "-nan(ind)"),  # MySQL, C
}
"""What stands for a missing value among numbers or alone, in small or capital letters."""
_MISSING_AMONG_NUMBERS = _MISSING | {"missing", *(f".{letter}" for letter in "_abcdefghijklmnopqrstuvwxyz")}
"""What does where there are numbers too: what Julia, SAS and Stata write is in there."""
_MISSING_LABELS = {
    "",
    "NA",
    "N/A",
    "n/a",
    "N.A.",
    "n.a.",
    "#N/A",
    "<NA>",
    "NaN",
    "nan",
    "NULL",
    "null",
    "#NULL!",
    "\\N",
    "?",
    ".",
}
"""What stands for one among labels, where "none" and "Na" are words of their own."""
_DELIMITERS = ",;\t"
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")
_BELOW_THOUSAND = re.compile(r"[-+]?\d{1,3}")
_ROWS_AT_A_TIME = 500  # few enough to stay in the cache
_CELLS_AT_A_TIME = 500_000  # of wide tables fewer rows: a cell as text takes ten times the memory of its number


def read_table(
    source: str | os.PathLike[str] | IO[Any], missing: Missing = "raise", **options: Unpack[TableOptionsGiven]
) -> Dataset:
    """Return the table in a CSV or TSV file with a header line, or in a Parquet or Feather file.

    Parameters
    ----------
    source : path or open file
        Rows of numbers under a line of column names, separated by commas, semicolons or tabs; may be compressed
        (gzip, bzip2, xz, or a zip archive of one file). ``-`` is standard input. A column of text alone holds
        categories. Numbers with a decimal comma, a unit or a sign are an error. Missing values are empty cells,
        ``NA``, ``NaN`` and the like. Names and cells may stand in quotation marks. Parquet and Feather need pyarrow.
    missing : {"raise", "drop", "drop-per-test"}
        As in `Dataset.of`.
    header : bool, optional
        Whether the first line holds the column names; False names the columns ``X1 ... Xp``. Left out, it must hold
        them, and a line that looks like a row of data is an error.
    missing_marks : str or sequence of str, optional
        The values that stand for a missing one, instead of the usual words; empty cells always do.
    categories : str or sequence of str
        Columns of numbers that are codes of categories.
    ignore : str or sequence of str
        Columns that are left out.
    index : str, optional
        The column that names the rows, which is left out; ``""`` if it has no name.

    Raises
    ------
    DataError
        No file, no header, missing or infinite values, ragged rows, a quotation mark that is left open.
    DataTypeError
        Text among the numbers of a column, or numbers with commas, units or signs; the message names column and line.
    ParameterError
        Another word for `missing`, or options that contradict each other.
    UnknownNameError
        An option names a column that does not exist.
    """
    return read_columns(source, TableOptions.of(options)).dataset(missing)


@dataclass(frozen=True, eq=False)
class TableRead:
    """The columns of a table, and what each was read from.

    Attributes
    ----------
    columns : tuple of ColumnRead
    left_out : tuple of str
        Names of the columns that were left out.
    refused : dict of str to PyknnmiError
        The columns that cannot be used, and the error of each.
    """

    columns: tuple[ColumnRead, ...]
    left_out: tuple[str, ...]
    refused: Refused
    _body: _Body | None = None

    def __str__(self) -> str:
        """Return a table of what each column was read as."""
        head = ("column", "read as", "different", "first value", "taken for missing")
        rows = [(_on_one_line(name), "left out", "", "", "") for name in self.left_out]
        rows += [(_on_one_line(name), "refused", "", "", "") for name in self.refused]
        for column in self.columns:
            marks = ", ".join(f"{mark or 'empty'} ({count})" for mark, count in column.marks.items())
            what = "numbers" if column.kind == "continuous" else "categories"
            first = _on_one_line(column.first[:20])
            rows.append((_on_one_line(column.name), what, str(column.distinct), first, marks))
        widths = [max(map(len, cells)) for cells in zip(head, *rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)]
        return "\n".join(line.rstrip() for line in lines)

    def dataset(self, missing: Missing = "raise") -> Dataset:
        """Return the columns as data; what is missing or infinite is reported by its line in the file.

        One that cannot be used is an error.
        """
        check_none_refused(self.refused)
        names = tuple(column.name for column in self.columns)
        if not names:
            raise DataError("the data have no columns")
        values = np.column_stack([column.values for column in self.columns])
        check_none(np.isinf(values), names, *INFINITE_VALUES, self._place)
        table = Dataset(values, names, tuple(column.kind for column in self.columns), has_missing=True)
        return table.without_missing(missing, self._place, [column.marks for column in self.columns])

    def usable(self, missing: Missing) -> Dataset:
        """Return the columns that can be used as data, or raise the error if none can."""
        return (replace(self, refused={}) if self.columns else self).dataset(missing)

    def without_infinite(self) -> TableRead:
        """Return the table with the columns of infinite values among those that cannot be used."""
        finite, infinite = each_column({column.name: partial(self._finite, column) for column in self.columns})
        return replace(self, columns=tuple(finite), refused={**self.refused, **infinite})

    def _finite(self, column: ColumnRead) -> ColumnRead:
        check_none(np.isinf(column.values)[:, None], [column.name], *INFINITE_VALUES, self._place)
        return column

    def _place(self, row: int) -> str:
        return self._body.place(row) if self._body else in_table(row)


def _on_one_line(text: str) -> str:
    return text.replace("\n", "\\n").replace("\t", "\\t")


def columns_as_read(data: Any, options: TableOptions) -> TableRead | None:
    """Return the columns of whatever a user gave as they were read.

    None for a `Dataset`, for what is no table, and for an array of numbers that was made one of objects.
    """
    if is_source(data):
        return read_columns(data, options)
    if isinstance(data, Dataset):
        return None
    columns = columns_of(data)
    if columns is None:
        columns = columns_of_array(data)
    return None if columns is None else _labelled(columns, options)


def _labelled(columns: Sequence[tuple[Any, Any]], options: TableOptions) -> TableRead:
    usable, left_out, refused = columns_of_labels(columns, options)
    return TableRead(tuple(usable), left_out, refused)


def read_columns(source: str | os.PathLike[str] | IO[Any], options: TableOptions) -> TableRead:
    """Return the columns of a table as they were read; see `read_table`."""
    where, content = content_of(source)
    if not isinstance(content, str):
        return _labelled(columns_of(content) or [], options)
    body, names = _split(where, content, options)
    outside = options.left_out(names)
    chosen = [i for i in range(len(names)) if i not in outside]
    check_names([names[i] for i in chosen], [i + 1 for i in chosen])
    body.check_memory(len(chosen))
    cells = {i: _Cells(as_text=names[i] in options.categories) for i in chosen}
    for rows in body.rows_at_a_time(len(names)):
        transposed = list(zip(*rows, strict=True))
        for i, column in cells.items():
            column.add(transposed[i])
    if options.header is None:
        _check_header(where, names, cells, body)
    columns, refused = each_column(
        {names[i]: partial(_column, body, names[i], column, options) for i, column in cells.items()}
    )
    if len(names) == 1 and isinstance(refused.get(names[0]), IdentifierError):
        raise _one_column(where, names[0])
    _check_points(body, columns)
    return TableRead(tuple(columns), tuple(names[i] for i in sorted(outside)), refused, body)


@dataclass(frozen=True)
class _Body:
    """The rows of a text under its header."""

    where: str
    text: str
    first_line: int
    delimiter: str
    names: Sequence[str]
    trailing: int  # so many empty cells at the end of a line belong to no column, as where lines end with a delimiter

    def check_memory(self, columns: int) -> None:
        """Raise an error if so many of the columns do not fit into memory as numbers."""
        cells = self.text.count(self.delimiter) + self.text.count("\n") + 1
        check_memory(
            20.0 * cells * columns / len(self.names),  # numbers and codes of texts as they are read, then a table
            f"reading {self.where} with {cells} cells",
            "give fewer rows, leave columns out (ignore, --ignore), or take a machine with more memory",
        )

    def rows_at_a_time(self, width: int) -> Iterator[list[list[str]]]:
        """Yield the rows that are not blank, many at a time; each has as many cells as there are columns."""
        reader = csv.reader(_lines(self.text), delimiter=self.delimiter, skipinitialspace=True, strict=True)
        at_a_time = min(_ROWS_AT_A_TIME, max(1, _CELLS_AT_A_TIME // width))
        try:
            while rows := list(islice(reader, at_a_time)):
                rows = [row for row in rows if row]
                if self.trailing:
                    rows = [row[:width] if self._fits(row, width) else row for row in rows]
                if set(map(len, rows)) - {width}:
                    raise self._width_error(width)
                if rows:
                    yield rows
        except csv.Error:
            list(_rows(self.where, self.text, self.first_line, self.delimiter))  # raises the error with its line
            raise

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows that are not blank, with the line on which each begins."""
        for line, row in _rows(self.where, self.text, self.first_line, self.delimiter):
            if row:
                yield line, row

    def place(self, row: int) -> str:
        """Return where a row is, for a message."""
        return f"line {next(islice(self.lines(), row, None))[0]}"

    def _fits(self, row: Sequence[str], width: int) -> bool:
        return width <= len(row) <= width + self.trailing and not any(map(str.strip, row[width:]))

    def _width_error(self, width: int) -> DataError:
        is_first, line, row = next(
            (at == 0, line, row) for at, (line, row) in enumerate(self.lines()) if not self._fits(row, width)
        )
        return _width_error(self.where, line, row, self.names, is_first)


class _Cells:
    """One column as it is read: numbers, and beside them each different text that is none."""

    def __init__(self, as_text: bool) -> None:
        self.as_text = as_text
        self.first = ""
        self.words: dict[str, int] = {}
        self.first_row: list[int] = []
        self.lost: dict[str, int] = {}  # the numbers that a double rounds or makes 0, and the first row of each
        self._numbers: list[Values] = []
        self._codes: list[NDArray[np.int32]] = []
        self._rows = 0

    def add(self, cells: Sequence[str]) -> None:
        """Take the next cells of the column."""
        if not self._rows:
            self.first = cells[0].strip()
        read, codes = None, np.full(len(cells), -1, dtype=np.int32)
        if not self.as_text:
            try:
                read = np.array(list(map(float, cells)))
            except ValueError:
                read = None
        # "1_2" and "nan" are no numbers here, though Python's float takes them
        if read is None or np.isnan(read).any() or "_" in "".join(cells):
            read = np.array([self._number(cell, at, codes) for at, cell in enumerate(cells)])
        suspect = np.flatnonzero((read == 0) | (np.abs(read) >= WHOLE_NUMBERS))
        for cell in dict.fromkeys(map(cells.__getitem__, suspect.tolist())):
            if _is_lost(cell.strip()):
                self.lost.setdefault(cell.strip(), self._rows + cells.index(cell))
        self._numbers.append(read)
        self._codes.append(codes)
        self._rows += len(cells)

    def _number(self, cell: str, at: int, codes: NDArray[np.int32]) -> float:
        cell = cell.strip()
        code = self.words.get(cell)
        if code is None:
            value = None if self.as_text else number(cell)
            if value is not None and not np.isnan(value):
                return value
            code = self.words[cell] = len(self.words)
            self.first_row.append(self._rows + at)
        codes[at] = code
        return np.nan

    @property
    def numbers(self) -> Values:
        """The numbers; NaN where there is a text."""
        return np.concatenate(self._numbers) if self._numbers else np.empty(0)

    @property
    def codes(self) -> NDArray[np.int32]:
        """The number of the text in each row; -1 where there is none."""
        return np.concatenate(self._codes) if self._codes else np.empty(0, dtype=np.int32)


def _column(body: _Body, name: str, cells: _Cells, options: TableOptions) -> ColumnRead:
    numbers, codes = cells.numbers, cells.codes
    has_numbers = bool((codes < 0).any())
    marks, marked_numbers = _missing(cells.words, has_numbers, options)
    times = np.bincount(codes[codes >= 0], minlength=len(cells.words)).tolist()
    counts = dict(zip(cells.words, times, strict=True))
    found = {word: counts[word] for word in cells.words if word in marks}
    for mark, value in marked_numbers.items():
        if (numbers == value).any():
            found[mark] = int((numbers == value).sum())
            numbers[numbers == value] = np.nan
    text = {word: code for word, code in cells.words.items() if word not in marks}

    def place(word: str) -> str:
        return f"{body.where}, {body.place(cells.first_row[cells.words[word]])}: "

    if not text:
        _check_digits(body, name, numbers, cells.lost)
        return ColumnRead(name, numbers, "continuous", cells.first, found)
    if not cells.as_text:
        if has_numbers:
            word = next(iter(text))
            if is_quantity(word):
                raise quantity_as_text(word, name, place)
            is_first = cells.first_row[cells.words[word]] == 0
            raise _text_among_numbers(place(word), name, word, is_first, options.missing_marks)
        check_no_quantities(list(text), name, place)
    check_count(len(text), sum(counts[word] for word in text), name)
    if not cells.as_text:
        warn_of_spellings(text, name)
    code_of = np.full(len(cells.words) + 1, np.nan)
    for code, word in enumerate(sorted(text)):
        code_of[text[word]] = code
    return ColumnRead(name, code_of[codes], "discrete", cells.first, found)


def _missing(
    words: Sequence[str] | dict[str, int], has_numbers: bool, options: TableOptions
) -> tuple[set[str], dict[str, float]]:
    """Return the words of a column that stand for a missing value, and the numbers that do."""
    if options.missing_marks is not None:
        marks = {word for word in words if word == "" or word in options.missing_marks}
        return marks, {mark: value for mark in options.missing_marks if (value := number(mark)) is not None}
    if has_numbers:
        return {word for word in words if word.lower() in _MISSING_AMONG_NUMBERS}, {}
    if all(word.lower() in _MISSING for word in words):
        return set(words), {}
    return {word for word in words if word in _MISSING_LABELS}, {}


def _text_among_numbers(
    where: str, name: str, word: str, is_first: bool, marks: tuple[str, ...] | None
) -> DataTypeError:
    if marks is not None and word.lower() in _MISSING_AMONG_NUMBERS:
        given = [*marks, word]
        return DataTypeError(
            f"{where}column '{name}' holds '{word}' among numbers: the marks of missing values that were given take "
            f"the place of the usual ones, so give it too (missing_marks={given}, "
            f"{shell_command([f'--missing-marks={csv_line(given)}'])})"
        )
    way_out = "remove the line if it holds units or more names, " if is_first else ""
    return DataTypeError(
        f"{where}column '{name}' holds the text '{word[:40]}' among numbers: {way_out}give numbers, leave the "
        "cell empty or write NA where a value is missing, say that the text is a mark of missing values "
        "(missing_marks, --missing-marks) or that the column holds categories "
        f"({python_or_command('categories', name)}), or leave the column out"
    )


def _is_lost(cell: str) -> bool:
    """Return whether a number is a whole one that a double rounds, or one that it makes 0."""
    value = float(cell)
    if value == 0:
        return re.match(r"[-+]?[0.]*[1-9]", cell) is not None
    whole = re.fullmatch(r"([-+]?\d{1,4000})(?:\.0*)?", cell)
    return whole is not None and math.isfinite(value) and int(whole[1]) != int(value)


def _check_digits(body: _Body, name: str, numbers: Values, lost: Mapping[str, int]) -> None:
    """Raise an error for a number that was lost, unless it is a mark of missing values."""
    for cell, row in lost.items():
        if not np.isnan(numbers[row]):
            raise (lost_digits if numbers[row] else too_small)(cell, body.place(row), name)


def _check_points(body: _Body, columns: Sequence[ColumnRead]) -> None:
    """Warn of columns in which points may separate thousands: 12 is there, and so is 1.250.

    The text is read once more for all of them, and no further than until none is left.
    """
    suspects = {body.names.index(column.name): column for column in columns if _may_be_thousands(column)}
    trailing_zero: dict[int, tuple[str, int]] = {}
    without_point: dict[int, str] = {}
    for row, (line, cells) in enumerate(body.lines() if suspects else ()):
        for i, column in list(suspects.items()):
            if math.isnan(column.values[row]):
                continue
            cell = cells[i].strip()
            if _THOUSANDS.fullmatch(cell):
                if cell.endswith("0"):
                    trailing_zero[i] = cell, line
            elif _BELOW_THOUSAND.fullmatch(cell):
                without_point[i] = cell
            else:
                del suspects[i]
        if not suspects:
            return
    for i, column in suspects.items():
        if i in trailing_zero and i in without_point:
            cell, line = trailing_zero[i]
            warn(
                f"{body.where}, line {line}: in column '{column.name}' the points may separate thousands, since "
                f"'{cell}' stands beside '{without_point[i]}'; they were read as decimal points: if they are not, "
                "remove them"
            )


def _may_be_thousands(column: ColumnRead) -> bool:
    """Return whether some numbers of a column are whole and some are not, all below 1,000 and the latter above 1."""
    size = np.abs(column.values[~np.isnan(column.values)])
    whole = size == np.round(size)
    return column.kind == "continuous" and bool(
        (size < 1000).all() and whole.any() and not whole.all() and (size[~whole] >= 1).all()
    )


def _split(where: str, text: str, options: TableOptions) -> tuple[_Body, list[str]]:
    """Return the rows and the column names of a text."""
    if "\n" not in text:
        text = text.replace("\r", "\n")  # how spreadsheets for the Macintosh end lines
    first_line, delimiter = 1, ""
    if named := re.match(r"sep=([,;\t])\r?\n", text, re.IGNORECASE):  # how Excel names it
        text, first_line, delimiter = text[named.end() :], 2, named[1]
    header, rest = _split_header(text)
    if not header.strip():
        raise DataError(f"{where} is empty, or its first line is: it must hold the column names")
    if options.header is False:
        delimiter = delimiter or _delimiter(header, header)
        header, text = (_without_blanks_after_quotes(part, delimiter) for part in (header, text))
        width = len(next(_rows(where, header.rstrip("\r"), first_line, delimiter))[1])
        names = [f"X{i + 1}" for i in range(width)]
        return _Body(where, text, first_line, delimiter, names, trailing=0), names
    first_row = _split_header(rest.lstrip("\r\n"))[0]
    delimiter = delimiter or _delimiter(header, first_row)
    header, first_row, rest = (_without_blanks_after_quotes(part, delimiter) for part in (header, first_row, rest))
    _, first = next(_rows(where, header.rstrip("\r"), first_line, delimiter))
    names = [plain_name(name.strip()) for name in first]
    cells = _cells(first_row, delimiter)
    last = max((i for i, name in enumerate(names) if name), default=0)
    trailing = 0 if any(map(str.strip, cells[last + 1 :])) else len(names) - last - 1
    names = names[: len(names) - trailing]
    if options.header is None and all(number(name) is not None for name in names):
        raise DataError(f"the first line of {where} holds numbers: {_WHICH}")
    if not rest.strip():
        raise DataError(f"{where} has column names and no rows")
    if len(names) == len(cells) == 1 and _pieces(first_row) > 1 and _pieces(first_row) - _pieces(names[0]) in (0, 1):
        raise _one_column(where, names[0])
    if options.index == "" and len(cells) == len(names) + 1:  # as R writes row names
        names = ["", *names]
    return _Body(where, rest, first_line + header.count("\n") + 1, delimiter, names, trailing), names


def _without_blanks_after_quotes(text: str, delimiter: str) -> str:
    """Return a text without the blanks between the quotation mark that ends a cell and what separates the cells.

    What stands between quotation marks is taken as one piece, so that no cell changes.
    """
    if not re.search(rf'" +(?:[{delimiter}\r\n]|\Z)', text):
        return text
    cell = rf'(?:\A|(?<=[{delimiter}\r\n])) *"(?:[^"]++|"")*+"'
    return re.sub(rf"({cell}) +(?=[{delimiter}\r\n]|\Z)|{cell}", lambda match: match[1] or match[0], text)


def _one_column(where: str, name: str) -> DataError:
    return DataError(
        f"{where} has one column, '{name[:60]}': separate columns by commas, semicolons or tabs, and put "
        "nothing above their names"
    )


def _check_header(where: str, names: Sequence[str], columns: dict[int, _Cells], body: _Body) -> None:
    """Raise an error for a first line that looks like a row of data. Whole numbers may be names, as years are."""
    whole: dict[int, NDArray[np.intp]] = {}  # by column, the rows that hold a name which is a whole number
    for i, cells in columns.items():
        name = names[i]
        if re.fullmatch(r"\d{1,18}", name):
            whole[i] = np.flatnonzero(cells.numbers == float(name))
            continue
        if number(name) is not None:
            what = "is a number"
        elif name.lower() in _MISSING or name.lower() == "nan":
            what = "is a mark of missing values"
        elif name in cells.words:
            place = body.place(cells.first_row[cells.words[name]])
            what = f"is also a value in its column ({place}: remove it if it repeats the names)"
        else:
            continue
        raise DataError(
            f"the first line of {where} looks like a row of data: the column name '{name}' {what}; {_WHICH}"
        )
    if whole and all(rows.size for rows in whole.values()):
        i, rows = next(iter(whole.items()))
        warn(
            f"the first line of {where} may be a row of data: the column name '{names[i]}' is also a value in its "
            f"column ({body.place(int(rows[0]))}); {_WHICH}"
        )


_WHICH = (
    "put the column names there, or say whether it is a row (header=False, --no-header) or the names (header=True, "
    "--header)"
)


def _delimiter(header: str, row: str) -> str:
    """Return what cuts the names and the first row into equally many cells, numbers if possible; else into most."""

    def fit(delimiter: str) -> tuple[bool, bool, int, int]:
        names, cells = _cells(header, delimiter), _cells(row, delimiter)
        numbers = all(number(cell) is not None or _is_number_with_comma(cell) for cell in cells)
        return len(names) == len(cells) > 1, numbers, len(names), len(cells)

    return max(_DELIMITERS, key=fit)


def _cells(row: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(row), delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:  # reported when the row is read
        return []


def _pieces(row: str) -> int:
    """Return the number of cells if bars or blanks, which are not read, were to separate them."""
    return len(re.split(r"[|\s]+", row.strip()))


_COMMENT = {"#", "%", "!"}


def _width_error(where: str, line: int, row: Sequence[str], names: Sequence[str], is_first: bool) -> DataError:
    way_out = ""
    if len(row) == len(names) + 1 and not row[-1].strip():
        way_out = ": the line ends with a separator: remove it, or end the line of names with one too"
    elif row[0].lstrip()[:1] in _COMMENT and len(row) < len(names):
        way_out = ": if it is a comment, remove it"
    elif len(names) == 1 or names[0][:1] in _COMMENT or (is_first and len(row) > len(names) + 1):
        way_out = ": the first line must hold the column names, and be no title or comment"
    elif is_first and len(row) == len(names) + 1:
        way_out = (
            f": each column needs a name, also one of row names, unless you say so ({python_or_command('index', '')}, "
            '--index "")'
        )
    else:
        way_out = ": give each column one value in each row, and put quotation marks round a value with a separator"
    return DataError(f"{where}, line {line}: {len(row)} values for {len(names)} column names{way_out}")


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


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text with their ends. `io.StringIO` would copy the text at four bytes a letter."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _rows(where: str, text: str, first_line: int, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row begins, and its cells."""
    reader = csv.reader(_lines(text), delimiter=delimiter, skipinitialspace=True, strict=True)
    line = first_line
    try:
        for row in reader:
            yield line, row
            line = first_line + reader.line_num
    except csv.Error as error:
        hint = (
            "are the ends of lines mixed, some of them a carriage return alone? Save the file again"
            if "new-line character" in str(error)
            else "is a quotation mark left open, or does something follow the one that ends a cell?"
        )
        raise DataError(f"{where}, line {line}: cannot read the row that begins here ({error}): {hint}") from None


def _is_number_with_comma(cell: str) -> bool:
    """Return whether a cell is a number like 0,5 or 1.234,5."""
    return cell.count(",") == 1 and number(cell.replace(".", "").replace(",", ".")) is not None
