"""MMPC: max-min parents and children."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

from pyknnmi.builtin._phases import prune, separated
from pyknnmi.components import BlanketLearner, Tester


@dataclass(frozen=True, kw_only=True)
class MMPC(BlanketLearner):
    """Max-min parents and children: the skeleton, by candidates that no subset of the members explains.

    The next candidate is the one whose weakest association with the target, over all subsets of the members so far, is
    strongest; it joins unless some subset makes it independent, which rules it out for good. In the end members
    that a subset of the others makes independent leave. Estimates the skeleton; with a perfect test and the rule
    ``and`` it is the true one of a distribution that is faithful to a graph, directed acyclic or undirected. The set of
    one column may hold descendants, so ``or`` joins too much.

    The number of tests grows exponentially with the number of neighbours, unless `max_conditioning` bounds it.

    Parameters
    ----------
    rule : and, or
        An edge where each of two columns is in the other's set, or where either is.
    max_conditioning : int or none, at least 0
        The largest conditioning set.

    References
    ----------
    Tsamardinos, Brown and Aliferis (2006), "The max-min hill-climbing Bayesian network structure learning
    algorithm", Machine Learning 65, doi:10.1007/s10994-006-6889-7.
    """

    name: ClassVar[str] = "mmpc"
    estimates: ClassVar[Literal["moral graph", "skeleton"]] = "skeleton"

    rule: Literal["and", "or"] = "and"
    max_conditioning: int | None = None

    def blanket(self, target: int, candidates: tuple[int, ...], tester: Tester) -> Iterable[int]:
        """Return the parents and children of `target`."""
        members: list[int] = []
        weakest = dict(zip(candidates, tester.associations(target, candidates), strict=True))
        while weakest:
            best = max(weakest, key=weakest.__getitem__)
            del weakest[best]
            if separated(target, best, members, tester, self.max_conditioning):
                continue
            for given in self._new_subsets(members, best):
                scores = tester.associations(target, list(weakest), given)
                weakest = {other: min(weakest[other], score) for other, score in zip(weakest, scores, strict=True)}
            members.append(best)
        return prune(target, members, tester, self.max_conditioning)

    def _new_subsets(self, members: list[int], newest: int) -> Iterable[tuple[int, ...]]:
        most = len(members) + 1 if self.max_conditioning is None else self.max_conditioning
        return ((*subset, newest) for size in range(most) for subset in combinations(members, size))
