"""The penalties at which a path of graphs is computed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .checks import Floats, checked_covariance


def penalty_path(correlation: ArrayLike, *, count: int = 20, min_ratio: float = 0.01) -> Floats:
    """Return decreasing penalties, evenly spaced in the logarithm.

    The first is the smallest penalty at which both the graphical lasso and neighbourhood selection
    give the empty graph: the largest absolute correlation of two variables. This is the path of
    R's huge (``nlambda``, ``lambda.min.ratio``).

    Parameters
    ----------
    correlation : array_like, shape (p, p)
        Correlation (or covariance) matrix; its diagonal is not used.
    count : int, at least 1
        Number of penalties.
    min_ratio : float, in (0, 1)
        Last penalty divided by the first.

    Returns
    -------
    ndarray, shape (count,)
        Strictly decreasing.

    Raises
    ------
    ValueError
        If `count` or `min_ratio` is out of range, or all correlations are zero, so that every
        penalty gives the empty graph.
    """
    if count < 1:
        raise ValueError(f"count is {count}: a path needs at least one penalty")
    if not 0 < min_ratio < 1:
        raise ValueError(f"min_ratio is {min_ratio}: it must lie between 0 and 1")
    matrix = checked_covariance(correlation)
    largest = float(np.abs(matrix - np.diag(matrix.diagonal())).max())
    if largest == 0:
        raise ValueError("all correlations are zero: the graph is empty at every penalty")
    # geomspace keeps the end points exactly; exp(log(largest)) could fall just below and let an
    # edge of rounding error into the empty graph.
    return np.geomspace(largest, largest * min_ratio, count)
