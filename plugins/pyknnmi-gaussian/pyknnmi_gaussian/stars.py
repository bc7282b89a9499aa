"""StARS: the densest graph that is stable under subsampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import Floats, checked_data

StabilityRule = Literal["monotone", "huge"]
GraphPath = Callable[[Floats], NDArray[np.bool_]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Stability:
    """How stable the graphs of a path are, and the one chosen.

    Attributes
    ----------
    index : int
        Position of the chosen penalty.
    instability : ndarray, shape (m,)
        In [0, 1]: see `instability`.
    monotone_instability : ndarray, shape (m,)
        Largest instability at this penalty or a larger one.
    edge_frequencies : ndarray, shape (m, p, p)
        Share of the subsamples whose graph has the edge.
    """

    index: int
    instability: Floats
    monotone_instability: Floats
    edge_frequencies: Floats


def stars(
    data: ArrayLike,
    graph_path: GraphPath,
    *,
    subsamples: int = 20,
    size: int | None = None,
    threshold: float = 0.1,
    rule: StabilityRule = "monotone",
    seed: int = 0,
) -> Stability:
    """Return the stability of each graph of a path over subsamples, and the choice of one.

    Parameters
    ----------
    data : array_like, shape (n, p)
    graph_path : callable
        Takes rows of the data and returns their graphs at the m penalties, bool, of shape
        (m, p, p). The penalties must be the same in every call.
    subsamples : int, at least 2
        Number of subsamples, drawn without replacement.
    size : int, optional
        Rows in each; by default `subsample_size`.
    threshold : float, in (0, 1)
        Largest instability allowed. The default 0.1 is that of R's huge, and the 0.05 that the
        article advises: see `instability`.
    rule : {"monotone", "huge"}
        See `stability_index`.
    seed : int, at least 0
        The rows of a subsample depend on this and on its number only.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If an argument is out of its range, or a column is constant in a subsample.

    Notes
    -----
    The frequency of an edge over 20 subsamples has a standard error of up to 0.11, so that another
    seed may choose a neighbouring penalty. Very dense graphs are stable too, since all subsamples
    agree that everything is joined: read the curve from its sparse end.

    References
    ----------
    Liu, Roeder and Wasserman (2010), "Stability approach to regularization selection (StARS) for
    high dimensional graphical models", NIPS 23, section 3.
    """
    array = checked_data(data)
    n = len(array)
    rows = random_subsamples(n, subsamples, subsample_size(n) if size is None else size, seed=seed)
    frequencies = edge_frequencies(array, graph_path, rows)
    curve = instability(frequencies)
    return Stability(
        index=stability_index(curve, threshold=threshold, rule=rule),
        instability=curve,
        monotone_instability=np.maximum.accumulate(curve),
        edge_frequencies=frequencies,
    )


def subsample_size(n: int) -> int:
    """Return the number of rows in a subsample of n rows: ``10 sqrt(n)``, or ``0.8 n`` up to 144.

    Rounded down. The first is the article's, the second is what R's huge does where the first is
    too large a share of the rows.
    """
    return int(10 * np.sqrt(n)) if n > 144 else int(0.8 * n)


def random_subsamples(n: int, count: int, size: int, *, seed: int) -> NDArray[np.intp]:
    """Return the rows of subsamples drawn without replacement.

    Parameters
    ----------
    n : int
        Number of rows to draw from.
    count : int, at least 2
        Number of subsamples.
    size : int, from 2 to n - 1
        Rows in each.
    seed : int, at least 0
        Subsample i is drawn by a generator seeded with (seed, i), so that it does not depend on the
        number of subsamples or on the order in which they are computed.

    Returns
    -------
    ndarray of int, shape (count, size)

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    if count < 2:
        raise ValueError(f"subsamples is {count}: stability needs at least two")
    if not 2 <= size < n:
        raise ValueError(f"size is {size}: a subsample of {n} rows has from 2 to {n - 1}")
    return np.stack([np.random.default_rng((seed, i)).permutation(n)[:size] for i in range(count)])


def edge_frequencies(data: Floats, graph_path: GraphPath, subsamples: NDArray[np.intp]) -> Floats:
    """Return, for each penalty and pair, the share of subsamples whose graph has the edge.

    Parameters
    ----------
    data : ndarray, shape (n, p)
    graph_path : callable
        As for `stars`.
    subsamples : ndarray of int, shape (count, size)
        Rows of each subsample.

    Returns
    -------
    ndarray, shape (m, p, p)
    """
    counts = sum(graph_path(data[rows]).astype(np.int64) for rows in subsamples)
    return np.asarray(counts / len(subsamples))


def instability(edge_frequencies: Floats) -> Floats:
    """Return the mean over all pairs of ``4 f (1 - f)``, f being the frequency of the edge.

    It is 0 when all subsamples give the same graph and 1 when each edge is a coin toss. This is
    the scale of R's huge, which is twice that of the article (``2 f (1 - f)``, at most 1/2).

    Parameters
    ----------
    edge_frequencies : ndarray, shape (m, p, p)
        Symmetric, with zero diagonals.

    Returns
    -------
    ndarray, shape (m,)
    """
    p = edge_frequencies.shape[-1]
    variance = edge_frequencies * (1 - edge_frequencies)
    return np.asarray(4 * variance.sum(axis=(1, 2)) / (p * (p - 1)))


def stability_index(curve: ArrayLike, *, threshold: float = 0.1, rule: StabilityRule = "monotone") -> int:
    """Return the position of the penalty that StARS chooses.

    Parameters
    ----------
    curve : array_like, shape (m,)
        Instability at decreasing penalties.
    threshold : float, in (0, 1)
    rule : {"monotone", "huge"}
        "monotone", as in the article: the smallest penalty such that no penalty from it upwards has
        an instability above the threshold. "huge", as R's huge does: the penalty before the first
        one whose instability reaches the threshold. The two differ when no penalty reaches it: the
        article then takes the smallest penalty, the densest graph of the path, and huge the
        largest, the empty graph.

    Returns
    -------
    int
        0 where the largest penalty is unstable already: the empty graph, on a path from
        `penalty_path`. With few variables one or two edges that come and go there are a large share
        of all pairs, 1 / 15 each for p = 6, and a larger threshold is called for.

    Raises
    ------
    ValueError
        If the threshold is out of its range or the rule is unknown.
    """
    if not 0 < threshold < 1:
        raise ValueError(f"threshold is {threshold}: it must lie between 0 and 1")
    values = np.asarray(curve)
    if rule == "monotone":
        stable = np.maximum.accumulate(values) <= threshold
        return max(int(stable.sum()) - 1, 0)
    if rule == "huge":
        return max(int(np.argmax(values >= threshold)) - 1, 0)
    raise ValueError(f"rule is {rule!r}: choose 'monotone' or 'huge'")
