"""RIC: the penalty at which data without any dependence would give the empty graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import Floats, checked_data


def random_rotations(n: int, count: int = 20, *, seed: int = 0) -> NDArray[np.intp]:
    """Return distinct numbers of rows to rotate by.

    Parameters
    ----------
    n : int, at least 2
        Number of rows.
    count : int, at least 1
        Number of rotations; where there are no more than that, all of 1 to n - 1 are returned.
    seed : int, at least 0

    Returns
    -------
    ndarray of int, shape (min(count, n - 1),)
    """
    if n < 2 or count < 1:
        raise ValueError(f"n is {n} and count is {count}: give at least 2 rows and 1 rotation")
    return 1 + np.random.default_rng(seed).permutation(n - 1)[:count]


def rotation_penalty(data: ArrayLike, rotations: ArrayLike) -> float:
    """Return the penalty chosen by the rotation information criterion.

    Rotating a column against another, as a ring, keeps both distributions and destroys their
    dependence. For each rotation the largest absolute product moment, over all pairs of one column
    rotated and another not, is the smallest penalty with an empty graph; the criterion is the least
    of these over the rotations. As a minimum it falls with the number of rotations.

    Parameters
    ----------
    data : array_like, shape (n, p)
        Columns with mean 0 and standard deviation 1: see `standardize`. R's huge takes the data as
        they are, so that on other data its penalty is not on the scale of correlations.
    rotations : array_like of int, shape (count,)
        From 1 to n - 1: see `random_rotations`. The rows of time series are no ring: give rotations
        that are larger than the time over which they depend on themselves.

    Returns
    -------
    float

    References
    ----------
    Zhao, Liu, Roeder, Lafferty and Wasserman (2012), Journal of Machine Learning Research 13,
    1059-1062, after Lysen (2009), "Permuted inclusion criterion", University of Pennsylvania.
    """
    array: Floats = checked_data(data)
    pairs = ~np.eye(array.shape[1], dtype=bool)
    largest = [np.abs(np.roll(array, rotation, axis=0).T @ array)[pairs].max() for rotation in np.asarray(rotations)]
    return float(min(largest) / len(array))
