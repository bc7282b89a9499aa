"""IAMB: incremental association Markov blanket."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from pyknnmi import BlanketLearner, Tester


@dataclass(frozen=True, kw_only=True)
class IAMB(BlanketLearner):
    """Incremental association: grow each blanket by its best candidate, then shrink it.

    Growing ranks every candidate by its association with the target given the blanket so far and tests the best
    one; it joins if dependent. Shrinking removes each member that is independent of the target given the rest, until
    nothing changes. The blankets joined by the rule estimate the moral graph; with a perfect test both rules give
    the true Markov network of a distribution that is faithful to a graph.

    Parameters
    ----------
    rule : and, or
        An edge where each of two columns is in the other's blanket, or where either is.
    exhaustive : bool
        If the best candidate is independent, set it aside and try the next best, instead of stopping. More tests,
        and larger blankets.

    References
    ----------
    Tsamardinos, Aliferis and Statnikov (2003), "Algorithms for large scale Markov blanket discovery", FLAIRS;
    Leppä-aho, Räisänen, Yang and Roos (2018), "Learning non-parametric Markov networks with mutual information",
    PGM.
    """

    name: ClassVar[str] = "iamb"

    rule: Literal["and", "or"] = "and"
    exhaustive: bool = False

    def blanket(self, target: int, candidates: tuple[int, ...], test: Tester) -> Iterable[int]:
        """Return the Markov blanket of `target`."""
        return shrink(target, self._grow(target, candidates, test), test)

    def _grow(self, target: int, candidates: tuple[int, ...], test: Tester) -> list[int]:
        blanket: list[int] = []
        left = list(candidates)
        while left:
            scores = test.associations(target, left, blanket)
            ranked = [left[i] for i in np.argsort(-scores, kind="stable")]
            for best in ranked if self.exhaustive else ranked[:1]:
                left.remove(best)
                if not test.test(target, best, blanket).independent:
                    blanket.append(best)
                    break
            else:
                break
        return blanket


def shrink(target: int, blanket: Iterable[int], test: Tester) -> list[int]:
    """Return the blanket without the members that are independent of the target given the rest."""
    members = sorted(blanket)
    changed = True
    while changed:
        changed = False
        for member in tuple(members):
            rest = [other for other in members if other != member]
            if test.test(target, member, rest).independent:
                members = rest
                changed = True
    return members
