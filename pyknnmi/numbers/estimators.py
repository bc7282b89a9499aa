"""k-nearest-neighbour estimates of entropy and mutual information, in nats and with the max norm."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi import _core
from pyknnmi.errors import DataError
from pyknnmi.numbers.checks import one_column
from pyknnmi.numbers.choice import estimator_for, estimator_for_candidates
from pyknnmi.numbers.samples import (
    Engine,
    EstimatorName,
    Points,
    check_parameters,
    flags_of,
    points_of,
    sample_of,
)

__all__ = [
    "build_info",
    "conditional_mutual_information",
    "conditional_mutual_informations",
    "entropy",
    "estimate_of_counts",
    "mutual_information",
    "neighbor_counts",
]


def entropy(x: ArrayLike, k: int = 3, *, threads: int = 0) -> float:
    """Return the differential entropy of `x`, in nats.

    Parameters
    ----------
    x : array_like, shape (n,) or (n, d)
        n > k points of d columns.
    k : int, default 3
        Neighbours, 1 <= k < n.
    threads : int, default 0
        0 uses all cores. The answer does not depend on it.

    Returns
    -------
    float
        Minus infinity when a point coincides with k others: such data have no density.

    Raises
    ------
    DataError
        NaN or infinite values, or n <= k.
    DataTypeError
        Anything but real numbers.
    ParameterError
        `k` or `threads` that are no whole numbers of their range.

    References
    ----------
    Kozachenko and Leonenko (1987); Kraskov, Stögbauer and Grassberger (2004), Eq. 20,
    doi:10.1103/PhysRevE.69.066138.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).uniform(0, 2, 5000)  # its entropy is log 2 = 0.693
    >>> round(entropy(x), 1)
    0.7
    """
    points = points_of(x, "x")
    check_parameters(k, len(points), threads)
    return _core.entropy(points, k, threads, None)


def mutual_information(
    x: ArrayLike, y: ArrayLike, k: int = 3, *, estimator: EstimatorName = "auto", threads: int = 0
) -> float:
    """Return the mutual information of `x` and `y`, in nats.

    Parameters
    ----------
    x, y : array_like, shape (n,) or (n, d)
        n > k points each; the numbers of columns may differ.
    k : int, default 3
        Neighbours, 1 <= k < n. A larger k has less variance and more bias.
    estimator : {"auto", "ksg", "mixed", "cells"}
        ``ksg`` is for continuous columns; ``mixed`` (Mesner and Shalizi 2019) also takes ties, whole numbers
        and categories; ``cells`` counts equal rows, for categories and few values. ``auto`` takes ``cells`` where
        `pyknnmi.numbers.cells_suit` says so; else ``mixed`` if there are categories, or in some column a value is
        shared by more than k other rows, as `pyknnmi.numbers.tied_share` counts; and ``ksg`` otherwise. A constant
        column does not count.
    threads : int, default 0
        0 uses all cores. The answer does not depend on it.

    Returns
    -------
    float
        An estimate; it may be slightly negative when the truth is zero. The max norm compares columns, so
        put them on one scale first.

    Raises
    ------
    DataError
        NaN or infinite values, unequal lengths, or n <= k.
    DataTypeError
        Anything but real numbers.
    ParameterError
        Another estimator; `k` or `threads` that are no whole numbers of their range.

    References
    ----------
    Kraskov, Stögbauer and Grassberger (2004), Eq. 8, doi:10.1103/PhysRevE.69.066138.

    Examples
    --------
    >>> import numpy as np
    >>> x, e = np.random.default_rng(0).standard_normal((2, 2000))
    >>> round(mutual_information(x, x + e), 1)  # the truth is log(2)/2 = 0.347
    0.3
    """
    return conditional_mutual_information(x, y, None, k, estimator=estimator, threads=threads)


def conditional_mutual_information(
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike | None,
    k: int = 3,
    *,
    estimator: EstimatorName = "auto",
    categories: Sequence[bool] = (),
    threads: int = 0,
    poll: Callable[[], None] | None = None,
) -> float:
    """Return the mutual information of `x` and `y` given `z`, in nats.

    Parameters
    ----------
    x, y, z : array_like, shape (n,) or (n, d)
        n > k points each; the numbers of columns may differ. `z` may be None, empty or without columns.
    k : int, default 3
        Neighbours, 1 <= k < n.
    estimator : {"auto", "ksg", "mixed", "cells"}
        ``ksg`` is for continuous columns; ``mixed`` (Mesner and Shalizi 2019) also takes ties, whole numbers
        and categories; ``cells`` counts equal rows, for categories and few values. ``auto`` takes ``cells`` where
        `pyknnmi.numbers.cells_suit` says so; else ``mixed`` if there are categories, or in some column a value is
        shared by more than k other rows, as `pyknnmi.numbers.tied_share` counts; and ``ksg`` otherwise. A constant
        column does not count.
    categories : sequence of bool, optional
        Which columns are categories, of x, y and z in this order: whole numbers that are 0 apart where equal and 1
        where not. Empty: none.
    threads : int, default 0
        0 uses all cores. The answer does not depend on it.
    poll : callable, optional
        Called a few times a second; an exception from it ends the calculation.

    Returns
    -------
    float
        An estimate, biased towards zero when `z` has many columns. The max norm compares columns, so put them
        on one scale first.

    Raises
    ------
    DataError
        NaN or infinite values, unequal lengths, or n <= k.
    DataTypeError
        Anything but real numbers.
    ParameterError
        Another estimator; `k` or `threads` that are no whole numbers of their range.

    Notes
    -----
    A neighbour is counted when its distance is less than that of the k-th by more than a relative 1e-10, so
    decimal rounding does not break ties; at distance zero coincident points count. The mixed estimator counts those at
    the k-th's distance too, and puts the number of neighbours within it in the place of k. The estimator by cells
    uses no k: it is the mean of psi(c_xyz) - psi(c_xz) - psi(c_yz) + psi(c_z), where c is the number of rows that equal
    row i in a space, row i included. psi in the place of the logarithm takes off most of the bias.

    References
    ----------
    Frenzel and Pompe (2007), doi:10.1103/PhysRevLett.99.204101; Vejmelka and Paluš (2008),
    doi:10.1103/PhysRevE.77.026214. Mixed: Mesner and Shalizi (2019), arXiv:1912.03387. Cells: Grassberger (1988),
    doi:10.1016/0375-9601(88)90193-4.

    Examples
    --------
    >>> import numpy as np
    >>> z, a, b = np.random.default_rng(0).standard_normal((3, 2000))
    >>> round(conditional_mutual_information(z + a, z + b, z), 1)  # independent given z
    0.0
    """
    xs, ys, zs = sample_of(x, y, z)
    check_parameters(k, len(xs), threads, estimator, poll=poll)
    flags = flags_of(categories, xs, ys, zs)
    chosen = estimator_for(estimator, k, flags, xs, ys, zs)
    return _core.conditional_mutual_information(xs, ys, zs, k, chosen, "auto", threads, poll, flags)


def conditional_mutual_informations(
    x: ArrayLike,
    candidates: ArrayLike,
    z: ArrayLike | None,
    k: int = 3,
    *,
    estimator: EstimatorName = "auto",
    categories: Sequence[bool] = (),
    engine: Engine = "auto",
    threads: int = 0,
    poll: Callable[[], None] | None = None,
) -> Points:
    """Return the estimate for each column of `candidates` as y, in nats, sharing the work between them.

    Parameters
    ----------
    x, z : array_like, shape (n,) or (n, d)
        n > k points. `z` may be None, empty or without columns.
    candidates : array_like, shape (n, m)
        m columns, each a y of its own.
    k : int, default 3
        Neighbours, 1 <= k < n.
    estimator : {"auto", "ksg", "mixed", "cells"}
        As in `conditional_mutual_information`; one for all candidates, so that they can be compared. ``auto`` takes
        ``cells`` where it would for each of them.
    categories : sequence of bool, optional
        Which columns are categories, of x, the candidates and z in this order: whole numbers that are 0 apart where
        equal and 1 where not. Empty: none.
    engine : {"auto", "tree", "single", "batch"}
        May change the time and never the answer. Several columns in x or y take the tree in any case.
    threads : int, default 0
        0 uses all cores. More than there are processors are not used. The answer does not depend on it.
    poll : callable, optional
        Called a few times a second; an exception from it ends the calculation.

    Returns
    -------
    ndarray, shape (m,)
        The estimates.

    Raises
    ------
    DataError, DataTypeError, ParameterError
        As `conditional_mutual_information`.
    """
    xs, ys, zs = sample_of(x, candidates, z, "candidates")
    check_parameters(k, len(xs), threads, estimator, engine, poll)
    flags = flags_of(categories, xs, ys, zs)
    chosen = estimator_for_candidates(estimator, k, flags, xs, ys, zs)
    return _core.conditional_mutual_informations(xs, ys, zs, k, chosen, engine, threads, poll, flags)


def neighbor_counts(
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike | None,
    k: int = 3,
    *,
    categories: Sequence[bool] = (),
    threads: int = 0,
    poll: Callable[[], None] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return, for each point, how many others are nearer than its k-th joint neighbour in (x, z), in (y, z) and in z.

    Parameters
    ----------
    x, y, z : array_like, shape (n,) or (n, d)
        n > k points each. `z` may be None, empty or without columns.
    k : int, default 3
        Neighbours, 1 <= k < n.
    categories : sequence of bool, optional
        Which columns are categories, of x, y and z in this order: whole numbers that are 0 apart where equal and 1
        where not. Empty: none.
    threads : int, default 0
        0 uses all cores. The answer does not depend on it.
    poll : callable, optional
        Called a few times a second; an exception from it ends the calculation.

    Returns
    -------
    three ndarrays, shape (n,)
        Numbers of points, the point itself not counted.

    Raises
    ------
    DataError, DataTypeError, ParameterError
        As `conditional_mutual_information`.
    """
    xs, ys, zs = sample_of(x, y, z)
    check_parameters(k, len(xs), threads, poll=poll)
    return _core.neighbor_counts(xs, ys, zs, k, "auto", threads, poll, flags_of(categories, xs, ys, zs))


