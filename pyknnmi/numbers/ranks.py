"""Ranks with ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi.data.dataset import as_array
from pyknnmi.errors import DataError

__all__ = ["average_ranks"]


def average_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return the ranks 1 to n of `values`, shape (n,); equal values share the average of their ranks.

    Raises
    ------
    DataError
        Values of another shape, NaN, or anything but real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> average_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    column = as_array(values, "the values")
    if column.ndim != 1:
        raise DataError(f"ranks are those of one column, shape (n,); the values have shape {column.shape}")
    if column.dtype.kind not in "fiub" or np.isnan(column).any():
        raise DataError(f"the values, of type {column.dtype}, are not all numbers: only numbers have ranks")
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[place]
