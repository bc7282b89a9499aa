"""Regressions of columns on smooth functions of others, and what graphs and tests are made of them."""

from __future__ import annotations

from pyknnmi.regression.check import direction_p_values, symmetric_p_value
from pyknnmi.regression.effects import partial_effects, partners, shape_of
from pyknnmi.regression.graph_search import Allowed, GraphSearch
from pyknnmi.regression.recent import Recent
from pyknnmi.regression.repeats import without_copies
from pyknnmi.regression.smooth import ColumnFit, SmoothRegressions
from pyknnmi.regression.smoother import Fit, Smoothed, Smoother, smooth_scale
from pyknnmi.regression.ties import spread_ties

__all__ = [
    "Allowed",
    "ColumnFit",
    "Fit",
    "GraphSearch",
    "Recent",
    "SmoothRegressions",
    "Smoothed",
    "Smoother",
    "direction_p_values",
    "partial_effects",
    "partners",
    "shape_of",
    "smooth_scale",
    "spread_ties",
    "symmetric_p_value",
    "without_copies",
]
