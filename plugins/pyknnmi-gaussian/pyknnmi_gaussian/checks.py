"""Checks of arguments, made where they come in, so that the solvers need none."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ColumnError

Floats = NDArray[np.float64]

# Rounding in a correlation matrix of rank below p leaves eigenvalues of about -1e-15 p.
RELATIVE_ROUNDING = 1e-10


def checked_data(data: ArrayLike) -> Floats:
    """Return the data as a float64 array of shape (n, p).

    Raises
    ------
    ValueError
        If the data are not two-dimensional, have fewer than two rows or columns, or hold a value
        that is not finite, or if a column is constant.
    """
    array = np.asarray(data, dtype=np.float64)
    if array.ndim != 2 or min(array.shape) < 2:
        raise ValueError(f"data has shape {array.shape}: give rows by columns, at least two of each")
    finite = np.isfinite(array).all(axis=0)
    if not finite.all():
        raise ColumnError(
            int(np.argmin(finite)),
            "holds a value that is missing or infinite: drop those rows or fill them in first",
        )
    constant = (array == array[0]).all(axis=0)
    if constant.any():
        raise ColumnError(
            int(np.argmax(constant)),
            f"is constant in these {len(array)} rows, so it has no correlation: drop it, or use more rows",
        )
    return array


def checked_covariance(covariance: ArrayLike) -> Floats:
    """Return a covariance or correlation matrix as a float64 array of shape (p, p).

    Raises
    ------
    ValueError
        If the matrix is not square, finite, symmetric, with a positive diagonal and positive
        semidefinite.
    """
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(f"covariance has shape {matrix.shape}: give (p, p) with p at least 2")
    if not np.isfinite(matrix).all():
        raise ValueError("covariance holds a value that is missing or infinite")
    diagonal = matrix.diagonal()
    if not (diagonal > 0).all():
        column = int(np.argmin(diagonal > 0))
        raise ColumnError(column, f"has variance {diagonal[column]}: it must be positive; drop the column")
    if np.abs(matrix - matrix.T).max() > RELATIVE_ROUNDING * diagonal.max():
        raise ValueError("covariance is not symmetric: give (matrix + matrix.T) / 2 if it should be")
    smallest = np.linalg.eigvalsh(matrix)[0]
    if smallest < -RELATIVE_ROUNDING * diagonal.sum():
        raise ValueError(
            f"covariance is not positive semidefinite (smallest eigenvalue {smallest:.3g}): "
            "rank correlations of few rows can be so; pass it through "
            "positive_semidefinite_correlation first"
        )
    return (matrix + matrix.T) / 2


def checked_penalties(penalties: ArrayLike) -> Floats:
    """Return the penalties as a float64 array of shape (m,).

    Raises
    ------
    ValueError
        If there is none, or they are not finite, positive and strictly decreasing.
    """
    array = np.asarray(penalties, dtype=np.float64)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"penalties has shape {array.shape}: give a list of at least one")
    if not (np.isfinite(array).all() and (array > 0).all() and (np.diff(array) < 0).all()):
        raise ValueError("penalties must be positive and strictly decreasing, as penalty_path gives them")
    return array
