"""One column of whatever type becomes numbers, and is known as continuous or discrete."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pyknnmi.errors import DataError, DataTypeError

__all__ = ["Kind", "categories", "column_of"]

Kind = Literal["continuous", "discrete"]
"""Numbers, or categories: of a discrete column only whether two values are equal has a meaning."""

Values = NDArray[np.float64]

_FEW_ROWS = 5  # so many may all have their own label, and it be a category


def column_of(column: Any, name: str) -> tuple[Values, Kind]:
    """Return a data frame's column as numbers and its kind.

    Booleans become 0 and 1, categories and text the place of their label in alphabetic order; both are discrete.
    Objects that are all real numbers are the numbers they are. What is missing becomes NaN.

    Raises
    ------
    DataError
        Text of which most rows, or all of more than a few, have their own.
    DataTypeError
        Complex numbers, dates, objects.
    """
    dtype = column.dtype
    nullable = getattr(dtype, "numpy_dtype", None) if hasattr(dtype, "na_value") else None
    if nullable is not None and nullable.kind in "fiub":  # pandas' own numbers: to_numpy() alone would give objects
        numbers = np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
        return numbers, "discrete" if nullable.kind == "b" else "continuous"
    array = np.asarray(column.to_numpy())
    if array.dtype.kind in "fiu" and str(dtype) != "category":
        return array.astype(np.float64, copy=False), "continuous"
    if array.dtype.kind == "b":
        return array.astype(np.float64), "discrete"
    if str(dtype) == "category" or array.dtype.kind in "OUT":
        labels = [None if is_missing(label) else label for label in array.tolist()]
        known = [label for label in labels if label is not None]
        if str(dtype) != "category" and all(map(_is_real, known)):
            return np.array([np.nan if label is None else float(label) for label in labels]), "continuous"
        if all(isinstance(label, str | Real) for label in known):
            return categories(labels, name), "discrete"
    raise unusable(array.dtype, f"column '{name}'")


def categories(labels: Sequence[Any], name: str) -> Values:
    """Return the codes 0, 1, ... of labels, None as NaN.

    Codes follow the alphabetic order of the labels, and depend neither on the order of rows nor on that of a frame's
    categories.
    """
    known = sorted({label for label in labels if label is not None}, key=lambda label: (str(type(label)), label))
    rows = len(labels) - labels.count(None)
    if len(known) > max(20, rows / 2) or len(known) == rows > _FEW_ROWS:
        raise DataError(
            f"column '{name}' holds {len(known)} different texts in {rows} rows: it looks like free text or "
            "identifiers; leave it out, or sort it into categories"
        )
    code = {label: float(i) for i, label in enumerate(known)}
    return np.array([np.nan if label is None else code[label] for label in labels])


def unusable(dtype: np.dtype[Any], where: str) -> DataTypeError:
    """Return the error for values that are neither numbers nor categories."""
    what = {"c": "complex numbers", "O": "objects", "U": "text", "S": "text", "T": "text"}.get(
        dtype.kind, f"type {dtype}"
    )
    return DataTypeError(f"{where}: {what} cannot be used; convert it to real numbers, or leave it out")


def _is_real(label: Any) -> bool:
    return isinstance(label, Real) and not isinstance(label, bool)


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN or pandas' NA."""
    return label is None or (isinstance(label, float) and np.isnan(label)) or str(label) == "<NA>"
