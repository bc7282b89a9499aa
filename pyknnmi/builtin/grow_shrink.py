"""Grow-shrink, the first algorithm for Markov blankets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from pyknnmi.builtin._phases import Adjust, grow, ranked, shrink
from pyknnmi.components import BlanketLearner, Tester


@dataclass(frozen=True, kw_only=True)
class GrowShrink(BlanketLearner):
    """Grow-shrink: add every candidate that is dependent given the blanket so far, then shrink it.

    Candidates are ranked once, by their association with the target given nothing, and tried in this order again and
    again until none joins. With no ranking given the blanket, blankets grow larger than with `iamb` before they shrink.
    Estimates the moral graph; with a perfect test both rules give the true Markov network of a distribution that is
    faithful to a graph.

    Parameters
    ----------
    rule : and, or, combined
        An edge where each of two columns is in the other's blanket, or where either is; ``combined``, where either is
        and e sqrt(p1 p2) < alpha, p1 and p2 from tests given the rest of either blanket.
    max_conditioning : int or none, at least 0
        The largest conditioning set. A blanket stops growing when it is larger, so it has at most one member more.
    adjust : candidates or none
        Of m candidates some look dependent by chance. ``candidates`` lets one join if p < alpha / m (Bonferroni), m
        the candidates left; ``none`` if p < alpha, as in the paper. Shrinking compares with alpha in any case.
        Permutation tests make more permutations where that small a p-value needs them.

    References
    ----------
    Margaritis and Thrun (1999), "Bayesian network induction via local neighborhoods", NIPS 12; Margaritis (2003),
    "Learning Bayesian network model structure from data", thesis, for the order of the candidates.
    """

    name: ClassVar[str] = "grow-shrink"

    rule: Literal["and", "or", "combined"] = "and"
    max_conditioning: int | None = None
    adjust: Adjust = None

    def blanket(self, target: int, candidates: tuple[int, ...], tester: Tester) -> Iterable[int]:
        """Return the Markov blanket of `target`."""
        order = ranked(target, candidates, (), tester)
        blanket = grow(target, order, tester, self.max_conditioning, adjust=self.adjust)
        return shrink(target, blanket, tester)
