"""IAMB: incremental association Markov blanket."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from pyknnmi.builtin._phases import Adjust, full, next_member, shrink
from pyknnmi.components import BlanketLearner, Tester


@dataclass(frozen=True, kw_only=True)
class IAMB(BlanketLearner):
    """Incremental association: grow each blanket by its best candidate, then shrink it.

    Growing ranks every candidate by its association with the target given the blanket so far and tests the best
    one; it joins if dependent. Shrinking removes each member that is independent of the target given the rest, until
    nothing changes. The blankets joined by the rule estimate the moral graph; with a perfect test both rules give
    the true Markov network of a distribution that is faithful to a graph.

    Parameters
    ----------
    rule : and, or, combined
        An edge where each of two columns is in the other's blanket, or where either is; ``combined``, where either is
        and e sqrt(p1 p2) < alpha, p1 and p2 from tests given the rest of either blanket.
    exhaustive : bool
        If the best candidate is independent, set it aside and try the next best, instead of stopping. More tests,
        and larger blankets.
    max_conditioning : int or none, at least 0
        The largest conditioning set. A blanket stops growing when it is larger, so it has at most one member more.
    adjust : candidates or none
        The best of m candidates looks dependent by chance up to m times as often as one. ``candidates`` lets it join
        if p < alpha / m (Bonferroni), m the candidates left; ``none`` if p < alpha, as in the paper. Shrinking
        compares with alpha in any case. Permutation tests make more permutations where that small a p-value needs them.

    References
    ----------
    Tsamardinos, Aliferis and Statnikov (2003), "Algorithms for large scale Markov blanket discovery", FLAIRS;
    Leppä-aho, Räisänen, Yang and Roos (2018), "Learning non-parametric Markov networks with mutual information",
    PGM.
    """

    name: ClassVar[str] = "iamb"

    rule: Literal["and", "or", "combined"] = "and"
    exhaustive: bool = False
    max_conditioning: int | None = None
    adjust: Adjust = None

    def blanket(self, target: int, candidates: tuple[int, ...], tester: Tester) -> Iterable[int]:
        """Return the Markov blanket of `target`."""
        blanket: list[int] = []
        left = list(candidates)
        while left and not full(blanket, self.max_conditioning):
            best = next_member(target, left, blanket, tester, exhaustive=self.exhaustive, adjust=self.adjust)
            if best is None:
                break
            blanket.append(best)
        return shrink(target, blanket, tester)
