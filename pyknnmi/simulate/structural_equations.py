"""Networks of seven and of 21 columns, each column a function of others plus noise."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import ParameterError
from pyknnmi.graphs.graph import Graph
from pyknnmi.run import check_memory
from pyknnmi.simulate.arguments import Seed, check_rows, column_names, random_state

__all__ = ["Noise", "large_network", "small_network"]

Noise = Literal["gaussian", "uniform", "t"]
Columns = tuple[NDArray[np.float64], ...]

_EDGES = [(1, 2), (2, 3), (3, 4), (2, 5), (3, 5), (5, 6), (3, 7), (5, 7)]


def small_network(
    n: int,
    *,
    noise: Noise = "gaussian",
    linear: bool = False,
    seed: Seed = 0,
) -> tuple[Dataset, Graph]:
    """Return n rows of the seven-column network of Leppä-aho et al. (2018), and its Markov network.

    Parameters
    ----------
    n : int
        Rows, at least 2.
    noise : {"gaussian", "uniform", "t"}
        Standard normal, uniform on [-1, 1], or Student's t with two degrees of freedom.
    linear : bool
        Linear equations, or those with cosines, sines and products.
    seed : int or RandomState
        A `RandomState` is drawn from, so several calls in a row continue its stream.

    Returns
    -------
    data : Dataset, shape (n, 7)
    truth : Graph
        Eight edges.

    Examples
    --------
    >>> data, truth = small_network(100, noise="t", seed=1)
    >>> data.values.shape, len(truth.edges)
    ((100, 7), 8)
    """
    return _network(1, n, noise, linear, seed)


def large_network(n: int, *, noise: Noise = "gaussian", seed: Seed = 0) -> tuple[Dataset, Graph]:
    """Return three independent nonlinear small networks side by side, as one network.

    Parameters
    ----------
    n, noise, seed
        As in `small_network`.

    Returns
    -------
    data : Dataset, shape (n, 21)
    truth : Graph
        24 edges; none between the three parts.

    Examples
    --------
    >>> data, truth = large_network(100, noise="t", seed=1)
    >>> data.values.shape, len(truth.edges)
    ((100, 21), 24)
    """
    return _network(3, n, noise, False, seed)


def _network(copies: int, n: int, noise: Noise, linear: bool, seed: Seed) -> tuple[Dataset, Graph]:
    check_rows(n)
    if noise not in get_args(Noise):
        raise ParameterError(f"noise = '{noise}': give gaussian, uniform or t", "noise")
    check_memory(16.0 * n * 7 * copies, f"a table of {n} rows and {7 * copies} columns", "take fewer rows")
    random = random_state(seed)
    equations = _linear if linear else _nonlinear
    columns: list[NDArray[np.float64]] = []
    for _ in range(copies):
        # one column of noise after another: the order in which the published data were drawn
        columns += equations(*(_draw(random, noise, n) for _ in range(7)))
    names = column_names(len(columns))
    edges = [(names[7 * copy + a - 1], names[7 * copy + b - 1]) for copy in range(copies) for a, b in _EDGES]
    return Dataset(np.column_stack(columns), names), Graph(names, edges)


def _draw(random: np.random.RandomState, noise: Noise, n: int) -> NDArray[np.float64]:
    if noise == "gaussian":
        return random.normal(0, 1, n)
    if noise == "uniform":
        return random.uniform(-1, 1, n)
    return random.standard_t(2, n)


def _linear(*noise: NDArray[np.float64]) -> Columns:
    x1, e2, e3, e4, e5, e6, e7 = noise
    x2 = 0.20 * x1 + e2
    x3 = 0.50 * x2 + e3
    x4 = 0.25 * x3 + e4
    x5 = 0.35 * x2 + 0.55 * x3 + e5
    x6 = 0.65 * x5 + e6
    x7 = 0.90 * x3 + 0.25 * x5 + e7
    return x1, x2, x3, x4, x5, x6, x7


def _nonlinear(*noise: NDArray[np.float64]) -> Columns:
    x1, e2, e3, e4, e5, e6, e7 = noise
    x2 = 2 * np.cos(x1) + e2
    x3 = 2 * np.sin(np.pi * x2) + e3
    x4 = 3 * np.cos(x3) + e4
    x5 = 0.75 * x2 * x3 + e5
    x6 = 2.5 * x5 + e6
    x7 = 3 * np.cos(0.2 * x3) + np.log(np.abs(x5)) + e7
    return x1, x2, x3, x4, x5, x6, x7
