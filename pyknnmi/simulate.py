"""Data whose true graph is known."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data import Dataset
from pyknnmi.errors import ParameterError
from pyknnmi.graph import Graph

__all__ = ["Noise", "small_network"]

Noise = Literal["gaussian", "uniform", "t"]

_SMALL_NETWORK = [
    ("X1", "X2"),
    ("X2", "X3"),
    ("X3", "X4"),
    ("X2", "X5"),
    ("X3", "X5"),
    ("X5", "X6"),
    ("X3", "X7"),
    ("X5", "X7"),
]


def small_network(
    n: int,
    *,
    noise: Noise = "gaussian",
    linear: bool = False,
    seed: int | np.random.RandomState = 0,
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
    if n < 2:
        raise ParameterError(f"n = {n}: give at least 2 rows", "n")
    if noise not in ("gaussian", "uniform", "t"):
        raise ParameterError(f"noise = '{noise}': give gaussian, uniform or t", "noise")
    random = seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)
    draws = [_draw(random, noise, n) for _ in range(7)]
    columns = _linear(*draws) if linear else _nonlinear(*draws)
    names = [f"X{i + 1}" for i in range(7)]
    return Dataset.of(np.column_stack(columns), names), Graph(names, _SMALL_NETWORK)


def _draw(random: np.random.RandomState, noise: Noise, n: int) -> NDArray[np.float64]:
    # one column after another, of shape (n, 1): the order in which the published data were drawn
    if noise == "gaussian":
        return random.normal(0, 1, (n, 1))
    if noise == "uniform":
        return random.uniform(-1, 1, (n, 1))
    return random.standard_t(2, (n, 1))


Columns = tuple[NDArray[np.float64], ...]


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
