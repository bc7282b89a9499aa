"""Phases that several learners share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from pyknnmi.components import Tester


def ranked(target: int, candidates: Sequence[int], given: Sequence[int], tester: Tester) -> list[int]:
    """Return the candidates by their association with the target, the strongest first."""
    scores = tester.associations(target, candidates, given)
    return [candidates[i] for i in np.argsort(-scores, kind="stable")]


Adjust = Literal["candidates"] | None
"""What a candidate's p-value is compared with while a blanket grows: alpha, or alpha / number of candidates."""


def next_member(
    target: int,
    candidates: list[int],
    blanket: Sequence[int],
    tester: Tester,
    *,
    exhaustive: bool,
    adjust: Adjust,
) -> int | None:
    """Return the best candidate if it is dependent on the target given the blanket, and take it off the candidates.

    If it is independent there is none; or, exhaustively, it is taken off too and the next best is tried.
    """
    among = compared(candidates, adjust)
    ranking = ranked(target, candidates, blanket, tester)
    for best in ranking if exhaustive else ranking[:1]:
        candidates.remove(best)
        if not tester.independent(target, best, blanket, among=among):
            return best
    return None


def compared(candidates: Sequence[int], adjust: Adjust) -> int:
    """Return by how many tests a level is to be divided."""
    return len(candidates) if adjust == "candidates" else 1


def full(blanket: Collection[int], max_conditioning: int | None) -> bool:
    """Return whether the blanket is too large to be conditioned on, and so to grow."""
    return max_conditioning is not None and len(blanket) > max_conditioning


def grow(
    target: int,
    candidates: Sequence[int],
    tester: Tester,
    max_conditioning: int | None,
    start: Iterable[int] = (),
    adjust: Adjust = None,
) -> list[int]:
    """Return `start` with the candidates that are dependent on the target given what is there before them.

    Each that is dependent joins; the rest are tried again, in their order, until none joins.
    """
    blanket = list(start)
    before = -1
    while before < len(blanket):
        before = len(blanket)
        among = compared([candidate for candidate in candidates if candidate not in blanket], adjust)
        for candidate in candidates:
            if full(blanket, max_conditioning):
                break
            if candidate not in blanket and not tester.independent(target, candidate, blanket, among=among):
                blanket.append(candidate)
    return blanket


def shrink(target: int, blanket: Iterable[int], tester: Tester, keep: Collection[int] = ()) -> list[int]:
    """Return the blanket without the members that are independent of the target given the rest.

    Those in `keep` stay. Sweeps in the order of the columns until nothing changes.
    """
    members = sorted(blanket)
    changed = True
    while changed:
        changed = False
        for member in members.copy():
            rest = [other for other in members if other != member]
            if member not in keep and tester.independent(target, member, rest):
                members = rest
                changed = True
    return members


def separated(target: int, other: int, pool: Collection[int], tester: Tester, max_conditioning: int | None) -> bool:
    """Return whether some subset of `pool` makes two columns independent; small subsets are tried first."""
    most = len(pool) if max_conditioning is None else min(len(pool), max_conditioning)
    subsets = (z for size in range(most + 1) for z in combinations(pool, size))
    return any(tester.independent(target, other, z) for z in subsets)


def prune(target: int, members: Sequence[int], tester: Tester, max_conditioning: int | None) -> list[int]:
    """Return the members that no subset of the others makes independent of the target; the last are tried first."""
    kept = list(members)
    for member in reversed(members):
        rest = [other for other in kept if other != member]
        if separated(target, member, rest, tester, max_conditioning):
            kept = rest
    return kept
