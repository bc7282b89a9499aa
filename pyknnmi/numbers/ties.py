"""Values that many rows share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pyknnmi.numbers.checks import one_column

__all__ = ["cells_suit", "tied_share"]

_ROWS_A_CELL = 2


def tied_share(values: ArrayLike, k: int = 3) -> float:
    """Return the share of the values, shape (n,), that more than `k` others equal.

    Where it is above 0 the k-th neighbour of a point may lie at distance zero.

    Examples
    --------
    >>> tied_share([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    0.625
    """
    _, counts = np.unique(one_column(values), return_counts=True)
    return float(counts[counts > k + 1].sum() / max(counts.sum(), 1))


def cells_suit(n: int, levels: Sequence[int], categories: Sequence[bool]) -> bool:
    """Return whether counting cells of equal rows suits a question about some columns, as ``estimator="auto"`` decides.

    Categories and columns of two values have no order. Cells suit a question about these alone. Together with numbers
    of more values they do if there are at least 2 rows for each cell that all columns can make: with fewer, near values
    tell more than equal ones. Numbers alone are compared by their distances.

    Parameters
    ----------
    n : int
        Rows.
    levels : sequence of int
        The number of different values of each column.
    categories : sequence of bool
        Whether each column is a category.

    Examples
    --------
    >>> cells_suit(200, [2, 5, 10], [False, False, False]), cells_suit(199, [2, 5, 10], [False, False, False])
    (True, False)
    >>> cells_suit(199, [2, 5, 10], [False, True, True]), cells_suit(200, [5, 5], [False, False])
    (True, False)
    """
    unordered = [category or count == 2 for count, category in zip(levels, categories, strict=True)]
    if not any(unordered):
        return False
    without_order = all(known or count == 1 for known, count in zip(unordered, levels, strict=True))
    return without_order or n >= _ROWS_A_CELL * math.prod(levels)
