"""Ranks with ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyknnmi.errors import DataError

__all__ = ["average_ranks"]


def average_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks 1 to n of `values`, shape (n,); equal values share the average of their ranks.

    Raises
    ------
    DataError
        Values of another shape.

    Examples
    --------
    >>> import numpy as np
    >>> average_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    if np.ndim(values) != 1:
        raise DataError(f"ranks are those of one column, shape (n,); the values have shape {np.shape(values)}")
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[place]
