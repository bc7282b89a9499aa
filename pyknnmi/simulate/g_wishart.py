"""The G-Wishart distribution of precision matrices, and data in which every row has its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import ParameterError, PyknnmiError
from pyknnmi.graphs.graph import Graph
from pyknnmi.run import check_memory
from pyknnmi.simulate.arguments import Seed, check_rows, random_state
from pyknnmi.simulate.random_graphs import random_graph

__all__ = ["g_wishart", "g_wishart_mixture"]

Matrices = NDArray[np.float64]

# Largest change of a correlation in the last sweep. A few matrices take thousands of sweeps; most take a few dozen.
_TOLERANCE = 1e-9
_MOST_SWEEPS = 1_000_000


def g_wishart(graph: Graph, size: int, *, b: float = 3.0, rate: ArrayLike | None = None, seed: Seed = 0) -> Matrices:
    """Return precision matrices drawn from the G-Wishart distribution of a graph.

    The density at K is proportional to ``det(K)^((b - 2) / 2) exp(-trace(K D) / 2)`` on the positive definite matrices
    that are zero where the graph has no edge.

    Parameters
    ----------
    graph : Graph
        p nodes.
    size : int
        Number of matrices, at least 1.
    b : float, more than 2
        Degrees of freedom.
    rate : array_like, shape (p, p), optional
        D, positive definite; the identity when left out.
    seed : int or RandomState

    Returns
    -------
    ndarray, shape (size, p, p)
        The zeros are exact.

    References
    ----------
    Lenkoski (2013), "A direct sampler for G-Wishart variates", Stat 2, doi:10.1002/sta4.23.
    """
    p = len(graph.names)
    rate = np.eye(p) if rate is None else np.asarray(rate, dtype=np.float64)
    if size < 1:
        raise ParameterError(f"size = {size}: give at least 1", "size")
    if not b > 2:
        raise ParameterError(f"b = {b}: give a number above 2", "b")
    if rate.shape != (p, p):
        raise ParameterError(f"rate has shape {rate.shape}: the graph's {p} nodes need ({p}, {p})", "rate")
    check_memory(48.0 * size * p**2, f"{size} matrices of {p} columns", "take fewer at a time")
    try:
        root = np.linalg.cholesky(np.linalg.inv(rate))
    except np.linalg.LinAlgError:
        raise ParameterError("rate is not positive definite", "rate") from None
    inverse_root = np.linalg.inv(root @ _bartlett_factors(size, p, b + p - 1, random_state(seed)))
    covariances = inverse_root.transpose(0, 2, 1) @ inverse_root
    scales = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    correlations = covariances / (scales[:, :, None] * scales[:, None, :])
    linked = graph.adjacency() == 1
    precisions = np.linalg.inv(_completed(correlations, linked))
    precisions[:, ~(linked | np.eye(p, dtype=bool))] = 0.0  # they are zero up to the tolerance
    return np.asarray(precisions / (scales[:, :, None] * scales[:, None, :]), dtype=np.float64)


def g_wishart_mixture(
    n: int,
    p: int = 8,
    *,
    edge_probability: float | None = None,
    b: float = 3.0,
    rate_correlation: float = 0.15,
    seed: Seed = 0,
) -> tuple[Dataset, Graph]:
    """Return n rows of zero-mean Gaussian data on a random graph, each row with a precision matrix of its own.

    The columns are not jointly Gaussian; their Markov network has no edge that the graph has not.

    Parameters
    ----------
    n : int
        Rows, at least 2.
    p : int
        Columns, at least 2.
    edge_probability : float, optional
        As in `random_graph`. Leppä-aho et al. (2018) expected 6 edges of 8 columns and 10 of 16.
    b : float, more than 2
        Degrees of freedom; see `g_wishart`.
    rate_correlation : float
        The rate matrix has this outside its diagonal of ones.
    seed : int or RandomState

    Returns
    -------
    data : Dataset, shape (n, p)
    truth : Graph
    """
    check_rows(n)
    random = random_state(seed)
    graph = random_graph(p, edge_probability, seed=random)
    rate = np.full((p, p), rate_correlation)
    np.fill_diagonal(rate, 1.0)
    roots = np.linalg.cholesky(g_wishart(graph, n, b=b, rate=rate, seed=random))
    # K = L L' and x = L'^-1 e give x the covariance K^-1.
    noise = random.normal(size=(n, p, 1))
    values = np.linalg.solve(roots.transpose(0, 2, 1), noise)[:, :, 0]
    return Dataset(values, graph.names), graph


def _bartlett_factors(size: int, p: int, freedom: float, random: np.random.RandomState) -> Matrices:
    """Return lower-triangular A such that A A' has the Wishart distribution with identity scale (Bartlett 1933)."""
    factors = np.zeros((size, p, p))
    rows, columns = np.tril_indices(p, -1)
    factors[:, rows, columns] = random.normal(size=(size, len(rows)))
    factors[:, range(p), range(p)] = np.sqrt(random.chisquare(freedom - np.arange(p), size=(size, p)))
    return factors


def _completed(correlations: Matrices, linked: NDArray[np.bool_]) -> Matrices:
    """Return the correlation matrices with these entries at the edges and an inverse that is zero elsewhere.

    Step 2 of Lenkoski's sampler: in turn, the regression of each column on its neighbours gives its other entries,
    until nothing changes.
    """
    neighbors = [np.flatnonzero(row) for row in linked]
    completed = correlations.copy()
    active = np.arange(len(correlations))
    for _ in range(_MOST_SWEEPS):
        given, current = correlations[active], completed[active]
        for i, near in enumerate(neighbors):
            slopes = np.linalg.solve(current[:, near[:, None], near], given[:, near, i, None])
            row = (current[:, :, near] @ slopes)[:, :, 0]
            row[:, i] = 1.0
            current[:, i, :] = current[:, :, i] = row
        changes = np.abs(current - completed[active]).max(axis=(1, 2))
        completed[active] = current
        active = active[changes > _TOLERANCE]
        if not len(active):
            return completed
    raise PyknnmiError(f"{len(active)} G-Wishart matrices did not converge in {_MOST_SWEEPS} sweeps: try another seed")
