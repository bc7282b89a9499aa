"""k-nearest-neighbour estimates of entropy and mutual information, and the permutation test on them.

The one module that calls the compiled core. All estimates are in nats and use the max norm.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi import _core
from pyknnmi.data.dataset import as_array
from pyknnmi.errors import DataError, DataTypeError, ParameterError, check_choice
from pyknnmi.numbers.checks import check_real, check_whole
from pyknnmi.numbers.ties import cells_suit, tied_share
from pyknnmi.run import check_memory

__all__ = [
    "Engine",
    "EstimatorName",
    "PermutationResult",
    "build_info",
    "conditional_mutual_information",
    "conditional_mutual_informations",
    "entropy",
    "mutual_information",
    "neighbor_counts",
    "permutation_test",
    "permuted_rows",
    "permuted_statistics",
    "swapped_rows",
]

Engine = Literal["auto", "tree", "single", "batch"]
EstimatorName = Literal["auto", "ksg", "mixed", "cells"]
Stop = Literal["never", "certain", "sequential", "reached"]
Points = NDArray[np.float64]

_MOST = 2**31 - 1  # what the core counts with
_MOST_SEQUENTIAL = 10_000  # its level is found in a time that grows with the square


@dataclass(frozen=True)
class PermutationResult:
    """What a permutation test saw.

    Attributes
    ----------
    statistic : float
        The observed estimate in nats.
    at_least : int
        How many permuted estimates were at least as large as the observed one. Ties count.
    permutations : int
        How many permutations were made.
    anytime_p_value : float
        A p-value that is valid whenever a test is stopped, for any reason: under independence it is below any a with
        probability a at most. It is larger than `p_value`, never below 0.6 alpha, and 1 where nothing speaks against
        independence. From the betting martingale of Fischer and Ramdas (2025), arXiv:2401.07365.
    """

    statistic: float
    at_least: int
    permutations: int
    anytime_p_value: float

    @property
    def p_value(self) -> float:
        """(at_least + 1) / (permutations + 1), never zero (Phipson and Smyth 2010).

        Where ``certain`` or ``sequential`` stopped a test early it says whether p < alpha, and is no valid p-value at
        other levels.
        """
        return (self.at_least + 1) / (self.permutations + 1)


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
    points = _points(x, "x")
    _check_parameters(k, len(points), threads)
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
    xs, ys, zs = _sample(x, y, z)
    _check_parameters(k, len(xs), threads, estimator, poll=poll)
    flags = _flags(categories, xs, ys, zs)
    chosen = _for_columns(estimator, k, flags, xs, ys, zs)
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
    xs, ys, zs = _sample(x, candidates, z, "candidates")
    _check_parameters(k, len(xs), threads, estimator, engine, poll)
    flags = _flags(categories, xs, ys, zs)
    chosen = _for_candidates(estimator, k, flags, xs, ys, zs)
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
    xs, ys, zs = _sample(x, y, z)
    _check_parameters(k, len(xs), threads, poll=poll)
    return _core.neighbor_counts(xs, ys, zs, k, "auto", threads, poll, _flags(categories, xs, ys, zs))


def permutation_test(
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike | None,
    k: int = 3,
    *,
    permutations: int = 200,
    seed: int = 0,
    stream: int = 0,
    neighbors: int = 0,
    groups: ArrayLike | None = None,
    whole_groups: bool = False,
    block_length: int = 0,
    stop: Stop = "never",
    alpha: float = 0.05,
    estimator: EstimatorName = "auto",
    categories: Sequence[bool] = (),
    engine: Engine = "auto",
    threads: int = 0,
    poll: Callable[[], None] | None = None,
) -> PermutationResult:
    """Return how many of the estimates with permuted `y` are at least the observed one.

    Parameters
    ----------
    x, y, z : array_like, shape (n,) or (n, d)
        n > k points each. `z` may be None, empty or without columns.
    k : int, default 3
        Neighbours, 1 <= k < n.
    permutations : int, default 200
        How many.
    seed, stream : int, 0 to 2**64 - 1
        The same pair gives the same permutations anywhere.
    neighbors : int, default 0
        0 permutes y over all rows. A positive number gives each row the y of one of that many nearest
        neighbours in z (Runge 2018).
    groups : array_like of int, shape (n,), optional
        A label for each row, at least 0. Rows are permuted within the groups of one label, with `neighbors` too.
    whole_groups : bool, default False
        Permute whole groups instead, the rows of each in their order. Groups of one size are exchanged as they are;
        those of several sizes are laid over the rows one after another.
    block_length : int, default 0
        If positive, the rows follow each other in time, and stretches of this length are permuted: from random rows on
        in a circle, or, with `neighbors`, between stretches in which z takes a near course.
    stop : {"never", "certain", "sequential", "reached"}
        ``certain`` ends the test as soon as the remaining permutations cannot change whether p < alpha. ``sequential``
        also ends it once a bet against independence has won enough: then p < alpha for those made, where all of them
        might have said otherwise. The probability of p < alpha under independence stays alpha at most, for
        exchangeable permutations, by exact recursion; for at most 10000 permutations. Of 200 permutations at
        alpha = 0.05, both look after 79 and 143. ``reached`` ends the test at a look after which 25 permuted
        estimates reached the observed one: small p-values take more permutations than large ones. p is then a p-value
        at every level (Besag and Clifford 1991, doi:10.1093/biomet/78.2.301), with a standard error of at most a fifth
        of it unless all were made.
    alpha : float, in (0, 1), default 0.05
        The level at which `stop` decides.
    estimator, categories, engine, threads, poll
        As in `conditional_mutual_informations`.

    Raises
    ------
    DataError, DataTypeError, ParameterError
        As `conditional_mutual_information`.
    """
    xs, ys, zs = _sample(x, y, z)
    _check_parameters(k, len(xs), threads, estimator, engine, poll)
    _check_permutations(permutations, seed, stream, neighbors)
    check_choice("stop", stop, get_args(Stop))
    check_real("alpha", alpha, math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0))
    if stop == "sequential" and permutations > _MOST_SEQUENTIAL:
        raise ParameterError(
            f"stop = 'sequential' is for at most {_MOST_SEQUENTIAL} permutations, not {permutations}: "
            "give fewer, or stop = 'certain'",
            "permutations",
        )
    exchanged = _exchanged(len(xs), neighbors, groups, whole_groups, block_length)
    flags = _flags(categories, xs, ys, zs)
    chosen = _for_columns(estimator, k, flags, xs, ys, zs)
    counts = _core.permutation_test(
        xs, ys, zs, k, permutations, seed, stream, *exchanged, stop, alpha, chosen, engine, threads, poll, flags
    )
    return PermutationResult(*counts)


def permuted_statistics(
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike | None,
    k: int = 3,
    *,
    permutations: int = 200,
    seed: int = 0,
    stream: int = 0,
    neighbors: int = 0,
    groups: ArrayLike | None = None,
    whole_groups: bool = False,
    block_length: int = 0,
    estimator: EstimatorName = "auto",
    categories: Sequence[bool] = (),
    engine: Engine = "auto",
    threads: int = 0,
    poll: Callable[[], None] | None = None,
) -> tuple[float, Points]:
    """Return the observed estimate and the estimates with permuted `y`, in nats.

    For tests that combine several statistics under the same permutations, which `permuted_rows` gives.

    Parameters
    ----------
    x, y, z, k, permutations, seed, stream, neighbors, groups, whole_groups, block_length
        As in `permutation_test`.
    estimator, categories, engine, threads, poll
        As in `permutation_test`.

    Returns
    -------
    float
        The observed estimate.
    ndarray, shape (permutations,)
        The estimate under each permutation.

    Raises
    ------
    DataError, DataTypeError, ParameterError
        As `conditional_mutual_information`.

    Examples
    --------
    The estimate under permutation t is that of ``y[permuted_rows(z, ...)[t]]``:

    >>> import numpy as np
    >>> x, y, z = np.random.default_rng(0).standard_normal((3, 200))
    >>> observed, permuted = permuted_statistics(x, y, z, permutations=19, seed=1, neighbors=7)
    >>> rows = permuted_rows(z, permutations=19, seed=1, neighbors=7)
    >>> float(permuted[4]) == conditional_mutual_information(x, y[rows[4]], z)
    True
    """
    xs, ys, zs = _sample(x, y, z)
    _check_parameters(k, len(xs), threads, estimator, engine, poll)
    _check_permutations(permutations, seed, stream, neighbors)
    exchanged = _exchanged(len(xs), neighbors, groups, whole_groups, block_length)
    flags = _flags(categories, xs, ys, zs)
    chosen = _for_columns(estimator, k, flags, xs, ys, zs)
    return _core.permuted_statistics(
        xs, ys, zs, k, permutations, seed, stream, *exchanged, chosen, engine, threads, poll, flags
    )


def permuted_rows(
    z: ArrayLike,
    *,
    permutations: int = 200,
    seed: int = 0,
    stream: int = 0,
    neighbors: int = 0,
    groups: ArrayLike | None = None,
    whole_groups: bool = False,
    block_length: int = 0,
    first: int = 0,
    categories: Sequence[bool] = (),
    threads: int = 0,
    poll: Callable[[], None] | None = None,
) -> NDArray[np.uint32]:
    """Return the permutations that `permutation_test` makes, as numbers of rows.

    Parameters
    ----------
    z : array_like, shape (n,) or (n, d)
        The conditioning set of n >= 2 rows. It may have no columns: shape (n, 0).
    permutations, seed, stream, neighbors, groups, whole_groups, block_length, threads, poll
        As in `permutation_test`.
    first : int, default 0
        The number of the first permutation, for those who make them in parts.
    categories : sequence of bool, optional
        Which columns of z are categories.

    Returns
    -------
    ndarray of uint32, shape (permutations, n)
        Under permutation t, row i is given the y of row ``[t, i]``. With `neighbors` a row may be used twice
        where all neighbours of another are taken, and another not at all.

    Raises
    ------
    DataError, DataTypeError, ParameterError
        As `conditional_mutual_information`.

    References
    ----------
    Local permutations: Runge (2018), Algorithm 1, "Conditional independence testing based on a nearest-neighbor
    estimator of conditional mutual information", AISTATS.
    """
    zs = _points(z, "z")
    if len(zs) < 2:
        raise DataError(f"z has {len(zs)} rows: give at least 2")
    _check_permutations(permutations, seed, stream, neighbors)
    check_whole("first", first, 0, _MOST)
    _check_poll(poll)
    check_whole("threads", threads, 0, _MOST)
    exchanged = _exchanged(len(zs), neighbors, groups, whole_groups, block_length)
    check_memory(4.0 * permutations * len(zs), f"{permutations} permutations of {len(zs)} rows", "make them in parts")
    return _core.permuted_rows(zs, permutations, seed, stream, *exchanged, first, threads, poll, _flags(categories, zs))


def swapped_rows(
    z: ArrayLike,
    *,
    permutations: int = 200,
    seed: int = 0,
    stream: int = 0,
    neighbors: int = 10,
    first: int = 0,
    threads: int = 0,
    poll: Callable[[], None] | None = None,
) -> NDArray[np.uint32]:
    """Return permutations among neighbors in `z` that make p-values exact where all orders of y are equally likely.

    In a round of swaps each row, in random order, swaps its place with one of its nearest neighbors, if both have not
    yet swapped. A permutation is one round that is the same for all permutations, and one of its own. So the order of
    the data is to each permutation what the permutations are to each other. Every row is used once.

    Parameters
    ----------
    z : array_like, shape (n,) or (n, d)
        The conditioning set of n >= 2 rows. Without columns, shape (n, 0), permutations are over all rows.
    permutations, seed, stream, threads, poll
        As in `permutation_test`.
    neighbors : int, default 10
        How many nearest neighbors in z, in the max norm, the row itself included.
    first : int, default 0
        The number of the first permutation, for those who make them in parts.

    Returns
    -------
    ndarray of uint32, shape (permutations, n)
        Under permutation t, row i is given the y of row ``[t, i]``.

    Raises
    ------
    DataError, DataTypeError, ParameterError
        As `conditional_mutual_information`.

    References
    ----------
    Besag and Clifford (1989), "Generalized Monte Carlo significance tests", Biometrika 76,
    doi:10.1093/biomet/76.4.633.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(0).standard_normal(100)
    >>> rows = swapped_rows(z, permutations=3)
    >>> sorted(rows[2].tolist()) == list(range(100))
    True
    """
    zs = _points(z, "z")
    if len(zs) < 2:
        raise DataError(f"z has {len(zs)} rows: give at least 2")
    _check_permutations(permutations, seed, stream, neighbors)
    check_whole("first", first, 0, _MOST)
    _check_poll(poll)
    check_whole("threads", threads, 0, _MOST)
    return _core.swapped_rows(zs, permutations, seed, stream, neighbors, first, threads, poll)


def _for_columns(
    estimator: EstimatorName, k: int, flags: Sequence[bool], x: Points, y: Points, z: Points
) -> Literal["ksg", "mixed", "cells"]:
    return _for_each(estimator, k, np.hstack([x, y, z]), flags, [range(x.shape[1] + y.shape[1] + z.shape[1])])


def _for_candidates(
    estimator: EstimatorName, k: int, flags: Sequence[bool], x: Points, candidates: Points, z: Points
) -> Literal["ksg", "mixed", "cells"]:
    first, last = x.shape[1], x.shape[1] + candidates.shape[1]
    fixed = [*range(first), *range(last, last + z.shape[1])]
    questions = [[*fixed, y] for y in range(first, last)]
    return _for_each(estimator, k, np.hstack([x, candidates, z]), flags, questions)


def _for_each(
    estimator: EstimatorName, k: int, columns: Points, flags: Sequence[bool], questions: Sequence[Sequence[int]]
) -> Literal["ksg", "mixed", "cells"]:
    """Return the estimator for questions about some of the columns, each given by their numbers."""
    if estimator != "auto":
        return estimator
    categories = flags or [False] * columns.shape[1]
    levels = [len(np.unique(column)) for column in columns.T]
    if all(cells_suit(len(columns), [levels[i] for i in q], [categories[i] for i in q]) for q in questions):
        return "cells"
    if any(categories):
        return "mixed"
    tied = any(tied_share(column, k) > 0 and column.min() < column.max() for column in columns.T)
    return "mixed" if tied else "ksg"


def _exchanged(
    n: int, neighbors: int, groups: ArrayLike | None, whole_groups: bool, block_length: int
) -> tuple[int, NDArray[np.uint32], bool, int]:
    """Return which rows may exchange their y, as the core takes it."""
    check_whole("block_length", block_length, 0, _MOST)
    check_memory(4.0 * n * min(neighbors, n), f"neighbors = {neighbors} of {n} rows", "take fewer")
    if groups is None and whole_groups:
        raise ParameterError("whole_groups needs groups: a label for each row", "whole_groups")
    if groups is not None and (block_length > 0 or (whole_groups and neighbors > 0)):
        raise ParameterError("groups go with neither block_length, nor neighbors and whole_groups together", "groups")
    if groups is None:
        return neighbors, np.empty(0, dtype=np.uint32), whole_groups, block_length
    labels = np.asarray(groups)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() > _MOST:
        raise ParameterError(f"groups: give {n} whole numbers, a label for each row", "groups")
    return neighbors, labels.astype(np.uint32), whole_groups, block_length


def build_info() -> dict[str, str]:
    """Return how the core was built: compiler, nanoflann, OpenMP, instruction set."""
    return {key: str(value) for key, value in _core.build_info().items()}


def _points(data: ArrayLike, name: str) -> Points:
    array = as_array(data, name)
    if array.dtype.kind not in "fiub":
        raise DataTypeError(f"{name} holds {array.dtype}: give real numbers")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise DataError(f"{name} has {array.ndim} dimensions: give shape (n,) or (n, d)")
    if array.shape[1] == 0 and name != "z":
        raise DataError(f"{name} has no columns")
    points = array.astype(np.float64, copy=False)
    if points.dtype.byteorder not in "=|" or not points.flags.aligned:
        points = np.array(points, dtype=np.float64)
    if not np.isfinite(points).all():
        raise DataError(f"{name} holds NaN or infinite values: drop or replace those rows")
    return points


def _sample(x: ArrayLike, y: ArrayLike, z: ArrayLike | None, y_name: str = "y") -> tuple[Points, Points, Points]:
    xs, ys = _points(x, "x"), _points(y, y_name)
    zs = np.empty((len(xs), 0)) if z is None or np.shape(z) == (0,) else _points(z, "z")
    for name, points in ((y_name, ys), ("z", zs)):
        if len(points) != len(xs):
            raise DataError(f"x has {len(xs)} rows and {name} has {len(points)}: give equal lengths")
    return xs, ys, zs


def _flags(categories: Sequence[bool], *blocks: Points) -> list[bool]:
    flags = [bool(flag) for flag in categories]
    columns = sum(block.shape[1] for block in blocks)
    if flags and len(flags) != columns:
        raise ParameterError(
            f"categories has {len(flags)} values: give one for each of the {columns} columns", "categories"
        )
    for column, flag in zip((c for block in blocks for c in block.T), flags, strict=bool(flags)):
        if flag and not (np.equal(column, np.rint(column)).all() and np.abs(column).max() < 2**31):
            raise DataError("the values of a category must be whole numbers below 2**31")
    return flags


def _check_parameters(
    k: int, n: int, threads: int, estimator: str = "ksg", engine: str = "auto", poll: object = None
) -> None:
    _check_k(k, n)
    _check_poll(poll)
    check_whole("threads", threads, 0, _MOST)
    check_choice("estimator", estimator, get_args(EstimatorName))
    check_choice("engine", engine, get_args(Engine))


def _check_poll(poll: object) -> None:
    if poll is not None and not callable(poll):
        raise ParameterError(f"poll = {poll!r}: give a function without arguments, or None", "poll")


def _check_permutations(permutations: int, seed: int, stream: int, neighbors: int) -> None:
    check_whole("permutations", permutations, 1, _MOST)
    check_whole("neighbors", neighbors, 0, _MOST)
    check_whole("seed", seed, 0, 2**64 - 1)
    check_whole("stream", stream, 0, 2**64 - 1)


def _check_k(k: int, n: int) -> None:
    if not isinstance(k, numbers.Integral) or isinstance(k, bool):
        raise ParameterError(f"k = {k!r}: the number of neighbours is a whole number")
    if k < 1:
        raise ParameterError(f"k = {k}: the number of neighbours is at least 1")
    if n <= k:
        raise DataError(f"{n} rows are too few for k = {k}: give at least {k + 1}")
