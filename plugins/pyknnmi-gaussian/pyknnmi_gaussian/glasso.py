"""The learner ``glasso``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from .ebic import ebic_scores, log_likelihood
from .graphical_lasso import graphical_lasso_path, precision_graphs
from .penalized import Floats, Graphs, PenalizedLearner


@dataclass(frozen=True, kw_only=True)
class GraphicalLasso(PenalizedLearner):
    """Graphical lasso: edges are the entries of a penalised precision matrix that are not zero.

    Right for jointly Gaussian columns, or with ``nonparanormal`` or a rank correlation for increasing functions of
    them. The result's ``details`` hold the penalty, the curve that it was chosen by, and for each edge its partial
    correlation and, with StARS, the share of the subsamples that have it.

    Parameters
    ----------
    select : stars, ric, ebic, none
        What chooses the penalty: the stability of the graphs over subsamples (Liu et al. 2010), random rotations, or a
        penalised likelihood. ``none`` needs a penalty.
    penalty : float or none, positive
        A fixed penalty, on the scale of correlations. If given, nothing is selected.
    path : int, at least 2
        Penalties to choose from, evenly spaced in the logarithm, from the smallest with an empty graph downwards.
    min_ratio : float, in (0, 1)
        The last of them divided by the first.
    penalize_diagonal : bool
        Whether the diagonal is penalised too, as R's huge does.
    correlation : pearson, spearman, kendall
        Rank correlations come on the scale of Pearson's (the "skeptic" of Liu et al. 2012).
    subsamples, threshold, stars_rule
        StARS: number of subsamples, largest instability (0.1 is the 0.05 of the article), and whether the curve is made
        monotone, as in the article, or read as R's huge reads it, which can give the empty graph.
    rotations : int, at least 1
        RIC: number of rotations.
    gamma : float, from 0 to 1
        EBIC: how much the number of columns counts.

    References
    ----------
    Friedman, Hastie and Tibshirani (2008), doi:10.1093/biostatistics/kxm045; Liu, Roeder and Wasserman (2010), NIPS 23;
    Foygel and Drton (2010), NIPS 23; Zhao et al. (2012), Journal of Machine Learning Research 13.
    """

    name: ClassVar[str] = "glasso"
    strength: ClassVar[str] = "partial_correlation"

    select: Literal["stars", "ric", "ebic"] | None = "stars"
    penalize_diagonal: bool = True

    @property
    def selection(self) -> str | None:
        """How the penalty is chosen."""
        return self.select

    def fit(self, correlation: Floats, penalties: Floats) -> Floats:
        """Return the precision matrices."""
        return graphical_lasso_path(correlation, penalties, penalize_diagonal=self.penalize_diagonal)

    def graphs(self, fitted: Floats) -> Graphs:
        """Return their graphs."""
        return precision_graphs(fitted)

    def scores(self, correlation: Floats, fitted: Floats, n: int) -> Floats:
        """Return their EBIC."""
        edges = self.graphs(fitted).sum(axis=(1, 2)) // 2
        return ebic_scores(log_likelihood(correlation, fitted), edges, n=n, p=len(correlation), gamma=self.gamma)

    def strengths(self, fitted: Floats) -> Floats:
        """Return the partial correlations."""
        scale = np.sqrt(fitted.diagonal())
        partial: Floats = -fitted / np.outer(scale, scale)
        return partial
