"""SI-HITON-PC: semi-interleaved HITON, parents and children."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from pyknnmi.builtin._phases import prune, ranked, separated
from pyknnmi.components import BlanketLearner, Tester


@dataclass(frozen=True, kw_only=True)
class SIHitonPC(BlanketLearner):
    """Semi-interleaved HITON: the skeleton, by candidates in the order of their association with the target.

    Candidates are ranked once. Each in turn joins unless some subset of the members makes it independent of the target;
    in the end members that a subset of the others makes independent leave. Estimates the skeleton; with a perfect
    test and the rule ``and`` it is the true one of a distribution that is faithful to a graph, directed acyclic or
    undirected. The set of one column may hold descendants, so ``or`` joins too much.

    The number of tests grows exponentially with the number of neighbours, unless `max_conditioning` bounds it.

    Parameters
    ----------
    rule : and, or
        An edge where each of two columns is in the other's set, or where either is.
    max_conditioning : int or none, at least 0
        The largest conditioning set.

    References
    ----------
    Aliferis, Statnikov, Tsamardinos, Mani and Koutsoukos (2010), "Local causal and Markov blanket induction for causal
    discovery and feature selection for classification, part I", JMLR 11, 171-234.
    """

    name: ClassVar[str] = "si-hiton-pc"
    estimates: ClassVar[Literal["moral graph", "skeleton"]] = "skeleton"

    rule: Literal["and", "or"] = "and"
    max_conditioning: int | None = None

    def blanket(self, target: int, candidates: tuple[int, ...], tester: Tester) -> Iterable[int]:
        """Return the parents and children of `target`."""
        members: list[int] = []
        for candidate in ranked(target, candidates, (), tester):
            if not separated(target, candidate, members, tester, self.max_conditioning):
                members.append(candidate)
        return prune(target, members, tester, self.max_conditioning)
