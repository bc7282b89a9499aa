"""The data door: whatever a user has becomes a checked, named, immutable table of numbers."""

from __future__ import annotations

import hashlib
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data import frames
from pyknnmi.data.columns import (
    ColumnRead,
    Kind,
    check_whole_numbers,
    column_of,
    in_table,
    is_missing,
    number,
    python_or_command,
    unusable,
)
from pyknnmi.data.options import TableOptions, TableOptionsGiven
from pyknnmi.errors import DataError, DataTypeError, UnknownNameError, check_choice, did_you_mean
from pyknnmi.run import check_memory

__all__ = ["Dataset", "natural_key"]

Values = NDArray[np.float64]
Missing = Literal["raise", "drop", "drop-per-test"]

MISSING_VALUES = (
    "missing values (NaN)",
    'drop or impute those rows, or leave them out: missing="drop", --missing drop (or drop-per-test)',
)
INFINITE_VALUES = "infinite values", "drop or clip those values"
"""What `check_none` finds, and the way out."""


def natural_key(name: str) -> tuple[tuple[str | tuple[int, str], ...], str]:
    """Return a sort key that puts ``X2`` before ``X10``."""
    parts = re.split(r"([0-9]+)", name)
    # Digits sort as numbers do by their count and then as text. Python refuses to convert thousands of digits.
    return tuple((len(d := p.lstrip("0")), d) if i % 2 else p for i, p in enumerate(parts)), name


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of n rows and p named columns of finite numbers.

    Make one with `Dataset.of`; the constructor checks the same things.

    Attributes
    ----------
    values : ndarray, shape (n, p)
        float64, C order, read-only.
    names : tuple of str
        One name a column, all different.
    kinds : tuple of {"continuous", "discrete"}
        One kind a column; if left empty, all discrete for an array of booleans and all continuous otherwise. The values
        of a discrete column are codes: only whether two are equal has a meaning.
    has_missing : bool
        Whether values may be missing (NaN). Tests are then made on the rows that are complete in their columns.
    rows_left_out : int
        Further rows that there were and that `of` left out, since they missed values.
    groups : ndarray of uint32, shape (n,), optional
        A label for each row, equal where rows belong together, as those of one subject do: see `grouped`.
    repeats_left_out : int
        Further rows that `without_repeats` left out, since they were equal to another.
    """

    values: Values
    names: tuple[str, ...]
    kinds: tuple[Kind, ...] = ()
    has_missing: bool = False
    rows_left_out: int = 0
    groups: NDArray[np.uint32] | None = None
    repeats_left_out: int = 0
    _index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        array = as_array(self.values, "the data")
        if array.ndim != 2:
            raise DataError(f"the data have {array.ndim} dimension(s): give a table of shape (rows, columns)")
        if array.shape[1] != len(self.names):
            raise DataError(f"{len(self.names)} names were given for {array.shape[1]} columns")
        check_names(self.names)
        if array.shape[1] == 0:
            raise DataError("the data have no columns")
        _check_rows(len(array))
        _check_type(array, self.names)
        for column, name in zip(array.T, self.names, strict=True) if array.dtype.kind in "iu" else ():
            check_whole_numbers(column, name)
        kinds = tuple(self.kinds) or (_kind_of_all(self.values),) * len(self.names)
        _check_kinds(kinds, self.names)
        if array.dtype != np.float64 or not array.flags.c_contiguous:
            _check_memory(*array.shape)
        values = np.ascontiguousarray(array, dtype=np.float64).view()
        if not self.has_missing:
            way_out = "drop or impute those rows, or keep them with has_missing=True"
            check_none(np.isnan(values), self.names, MISSING_VALUES[0], way_out)
        check_none(np.isinf(values), self.names, *INFINITE_VALUES)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "kinds", kinds)
        object.__setattr__(self, "has_missing", bool(np.isnan(values).any()))
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.names)})

    def __reduce__(self) -> tuple[type[Dataset], tuple[Any, ...]]:
        """Pickle what it is made from: an array alone would come back writeable."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self) if field.init)

    @classmethod
    def of(
        cls,
        data: Any,
        names: Sequence[str] | None = None,
        missing: Missing = "raise",
        **options: Unpack[TableOptionsGiven],
    ) -> Dataset:
        """Return `data` as a `Dataset`.

        Parameters
        ----------
        data : Dataset, array_like of shape (n, p), data frame or mapping of names to columns
            Frames of pandas and polars, Dask and xarray are taken as they are, and what narwhals knows (pyarrow,
            DuckDB, Modin, ...) if it is installed. A frame's row index is not looked at; column labels that are no text
            become text, 7 the name ``"7"``. The caller's memory is never written to; it is copied only when it is not
            float64 in C order.
        names : sequence of str, optional
            Column names of an array; ``X1 ... Xp`` when left out.
        missing : {"raise", "drop", "drop-per-test"}
            What to do about missing values: raise an error, leave out every row that has any, or keep them and let
            each test leave out the rows that miss a value in its own columns.
        missing_marks, categories, ignore, index
            As in `read_table`.

        Raises
        ------
        DataError
            Missing values, infinite values, duplicate or missing names, no columns, fewer than two rows, free text,
            whole numbers that a double rounds, or something that another call first makes an array or a frame (a
            sparse matrix, a Bunch, ...).
        DataTypeError
            A column of objects, dates or complex numbers, or of text among numbers.
        ParameterError
            Another word for `missing`, or options that contradict each other.
        UnknownNameError
            An option names a column that does not exist.
        """
        check_choice("missing", missing, get_args(Missing))
        return cls._of(data, names, TableOptions.of(options)).without_missing(missing)

    @classmethod
    def _of(cls, data: Any, names: Sequence[str] | None, options: TableOptions) -> Dataset:
        if names is not None:
            names = tuple(names)
        if isinstance(data, Dataset):
            return _applied(options, data if names is None else replace(data, names=names))
        if (columns := frames.columns_of(data)) is not None:
            if names is not None:
                raise DataError("a table with column names brings its own: leave `names` out")
            return cls._of_labels(columns, options)
        array = _array_of(data)
        if names is None:
            names = _names_of(array)
        if (array.dtype.kind in "OUST" or options) and (columns := _columns_of(data, array, names)) is not None:
            return cls._of_labels(columns, options)
        masked = isinstance(data, np.ma.MaskedArray)  # as an array it no longer shows whether it held booleans
        return cls(data if masked else array, names, has_missing=True)

    @classmethod
    def _of_labels(cls, columns: Sequence[tuple[Any, Any]], options: TableOptions) -> Dataset:
        read, _, refused = columns_of_labels(columns, options)
        check_none_refused(refused)
        kinds = tuple(column.kind for column in read)
        values = np.column_stack([column.values for column in read])
        return cls(values, tuple(column.name for column in read), kinds, has_missing=True)

    def without_missing(
        self,
        missing: Missing,
        place: Callable[[int], str] = in_table,
        marks: Sequence[Mapping[str, int]] = (),
    ) -> Dataset:
        """Return the data after missing values were treated, as `of` describes.

        Parameters
        ----------
        missing : {"raise", "drop", "drop-per-test"}
        place : callable
            Returns where a row is, for the message.
        marks : sequence of mapping, optional
            What stood for a missing value in each column, and how often, for the message.
        """
        check_choice("missing", missing, get_args(Missing))
        if not self.has_missing or missing == "drop-per-test":
            return self
        missed = np.isnan(self.values)
        if missing == "raise":
            check_none(missed, self.names, *MISSING_VALUES, place, [_written(found) for found in marks])
        complete = ~missed.any(axis=1)
        if complete.sum() < 2:
            worst = self.names[int(missed.sum(axis=0).argmax())]
            raise DataError(
                f"only {complete.sum()} of {self.n} rows have no missing values: column '{worst}' misses most, "
                f"{missed.sum(axis=0).max()}; leave it out first ({python_or_command('ignore', worst)})"
            )
        left_out = self.rows_left_out + int(self.n - complete.sum())
        return replace(self.rows(complete), rows_left_out=left_out)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def p(self) -> int:
        """Number of columns."""
        return len(self.names)

    @property
    def sha256(self) -> str:
        """SHA-256 over the shape, the names, the kinds and the bytes of the values, as hexadecimal digits."""
        digest = hashlib.sha256(repr((self.values.shape, self.names, self.kinds)).encode())
        digest.update(self.values.astype("<f8", copy=False).data)
        if self.groups is not None:
            digest.update(self.groups.astype("<u4", copy=False).data)
        return digest.hexdigest()

    def column(self, which: str | int) -> int:
        """Return the index of a column given by name or number (0 to p - 1).

        A number that is the name of another column, as where a frame's labels are the numbers 1 to p, is an error.
        """
        if isinstance(which, str):
            if which not in self._index:
                raise UnknownNameError(
                    f"there is no column '{which}'{did_you_mean(which, self.names)} "
                    f"(the columns are {listing(self.names)})"
                )
            return self._index[which]
        try:
            index = -1 if isinstance(which, bool) else operator.index(which)
        except TypeError:
            index = -1
        if not 0 <= index < self.p:
            hint = f"; the name of a column is text, '{which}'" if str(which) in self._index else ""
            raise UnknownNameError(f"there is no column number {which}: they run from 0 to {self.p - 1}{hint}")
        if self._index.get(str(index), index) != index:
            raise UnknownNameError(
                f"column {index} may be the one named '{index}', or '{self.names[index]}', which is number {index} "
                "(counted from 0): give the name as text"
            )
        return index

    def columns_of(self, which: str | int | Iterable[str | int] | None) -> list[int]:
        """Return the indices of one or several columns, given as in `column`, each once; None is no column."""
        if which is None:
            return []
        several = [which] if isinstance(which, str) or not isinstance(which, Iterable) else which
        return list(dict.fromkeys(self.column(column) for column in several))

    def select(self, columns: Iterable[int]) -> Dataset:
        """Return the data set of these columns, in the order given; there may be none."""
        columns = list(columns)
        names, kinds = tuple(self.names[c] for c in columns), tuple(self.kinds[c] for c in columns)
        if len(set(names)) < len(names):
            check_names(names)
        return self._part(self.values[:, columns], names=names, kinds=kinds)

    def take_rows(self, rows: Iterable[int]) -> Dataset:
        """Return the data set of these rows, in the order given."""
        return Dataset(self.values[list(rows)], self.names, self.kinds, self.has_missing)

    def complete_rows(self, columns: Iterable[int]) -> Dataset:
        """Return the data set of these columns, and of the rows that miss none of their values."""
        chosen = self.select(columns)
        complete = ~np.isnan(chosen.values).any(axis=1)
        if complete.sum() < 2:
            raise DataError(
                f"too few rows are complete in {listing(chosen.names)}: {complete.sum()} of {self.n}: leave out "
                "the one that misses most values, or impute them"
            )
        return chosen.rows(complete)

    def without_repeats(self) -> Dataset:
        """Return the first of each set of equal rows; equal means in every column, and in the group."""
        keys = self.values if self.groups is None else np.column_stack([self.values, self.groups])
        rows = np.ascontiguousarray(keys + 0.0)  # the sign of zero does not count
        _, first = np.unique(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))), return_index=True)
        if len(first) == self.n:
            return self
        if len(first) < 2:
            raise DataError(f"all {self.n} rows are equal: there is nothing to learn from")
        return replace(self.rows(np.sort(first)), repeats_left_out=self.n - len(first))

    def grouped(self, column: str | int) -> Dataset:
        """Return the other columns, with the values of this one as the groups of the rows."""
        place = self.column(column)
        labels = self.values[:, place]
        if np.isnan(labels).any():
            raise DataError(f"column '{self.names[place]}' misses values, so it names no blocks: drop those rows")
        _, groups = np.unique(labels, return_inverse=True)
        if groups.max() == 0 or groups.max() + 1 == self.n:
            what = "the same value in all rows" if groups.max() == 0 else "another value in each row"
            raise DataError(f"column '{self.names[place]}' has {what}, so it names no blocks")
        return replace(self.select([i for i in range(self.p) if i != place]), groups=groups.astype(np.uint32))

    def rows(self, which: Any) -> Dataset:
        """Return the data set of these rows, given as numbers or as an array of booleans."""
        values = self.values[which]
        _check_rows(len(values))
        return self._part(values, groups=None if self.groups is None else self.groups[which])

    def _part(self, values: Values, **changes: object) -> Dataset:
        """Return a data set of values of this one, which need no check."""
        part = object.__new__(type(self))
        part.__dict__.update(self.__dict__, **changes)
        values = np.ascontiguousarray(values)
        values.flags.writeable = False
        has_missing = self.has_missing and bool(np.isnan(values).any())
        index = {name: i for i, name in enumerate(part.names)}
        part.__dict__.update(values=values, has_missing=has_missing, _index=index)
        return part

    def discrete_columns(self) -> tuple[int, ...]:
        """Return the indices of the columns of categories."""
        return tuple(i for i, kind in enumerate(self.kinds) if kind == "discrete")

    def constant_columns(self) -> tuple[int, ...]:
        """Return the indices of the columns whose values, where there are any, are all equal."""
        lowest, highest = np.fmin.reduce(self.values), np.fmax.reduce(self.values)
        return tuple(int(i) for i in np.flatnonzero((lowest == highest) | np.isnan(lowest)))


