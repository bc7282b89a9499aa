"""Fast-IAMB: IAMB that lets many candidates join at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from pyknnmi.builtin._phases import Adjust, compared, full, ranked, shrink
from pyknnmi.components import BlanketLearner, Tester


@dataclass(frozen=True, kw_only=True)
class FastIAMB(BlanketLearner):
    """Incremental association with speculation: all candidates that are dependent join at once, then shrink.

    Every candidate is tested given the blanket so far and those that are dependent join together; after shrinking
    this is repeated until a blanket comes up a second time. Few rounds, large conditioning sets: for many
    rows or with `max_conditioning`, since here nothing else stops the speculation (the authors count rows a cell of
    discrete data). Estimates the moral graph; with a perfect test both rules give the true Markov network of a
    distribution that is faithful to a graph.

    Parameters
    ----------
    rule : and, or, combined
        An edge where each of two columns is in the other's blanket, or where either is; ``combined``, where either is
        and e sqrt(p1 p2) < alpha, p1 and p2 from tests given the rest of either blanket.
    max_conditioning : int or none, at least 0
        The largest conditioning set. The strongest candidates join until the blanket is larger.
    adjust : candidates or none
        Of m candidates some look dependent by chance. ``candidates`` lets one join if p < alpha / m (Bonferroni), m
        the candidates left; ``none`` if p < alpha, as in the paper. Shrinking compares with alpha in any case.
        Permutation tests make more permutations where that small a p-value needs them.

    References
    ----------
    Yaramakala and Margaritis (2005), "Speculative Markov blanket discovery for optimal feature selection", ICDM,
    doi:10.1109/ICDM.2005.134.
    """

    name: ClassVar[str] = "fast-iamb"

    rule: Literal["and", "or", "combined"] = "and"
    max_conditioning: int | None = None
    adjust: Adjust = None

    def blanket(self, target: int, candidates: tuple[int, ...], tester: Tester) -> Iterable[int]:
        """Return the Markov blanket of `target`."""
        blanket: list[int] = []
        seen: list[list[int]] = []
        while blanket not in seen and not full(blanket, self.max_conditioning):
            seen.append(blanket)
            outside = [other for other in candidates if other not in blanket]
            among = compared(outside, self.adjust)
            grown = list(blanket)
            for other in ranked(target, outside, blanket, tester):
                if full(grown, self.max_conditioning):
                    break
                if not tester.independent(target, other, blanket, among=among):
                    grown.append(other)
            blanket = shrink(target, grown, tester)
        return blanket
