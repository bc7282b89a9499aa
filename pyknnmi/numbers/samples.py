"""Checks of what the estimates are given: x, y and z as the core takes them, and the parameters."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi.data.dataset import as_array
from pyknnmi.errors import DataError, DataTypeError, ParameterError, check_choice
from pyknnmi.numbers.checks import check_whole

__all__ = [
    "MOST",
    "Engine",
    "EstimatorName",
    "Points",
    "check_k",
    "check_parameters",
    "check_poll",
    "flags_of",
    "points_of",
    "sample_of",
]

Engine = Literal["auto", "tree", "single", "batch"]
EstimatorName = Literal["auto", "ksg", "mixed", "cells"]
Points = NDArray[np.float64]

MOST = 2**31 - 1
"""What the core counts with."""


def points_of(data: ArrayLike, name: str) -> Points:
    """Return the columns of an argument, shape (n, d); of `z` there may be none."""
    array = as_array(data, name)
    if array.dtype.kind not in "fiub":
        raise DataTypeError(f"{name} holds {array.dtype}: give real numbers")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise DataError(f"{name} has {array.ndim} dimensions: give shape (n,) or (n, d)")
    if array.shape[1] == 0 and name != "z":
        raise DataError(f"{name} has no columns")
    points = array.astype(np.float64, copy=False)
    if points.dtype.byteorder not in "=|" or not points.flags.aligned:
        points = np.array(points, dtype=np.float64)
    if not np.isfinite(points).all():
        raise DataError(f"{name} holds NaN or infinite values: drop or replace those rows")
    return points


def sample_of(x: ArrayLike, y: ArrayLike, z: ArrayLike | None, y_name: str = "y") -> tuple[Points, Points, Points]:
    """Return x, y and z with equal numbers of rows."""
    xs, ys = points_of(x, "x"), points_of(y, y_name)
    zs = np.empty((len(xs), 0)) if z is None or np.shape(z) == (0,) else points_of(z, "z")
    for name, points in ((y_name, ys), ("z", zs)):
        if len(points) != len(xs):
            raise DataError(f"x has {len(xs)} rows and {name} has {len(points)}: give equal lengths")
    return xs, ys, zs


def flags_of(categories: Sequence[bool], *blocks: Points) -> list[bool]:
    """Return which columns of the blocks are categories; none given means that none is."""
    flags = [bool(flag) for flag in categories]
    columns = sum(block.shape[1] for block in blocks)
    if flags and len(flags) != columns:
        raise ParameterError(
            f"categories has {len(flags)} values: give one for each of the {columns} columns", "categories"
        )
    for column, flag in zip((c for block in blocks for c in block.T), flags, strict=bool(flags)):
        if flag and not (np.equal(column, np.rint(column)).all() and np.abs(column).max() < 2**31):
            raise DataError("the values of a category must be whole numbers below 2**31")
    return flags


def check_parameters(
    k: int, n: int, threads: int, estimator: str = "ksg", engine: str = "auto", poll: object = None
) -> None:
    """Raise unless the parameters of an estimate are in range."""
    check_k(k, n)
    check_poll(poll)
    check_whole("threads", threads, 0, MOST)
    check_choice("estimator", estimator, get_args(EstimatorName))
    check_choice("engine", engine, get_args(Engine))


def check_poll(poll: object) -> None:
    """Raise unless `poll` can be called."""
    if poll is not None and not callable(poll):
        raise ParameterError(f"poll = {poll!r}: give a function without arguments, or None", "poll")


def check_k(k: int, n: int) -> None:
    """Raise unless n points have k neighbours."""
    if not isinstance(k, numbers.Integral) or isinstance(k, bool):
        raise ParameterError(f"k = {k!r}: the number of neighbours is a whole number")
    if k < 1:
        raise ParameterError(f"k = {k}: the number of neighbours is at least 1")
    if n <= k:
        raise DataError(f"{n} rows are too few for k = {k}: give at least {k + 1}")