def as_array(data: Any, what: str) -> NDArray[Any]:
    """Return `data` as an array of whatever type it has; masked numbers and booleans become NaN."""
    if isinstance(data, np.ma.MaskedArray) and data.dtype.kind in "fiub":
        filled: Values = np.ma.filled(data.astype(np.float64), np.nan)
        return filled
    try:
        return np.asarray(data)
    except ValueError:
        raise DataError(f"{what} cannot be read as a table: its rows differ in length") from None


def listing(names: Sequence[str], most: int = 12) -> str:
    """Return names for a message: all of them, or the first few and how many more."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


_CONVERSIONS = {"toarray": ".toarray()"}
"""What marks a sparse matrix, and the call that returns an array."""


def _check_container(data: Any) -> None:
    if isinstance(data, list | tuple):
        if data and (isinstance(data[0], Mapping) or is_dataclass(data[0])):
            raise DataError("the data are a list of records: pass pandas.DataFrame(data)")
    elif not hasattr(data, "__array__") and np.ndim(data) == 0:
        raise DataError(
            f"the data are of type {type(data).__name__}: give an array of shape (rows, columns), a data frame, or a "
            "mapping of names to columns; read_table reads a file"
        )
    for attribute, call in _CONVERSIONS.items():
        if hasattr(data, attribute):
            raise DataError(f"the data are a {type(data).__name__}: pass what their {call} returns")


def columns_of_array(data: Any) -> list[tuple[str, Any]] | None:
    """Return the names and columns of an array or a sequence of rows, each column to be read by itself.

    None for what has not two dimensions, and for an array of numbers that was made one of objects.
    """
    array = _array_of(data)
    return _columns_of(data, array, _names_of(array))


def _columns_of(data: Any, array: NDArray[Any], names: Sequence[str]) -> list[tuple[str, Any]] | None:
    """Return what `columns_of_array` does, of data that were made an array already."""
    if array.ndim != 2 or _are_numbers_as_objects(data):
        return None
    if len(names) != array.shape[1]:
        raise DataError(f"{len(names)} names were given for {array.shape[1]} columns")
    if isinstance(data, np.ma.MaskedArray):
        array = data  # a mask stays
    elif array.dtype.kind in "OUST" and not isinstance(data, np.ndarray):
        array = np.array(data, dtype=object)  # NumPy turns numbers next to a text into text
    return list(zip(names, array.T, strict=True))


def _array_of(data: Any) -> NDArray[Any]:
    _check_container(data)
    return as_array(data, "the data")


def _names_of(array: NDArray[Any]) -> tuple[str, ...]:
    return tuple(f"X{i + 1}" for i in range(array.shape[-1])) if array.ndim else ()


def _applied(options: TableOptions, data: Dataset) -> Dataset:
    """Return data with the options applied: columns left out, codes called categories, marks missing."""
    if not options:
        return data
    left_out = options.left_out(data.names)
    kept = [i for i in range(data.p) if i not in left_out]
    if not kept:
        raise DataError("the data have no columns")
    marks = [value for mark in options.missing_marks or () if (value := number(mark)) is not None]
    are_numbers = [data.kinds[i] == "continuous" for i in kept]
    values = data.values[:, kept]
    values = np.where(np.isin(values, marks) & are_numbers, np.nan, values)
    names = tuple(data.names[i] for i in kept)
    kinds = tuple("discrete" if data.names[i] in options.categories else data.kinds[i] for i in kept)
    return Dataset(values, names, kinds, has_missing=True, rows_left_out=data.rows_left_out)


Refused = dict[str, DataError | DataTypeError]
"""The columns that cannot be used, and the error of each."""


def columns_of_labels(
    columns: Sequence[tuple[Any, Any]], options: TableOptions
) -> tuple[list[ColumnRead], tuple[str, ...], Refused]:
    """Return columns with labels as they were read, the names of those left out, and those that cannot be used."""
    names = ["" if is_missing(label) else str(label) for label, _ in columns]
    outside = options.left_out(names)
    kept = [i for i in range(len(names)) if i not in outside]
    check_names([names[i] for i in kept], [i + 1 for i in kept])
    if not kept:
        raise DataError("the data have no columns")
    _check_memory(len(columns[kept[0]][1]) if hasattr(columns[kept[0]][1], "__len__") else 0, 2 * len(kept))

    def read(i: int) -> ColumnRead:
        return column_of(columns[i][1], names[i], options.missing_marks, names[i] in options.categories)

    usable, refused = each_column({names[i]: partial(read, i) for i in kept})
    return usable, tuple(names[i] for i in sorted(outside)), refused


def each_column(reading: Mapping[str, Callable[[], ColumnRead]]) -> tuple[list[ColumnRead], Refused]:
    """Return what comes out for each column, and the error of each that cannot be used."""
    usable: list[ColumnRead] = []
    refused: Refused = {}
    for name, read in reading.items():
        try:
            usable.append(read())
        except (DataError, DataTypeError) as error:
            refused[name] = error
    return usable, refused


def check_none_refused(refused: Refused) -> None:
    """Raise the error of the first column that cannot be used, with the names of the others."""
    for error in refused.values():
        _, *others = refused
        if not others:
            raise error
        columns = listing([f"'{name}'" for name in others])
        what = "column" if len(others) == 1 else "columns"
        raise type(error)(f"{error}; {what} {columns} cannot be used either") from None


def _check_memory(rows: int, columns: int) -> None:
    check_memory(8.0 * rows * columns, f"{rows} x {columns} numbers", "give fewer rows or columns")


def check_names(names: Sequence[str], places: Sequence[int] | None = None) -> None:
    """Raise an error unless every column has a name of its own, which is text; `places` count columns from 1."""
    for position, name in zip(places or range(1, len(names) + 1), names, strict=True):
        if not isinstance(name, str) or not name.strip():
            raise DataError(
                f"column {position} has no name: name it, or leave it out if it names the rows (index='', --index '')"
            )
        if wrong := re.search("[\0\ud800-\udfff]", name):
            what = "a null character" if wrong[0] == "\0" else "half a character (a lone surrogate)"
            raise DataError(f"the name of column {position}, {name!r}, is no text: it holds {what}; name it anew")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"column names must differ; given more than once: {listing(repeated)}")


def check_none(
    wrong: NDArray[np.bool_],
    names: Sequence[str],
    what: str,
    way_out: str,
    place: Callable[[int], str] = in_table,
    written: Sequence[str] = (),
) -> None:
    """Raise an error that counts the wrong values of each column, and says the place of the first row that has any.

    `written` says, for each column, how the wrong values stood in the table.
    """
    if not wrong.any():
        return
    found = [
        f"'{name}' ({count}{how})"
        for name, count, how in zip(names, wrong.sum(axis=0), written or [""] * len(names), strict=True)
        if count
    ]
    first = int(np.flatnonzero(wrong.any(axis=1))[0])
    raise DataError(f"{what} in column {listing(found)}, first in {place(first)}: {way_out}")


def _check_rows(n: int) -> None:
    if n < 2:
        raise DataError(f"the data have {n} row(s): dependence needs at least 2, and a kNN estimate more than k")


def _written(marks: Mapping[str, int]) -> str:
    words = [f"'{mark}'" if mark else "empty" for mark in marks]
    return f", written {' or '.join(words[:5])}" if words else ""


def _kind_of_all(values: Any) -> Kind:
    return "discrete" if np.ma.getdata(values).dtype.kind == "b" else "continuous"


def _check_kinds(kinds: Sequence[Kind], names: Sequence[str]) -> None:
    if len(kinds) != len(names):
        raise DataError(f"{len(kinds)} kinds were given for {len(names)} columns")
    for kind, name in zip(kinds, names, strict=True):
        check_choice("kind", kind, get_args(Kind), f"column '{name}': ")


def _check_type(array: NDArray[Any], names: Sequence[str]) -> None:
    if array.dtype.kind in "fiub":
        return
    culprits = [name for name, column in zip(names, array.T, strict=True) if not _holds_numbers(column)] or names
    raise unusable(array.dtype, f"column {listing(culprits)}")


def _are_numbers_as_objects(data: Any) -> bool:
    """Return whether an array of numbers was made one of objects: by mistake, as text or None would be the reason."""
    is_array = isinstance(data, np.ndarray) and data.dtype == object
    return is_array and all(isinstance(value, Real) and not isinstance(value, bool) for value in data.flat)


def _holds_numbers(column: NDArray[Any]) -> bool:
    """Return whether a column that NumPy made objects or text, for the sake of another column, could be numbers."""
    if column.dtype.kind not in "OUS":
        return False
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True
