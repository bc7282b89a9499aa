"""Checks of single numbers that a caller gives."""

from __future__ import annotations

import numbers
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi.data.dataset import as_array
from pyknnmi.errors import DataError, ParameterError

__all__ = ["check_real", "check_whole", "one_column"]


def one_column(values: ArrayLike) -> NDArray[np.float64]:
    """Return one column of numbers, shape (n,), or raise a `DataError`. Infinite values are numbers, NaN is not."""
    column = as_array(values, "the values")
    if column.ndim != 1:
        raise DataError(f"the values have shape {column.shape}: give one column, shape (n,)")
    if column.dtype.kind not in "fiub" or np.isnan(column).any():
        raise DataError(f"the values, of type {column.dtype}, are not all numbers: drop or replace those that are not")
    return column.astype(np.float64, copy=False)


def check_whole(name: str, given: object, least: int, most: int) -> None:
    """Raise a `ParameterError` unless `given` is a whole number from `least` to `most`, and no boolean."""
    if not isinstance(given, numbers.Integral) or isinstance(given, bool) or not least <= int(given) <= most:
        raise ParameterError(f"{name} = {given!r}: give a whole number from {least} to {most}", name)


def check_real(name: str, given: object, least: float, most: float, rounding: float = 0.0) -> None:
    """Raise a `ParameterError` unless `given` is a number from `least` to `most`, give or take the rounding."""
    is_number = isinstance(given, numbers.Real) and not isinstance(given, bool)
    if not is_number or not least - rounding <= cast(float, given) <= most + rounding:
        raise ParameterError(f"{name} = {given!r}: give a number from {least:g} to {most:g}", name)
