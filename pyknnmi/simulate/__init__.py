"""Data whose true graph is known.

Every generator takes ``seed``, a number or a `numpy.random.RandomState`, and returns the data and the graph. NumPy has
frozen the streams of `RandomState`: a seed stands for the same random numbers in every version.
"""

from __future__ import annotations

from pyknnmi.simulate.g_wishart import g_wishart, g_wishart_mixture
from pyknnmi.simulate.random_graphs import (
    graph_correlation,
    random_gaussian,
    random_graph,
    random_nonparanormal,
)
from pyknnmi.simulate.structural_equations import Noise, large_network, small_network

__all__ = [
    "Noise",
    "g_wishart",
    "g_wishart_mixture",
    "graph_correlation",
    "large_network",
    "random_gaussian",
    "random_graph",
    "random_nonparanormal",
    "small_network",
]
