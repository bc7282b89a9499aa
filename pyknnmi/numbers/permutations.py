"""The permutation test on the estimates, and the permutations that it makes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi import _core
from pyknnmi.errors import DataError, ParameterError, check_choice
from pyknnmi.numbers.checks import check_real, check_whole
from pyknnmi.numbers.choice import estimator_for
from pyknnmi.numbers.samples import (
    MOST,
    Engine,
    EstimatorName,
    Points,
    check_parameters,
    check_poll,
    flags_of,
    points_of,
    sample_of,
)
from pyknnmi.run import check_memory

__all__ = ["PermutationResult", "permutation_test", "permuted_rows", "permuted_statistics", "swapped_rows"]

Stop = Literal["never", "certain", "sequential", "reached"]

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
    season: int = 1,
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
    season : int, 1 to n / 2, default 1
        Above 1, stretches begin every so many rows only, so that each row gets a y of its own time of the season. The
        rows after the last whole season stay. `block_length` has to be a multiple of it.
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
    xs, ys, zs = sample_of(x, y, z)
    check_parameters(k, len(xs), threads, estimator, engine, poll)
    _check_permutations(permutations, seed, stream, neighbors)
    check_choice("stop", stop, get_args(Stop))
    check_real("alpha", alpha, math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0))
    if stop == "sequential" and permutations > _MOST_SEQUENTIAL:
        raise ParameterError(
            f"stop = 'sequential' is for at most {_MOST_SEQUENTIAL} permutations, not {permutations}: "
            "give fewer, or stop = 'certain'",
            "permutations",
        )
    exchanged = _exchanged(len(xs), neighbors, groups, whole_groups, block_length, season)
    flags = flags_of(categories, xs, ys, zs)
    chosen = estimator_for(estimator, k, flags, xs, ys, zs)
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
    season: int = 1,
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
    x, y, z, k, permutations, seed, stream, neighbors, groups, whole_groups, block_length, season
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
    >>> from pyknnmi.numbers import conditional_mutual_information
    >>> x, y, z = np.random.default_rng(0).standard_normal((3, 200))
    >>> observed, permuted = permuted_statistics(x, y, z, permutations=19, seed=1, neighbors=7)
    >>> rows = permuted_rows(z, permutations=19, seed=1, neighbors=7)
    >>> float(permuted[4]) == conditional_mutual_information(x, y[rows[4]], z)
    True
    """
    xs, ys, zs = sample_of(x, y, z)
    check_parameters(k, len(xs), threads, estimator, engine, poll)
    _check_permutations(permutations, seed, stream, neighbors)
    exchanged = _exchanged(len(xs), neighbors, groups, whole_groups, block_length, season)
    flags = flags_of(categories, xs, ys, zs)
    chosen = estimator_for(estimator, k, flags, xs, ys, zs)
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
    season: int = 1,
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
    permutations, seed, stream, neighbors, groups, whole_groups, block_length, season, threads, poll
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
    zs = points_of(z, "z")
    if len(zs) < 2:
        raise DataError(f"z has {len(zs)} rows: give at least 2")
    _check_permutations(permutations, seed, stream, neighbors)
    check_whole("first", first, 0, MOST)
    check_poll(poll)
    check_whole("threads", threads, 0, MOST)
    exchanged = _exchanged(len(zs), neighbors, groups, whole_groups, block_length, season)
    check_memory(4.0 * permutations * len(zs), f"{permutations} permutations of {len(zs)} rows", "make them in parts")
    return _core.permuted_rows(
        zs, permutations, seed, stream, *exchanged, first, threads, poll, flags_of(categories, zs)
    )


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
        How many nearest neighbors in z, in the max norm, the row itself included: at least 1 if z has columns.
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
    zs = points_of(z, "z")
    if len(zs) < 2:
        raise DataError(f"z has {len(zs)} rows: give at least 2")
    _check_permutations(permutations, seed, stream, neighbors)
    check_whole("neighbors", neighbors, min(1, zs.shape[1]), MOST)
    check_whole("first", first, 0, MOST)
    check_poll(poll)
    check_whole("threads", threads, 0, MOST)
    check_memory(4.0 * permutations * len(zs), f"{permutations} permutations of {len(zs)} rows", "make them in parts")
    return _core.swapped_rows(zs, permutations, seed, stream, neighbors, first, threads, poll)


def _exchanged(
    n: int, neighbors: int, groups: ArrayLike | None, whole_groups: bool, block_length: int, season: int
) -> tuple[int, NDArray[np.uint32], bool, int, int]:
    """Return which rows may exchange their y, as the core takes it."""
    check_whole("block_length", block_length, 0, MOST)
    check_whole("season", season, 1, max(n // 2, 1))
    if season > 1 and (block_length == 0 or block_length % season):
        raise ParameterError(f"block_length = {block_length}: give a multiple of season = {season}", "block_length")
    check_memory(4.0 * n * min(neighbors, n), f"neighbors = {neighbors} of {n} rows", "take fewer")
    if groups is None and whole_groups:
        raise ParameterError("whole_groups needs groups: a label for each row", "whole_groups")
    if groups is not None and (block_length > 0 or (whole_groups and neighbors > 0)):
        raise ParameterError("groups go with neither block_length, nor neighbors and whole_groups together", "groups")
    if groups is None:
        return neighbors, np.empty(0, dtype=np.uint32), whole_groups, block_length, season
    labels = np.asarray(groups)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() > MOST:
        raise ParameterError(f"groups: give {n} whole numbers, a label for each row", "groups")
    return neighbors, labels.astype(np.uint32), whole_groups, block_length, season


def _check_permutations(permutations: int, seed: int, stream: int, neighbors: int) -> None:
    check_whole("permutations", permutations, 1, MOST)
    check_whole("neighbors", neighbors, 0, MOST)
    check_whole("seed", seed, 0, 2**64 - 1)
    check_whole("stream", stream, 0, 2**64 - 1)
