"""The learner ``neighbourhood``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

import pyknnmi

from .ebic import neighbourhood_ebic_scores
from .neighbourhood_selection import automatic_penalty, neighbourhood_graphs, neighbourhood_path
from .penalized import Choice, Floats, Graphs, PenalizedLearner


@dataclass(frozen=True, kw_only=True)
class NeighbourhoodSelection(PenalizedLearner):
    """Neighbourhood selection: the neighbours of a column are those with a coefficient in its lasso regression.

    Right for jointly Gaussian columns, or with ``nonparanormal`` or a rank correlation for increasing functions of
    them. The result's ``details`` hold the penalty, the curve that it was chosen by, and for each edge the larger of
    its two coefficients and, with StARS, the share of the subsamples that have it.

    Parameters
    ----------
    select : stars, ric, ebic, auto, none
        What chooses the penalty, as for ``glasso``; ``auto`` is a formula that bounds the probability, for Gaussian
        data, that two columns are joined which no path connects.
    rule : and, or
        An edge where each of two columns is in the other's neighbourhood, or where either is.
    alpha : float, in (0, 1)
        The bound of ``auto``.
    formula : paper, code
        ``auto`` as printed in Leppä-aho et al. (2018), or twice that, as in their program. The squared error is halved
        here, which halves the penalty of Meinshausen and Bühlmann; so the paper's formula is the one that keeps the
        bound.
    penalty, path, min_ratio, correlation, subsamples, threshold, stars_rule, rotations, gamma
        As for ``glasso``.

    References
    ----------
    Meinshausen and Bühlmann (2006), doi:10.1214/009053606000000281; Leppä-aho, Räisänen, Yang and Roos (2018), PGM.
    """

    name: ClassVar[str] = "neighbourhood"
    strength: ClassVar[str] = "coefficient"

    select: Literal["stars", "ric", "ebic", "auto"] | None = "stars"
    rule: Literal["and", "or"] = "and"
    alpha: float = 0.05
    formula: Literal["paper", "code"] = "paper"

    def check(self) -> None:
        """Check the ranges."""
        super().check()
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")

    @property
    def selection(self) -> str | None:
        """How the penalty is chosen."""
        return self.select

    def fit(self, correlation: Floats, penalties: Floats) -> Floats:
        """Return the lasso coefficients."""
        return neighbourhood_path(correlation, penalties)

    def graphs(self, fitted: Floats) -> Graphs:
        """Return the graphs that the rule makes of them."""
        return neighbourhood_graphs(fitted, self.rule)

    def scores(self, correlation: Floats, fitted: Floats, n: int) -> Floats:
        """Return the sum of the EBIC of all regressions."""
        return neighbourhood_ebic_scores(correlation, fitted, n=n, gamma=self.gamma)

    def strengths(self, fitted: Floats) -> Floats:
        """Return the coefficient that is larger in size, of the two of each pair."""
        return np.where(np.abs(fitted) >= np.abs(fitted.T), fitted, fitted.T)

    def _choose(self, values: Floats, correlation: Floats, run: pyknnmi.Run) -> Choice:
        if self.penalty is None and self.select == "auto":
            n, p = values.shape
            return Choice(automatic_penalty(n, p, alpha=self.alpha, formula=self.formula), {"select": "auto"})
        return super()._choose(values, correlation, run)
