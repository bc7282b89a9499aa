"""What makes a column with repeated values continuous."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["spread_ties"]


def spread_ties(column: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    """Return the column with each value that several rows share spread around it, uniformly.

    A value is spread half way to its neighbours, so that whole numbers fill the line. One that stands close to others
    and has many rows, such as the limit of a censored measurement, is spread further: as far to each side as its share
    of the rows, in standard deviations. Values of one row stay as they are, and so does a constant column.

    Parameters
    ----------
    column : ndarray, shape (n,)
        Finite numbers.
    random : numpy Generator
        Not used where nothing is spread.
    """
    values, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    if len(values) in (1, len(column)):
        return column
    half_gaps = np.diff(values) / 2
    share = counts / len(column) * column.std()
    below = np.maximum(np.append(half_gaps[:1], half_gaps), share)
    above = np.maximum(np.append(half_gaps, half_gaps[-1:]), share)
    below[counts == 1] = above[counts == 1] = 0.0
    where = random.uniform(-1.0, 1.0, len(column))
    spread: NDArray[np.float64] = column + where * np.where(where < 0, below[place], above[place])
    return spread
