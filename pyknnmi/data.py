"""The data door: whatever a user has becomes a checked, named, immutable table of numbers."""

from __future__ import annotations

import hashlib
import operator
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyknnmi.errors import DataError, DataTypeError, UnknownNameError, did_you_mean

__all__ = ["Dataset", "natural_key"]

Values = NDArray[np.float64]


def natural_key(name: str) -> tuple[tuple[str | int, ...], str]:
    """Return a sort key that puts ``X2`` before ``X10``."""
    parts = re.split(r"([0-9]+)", name)
    return tuple(int(p) if i % 2 else p for i, p in enumerate(parts)), name


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
    """

    values: Values
    names: tuple[str, ...]
    _index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        array = as_array(self.values, "the data")
        if array.ndim != 2:
            raise DataError(f"the data have {array.ndim} dimension(s): give a table of shape (rows, columns)")
        if array.shape[1] != len(self.names):
            raise DataError(f"{len(self.names)} names were given for {array.shape[1]} columns")
        _check_names(self.names)
        if array.shape[1] == 0:
            raise DataError("the data have no columns")
        if array.shape[0] < 2:
            raise DataError(
                f"the data have {array.shape[0]} row(s): dependence needs at least 2, and a kNN estimate more than k"
            )
        _check_type(array, self.names)
        values = np.ascontiguousarray(array, dtype=np.float64).view()
        _check_finite(values, self.names)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.names)})

    @classmethod
    def of(cls, data: Any, names: Sequence[str] | None = None) -> Dataset:
        """Return `data` as a `Dataset`.

        Parameters
        ----------
        data : Dataset, array_like of shape (n, p), or data frame
            A frame is anything with ``.columns`` and ``.to_numpy()`` (pandas, polars). Its row index is
            not looked at. The caller's memory is never written to; it is copied only when it is not
            float64 in C order.
        names : sequence of str, optional
            Column names of an array; ``X1 ... Xp`` when left out.

        Raises
        ------
        DataError
            NaN, infinite values, duplicate names, no columns, fewer than two rows.
        DataTypeError
            A column of text, objects, dates, booleans or complex numbers.
        """
        if isinstance(data, Dataset):
            return data if names is None else cls(data.values, tuple(names))
        if hasattr(data, "columns") and hasattr(data, "to_numpy"):
            if names is not None:
                raise DataError("a data frame brings its own column names: leave `names` out")
            return cls._of_frame(data)
        array = as_array(data, "the data")
        if names is None:
            names = [f"X{i + 1}" for i in range(array.shape[-1])] if array.ndim else []
        return cls(array, tuple(names))

    @classmethod
    def _of_frame(cls, frame: Any) -> Dataset:
        names = tuple(str(name) for name in frame.columns)
        _check_names(names)
        if not names:
            raise DataError("the data have no columns")
        columns = [_frame_column(frame[key], name) for key, name in zip(frame.columns, names, strict=True)]
        return cls(np.column_stack(columns), names)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def p(self) -> int:
        """Number of columns."""
        return len(self.names)

    @cached_property
    def hash(self) -> str:
        """SHA-256 over the shape, the names and the bytes of the values, as hexadecimal digits."""
        digest = hashlib.sha256(repr((self.values.shape, self.names)).encode())
        digest.update(self.values.astype("<f8", copy=False).data)
        return digest.hexdigest()

    def column(self, which: str | int) -> int:
        """Return the index of a column given by name or number (0 to p - 1)."""
        if isinstance(which, str):
            if which not in self._index:
                raise UnknownNameError(
                    f"there is no column '{which}'{did_you_mean(which, self.names)} "
                    f"(the columns are {listing(self.names)})"
                )
            return self._index[which]
        index = operator.index(which)
        if not 0 <= index < self.p:
            raise UnknownNameError(f"there is no column number {index}: they run from 0 to {self.p - 1}")
        return index

    def select(self, columns: Iterable[int]) -> Dataset:
        """Return the data set of these columns, in the order given."""
        columns = list(columns)
        return Dataset(self.values[:, columns], tuple(self.names[c] for c in columns))

    def constant_columns(self) -> tuple[int, ...]:
        """Return the indices of the columns whose values are all equal."""
        same = self.values.min(axis=0) == self.values.max(axis=0)
        return tuple(int(i) for i in np.flatnonzero(same))


def as_array(data: Any, what: str) -> NDArray[Any]:
    """Return `data` as an array of whatever type it has; masked numbers become NaN."""
    if isinstance(data, np.ma.MaskedArray) and data.dtype.kind in "fiu":
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


def _check_names(names: Sequence[str]) -> None:
    for position, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name.strip():
            raise DataError(f"column {position} has no name: name it, or leave it out if it is a row index")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"column names must differ; given more than once: {listing(repeated)}")


def _check_finite(values: Values, names: Sequence[str]) -> None:
    if np.isfinite(values).all():
        return
    for what, wrong, way_out in (
        ("missing values (NaN)", np.isnan(values), "drop or impute those rows"),
        ("infinite values", np.isinf(values), "drop or clip those values"),
    ):
        counts = wrong.sum(axis=0)
        if counts.any():
            found = [f"'{name}' ({count})" for name, count in zip(names, counts, strict=True) if count]
            first = int(np.flatnonzero(wrong.any(axis=1))[0])
            raise DataError(f"{what} in column {listing(found)}, first in row {first} (counted from 0): {way_out}")


def _check_type(array: NDArray[Any], names: Sequence[str]) -> None:
    kind = array.dtype.kind
    if kind in "fiu":
        return
    culprits = [name for name, column in zip(names, array.T, strict=True) if not _holds_numbers(column)] or names
    what = {"c": "complex numbers", "b": "booleans", "O": "objects", "U": "text", "S": "text"}.get(
        kind, f"type {array.dtype}"
    )
    way_out = "code it as numbers (0 and 1)" if kind == "b" else "convert it to real numbers"
    raise DataTypeError(f"column {listing(culprits)}: {what} cannot be used; {way_out}, or leave it out")


def _holds_numbers(column: NDArray[Any]) -> bool:
    """Return whether a column that NumPy made objects or text, for the sake of another column, could be numbers."""
    if column.dtype.kind not in "OUS":
        return False
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _frame_column(column: Any, name: str) -> Values:
    nullable = getattr(column.dtype, "numpy_dtype", None) if hasattr(column.dtype, "na_value") else None
    if nullable is not None and nullable.kind in "fiu":  # pandas' own numbers: to_numpy() alone would give objects
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
    array = np.asarray(column.to_numpy())
    _check_type(array[:, None], [name])
    return array.astype(np.float64, copy=False)
