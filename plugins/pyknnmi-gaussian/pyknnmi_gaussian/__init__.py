"""Graphs of Gaussian data: graphical lasso, neighbourhood selection, and the choice of a penalty.

Pure functions on NumPy arrays. They compute what R's huge computes, to the exact solution.
"""

from .correlation import (
    pearson_correlation,
    positive_semidefinite_correlation,
    skeptic_correlation,
    standardize,
)
from .ebic import ebic_scores, log_likelihood, neighbourhood_ebic_scores
from .errors import ColumnError, ConvergenceError
from .graphical_lasso import graphical_lasso, graphical_lasso_path, precision_graphs
from .neighbourhood_selection import automatic_penalty, neighbourhood_graphs, neighbourhood_path
from .penalties import penalty_path
from .rotation_criterion import random_rotations, rotation_penalty
from .stars import (
    Stability,
    edge_frequencies,
    instability,
    random_subsamples,
    stability_index,
    stars,
    subsample_size,
)

__all__ = [
    "ColumnError",
    "ConvergenceError",
    "Stability",
    "automatic_penalty",
    "ebic_scores",
    "edge_frequencies",
    "graphical_lasso",
    "graphical_lasso_path",
    "instability",
    "log_likelihood",
    "neighbourhood_ebic_scores",
    "neighbourhood_graphs",
    "neighbourhood_path",
    "pearson_correlation",
    "penalty_path",
    "positive_semidefinite_correlation",
    "precision_graphs",
    "random_rotations",
    "random_subsamples",
    "rotation_penalty",
    "skeptic_correlation",
    "stability_index",
    "standardize",
    "stars",
    "subsample_size",
]
