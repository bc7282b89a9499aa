"""Ranks with ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi.numbers.checks import one_column

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
    _, place, counts = np.unique(one_column(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[place]
