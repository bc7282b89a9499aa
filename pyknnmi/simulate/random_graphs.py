"""Random graphs with Gaussian data, and with data that are a monotone function of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import ParameterError
from pyknnmi.graphs.graph import Graph
from pyknnmi.run import check_memory
from pyknnmi.simulate.arguments import Seed, check_rows, column_names, random_state

__all__ = ["graph_correlation", "random_gaussian", "random_graph", "random_nonparanormal"]


def random_graph(p: int, edge_probability: float | None = None, *, seed: Seed = 0) -> Graph:
    """Return a graph in which each pair is joined independently with the same probability.

    Parameters
    ----------
    p : int
        Nodes, at least 2.
    edge_probability : float, optional
        In [0, 1]; 3/p, or 1 if that is more, when left out.
    seed : int or RandomState

    Examples
    --------
    >>> len(random_graph(10, 1.0).edges)
    45
    """
    if p < 2:
        raise ParameterError(f"p = {p}: give at least 2 columns", "p")
    if edge_probability is None:
        edge_probability = min(1.0, 3 / p)
    if not 0 <= edge_probability <= 1:
        raise ParameterError(f"edge_probability = {edge_probability}: give a number from 0 to 1", "edge_probability")
    check_memory(50.0 * p**2, f"a graph on {p} columns", "take fewer")
    random = random_state(seed)
    names = column_names(p)
    pairs = [(names[i], names[j]) for i in range(p) for j in range(i + 1, p)]
    joined = random.uniform(size=len(pairs)) < edge_probability
    return Graph(names, [pair for pair, edge in zip(pairs, joined, strict=True) if edge])


def graph_correlation(graph: Graph) -> NDArray[np.float64]:
    """Return the correlation matrix, shape (p, p), that R's package huge gives to a graph.

    It is that of the precision matrix whose entry is 0.3 for an edge, 0 elsewhere, and whose diagonal is the absolute
    smallest eigenvalue of that plus 0.2.

    References
    ----------
    Zhao, Liu, Roeder, Lafferty and Wasserman (2012), "The huge package for high-dimensional undirected graph
    estimation in R", Journal of Machine Learning Research 13; ``huge.generator`` with its defaults v = 0.3, u = 0.1.
    """
    p = len(graph.names)
    check_memory(40.0 * p**2, f"the correlation matrix of {p} columns", "take a graph of fewer")
    precision = 0.3 * graph.adjacency()
    smallest = np.linalg.eigvalsh(precision)[0]
    covariance = np.linalg.inv(precision + (abs(smallest) + 0.1 + 0.1) * np.eye(len(precision)))
    scale = np.sqrt(np.diag(covariance))
    correlation: NDArray[np.float64] = covariance / np.outer(scale, scale)
    return correlation


def random_gaussian(
    n: int, p: int = 10, *, edge_probability: float | None = None, seed: Seed = 0
) -> tuple[Dataset, Graph]:
    """Return n rows of Gaussian data on a random graph, made as R's package huge makes them.

    Parameters
    ----------
    n : int
        Rows, at least 2.
    p : int
        Columns, at least 2.
    edge_probability : float, optional
        As in `random_graph`.
    seed : int or RandomState

    Returns
    -------
    data : Dataset, shape (n, p)
        Each column has mean 0 and variance 1; see `graph_correlation`.
    truth : Graph
    """
    check_rows(n)
    random = random_state(seed)
    graph = random_graph(p, edge_probability, seed=random)
    # A Cholesky factor is unique; a root from eigenvectors would depend on the signs that LAPACK gives them.
    root = np.linalg.cholesky(graph_correlation(graph))
    check_memory(16.0 * n * p, f"a table of {n} rows and {p} columns", "take a smaller one")
    return Dataset(random.normal(size=(n, p)) @ root.T, graph.names), graph


def random_nonparanormal(
    n: int, p: int = 10, *, edge_probability: float | None = None, seed: Seed = 0
) -> tuple[Dataset, Graph]:
    """Return the cubes of `random_gaussian`'s values: not Gaussian, with the same graph.

    Parameters
    ----------
    n, p, edge_probability, seed
        As in `random_gaussian`.

    Returns
    -------
    data : Dataset, shape (n, p)
    truth : Graph

    References
    ----------
    Liu, Lafferty and Wasserman (2009), "The nonparanormal", Journal of Machine Learning Research 10.
    """
    data, truth = random_gaussian(n, p, edge_probability=edge_probability, seed=seed)
    return Dataset(data.values**3, data.names), truth
