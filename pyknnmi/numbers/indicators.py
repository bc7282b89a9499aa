"""Categories as numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi.numbers.checks import one_column
from pyknnmi.run import check_memory

__all__ = ["indicators"]


def indicators(codes: ArrayLike) -> NDArray[np.float64]:
    """Return a column for each category, 1 in its rows and 0 in others, shape (n, categories).

    The columns are in the order of the codes.

    Raises
    ------
    DataError
        The codes are not one column of numbers, or the columns need more memory than is free.

    Examples
    --------
    >>> from pyknnmi.numbers import indicators
    >>> indicators([3, 7, 3]).tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """
    values = one_column(codes)
    categories = np.unique(values)
    check_memory(
        24.0 * len(values) * len(categories),  # what they are made from, and standardized
        f"a column for each of {len(categories)} categories in {len(values)} rows",
        "join rare categories, or leave the column out",
    )
    columns: NDArray[np.float64] = (values[:, None] == categories).astype(np.float64)
    return columns
