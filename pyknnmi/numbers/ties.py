"""Values that many rows share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pyknnmi.numbers.checks import one_column

__all__ = ["tied_share"]


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