def estimate_of_counts(xz: ArrayLike, yz: ArrayLike, z: ArrayLike, k: int = 3) -> float:
    """Return the conditional mutual information of columns without ties from what `neighbor_counts` found.

    A search that is done for the counts need not be done again for the estimate.

    Parameters
    ----------
    xz, yz, z : array_like of int, shape (n,)
        As `neighbor_counts` returns them: from 0 to n - 1.
    k : int, default 3
        The same as there, 1 <= k < n.

    Returns
    -------
    float
        In nats: to the bit that of `conditional_mutual_information` with ``estimator="ksg"``.

    Raises
    ------
    DataError, DataTypeError
        Values that are no counts, or arrays that differ in length.
    ParameterError
        `k` out of its range.

    References
    ----------
    Frenzel and Pompe (2007), doi:10.1103/PhysRevLett.99.204101.
    """
    given = {"xz": xz, "yz": yz, "z": z}
    counts = {name: one_column(values) for name, values in given.items()}
    n = len(counts["z"])
    for name, values in counts.items():
        if len(values) != n:
            raise DataError(f"{name} has {len(values)} counts and z has {n}: give one for each point")
        if n and not ((values >= 0) & (values < n) & (values == np.floor(values))).all():
            raise DataError(f"{name} must be counts of other points: whole numbers from 0 to {n - 1}")
    check_parameters(k, n, 0)
    xz, yz, z = (values.astype(np.uint32) for values in counts.values())
    return _core.estimate_of_counts(xz, yz, z, k)


def build_info() -> dict[str, str]:
    """Return how the core was built: compiler, nanoflann, OpenMP, instruction set."""
    return {key: str(value) for key, value in _core.build_info().items()}
