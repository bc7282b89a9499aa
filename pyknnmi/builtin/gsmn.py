"""GSMN: grow-shrink for Markov networks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyknnmi.builtin._phases import grow, shrink
from pyknnmi.components import Dataset, LearnedGraph, Learner, Run, Tester


@dataclass(frozen=True, kw_only=True)
class GSMN(Learner):
    """Grow-shrink for Markov networks: each blanket takes over what earlier ones found out.

    Columns are searched one after another, the most associated first and then the members of the blanket just found.
    A search grows and shrinks as `grow-shrink` does, but tests no column that was searched before: whether there is an
    edge is known, and such neighbours are in the blanket from the start. So every pair is decided once, with about half
    the tests, and the graph needs no rule. Estimates the moral graph; with a perfect test it is the true Markov
    network of a distribution that is faithful to a graph. Since a search builds on those before it, ``jobs`` does not
    help.

    Parameters
    ----------
    max_conditioning : int or none, at least 0
        The largest conditioning set. A blanket stops growing when it is larger.

    References
    ----------
    Bromberg, Margaritis and Honavar (2009), "Efficient Markov network structure discovery using independence tests",
    JAIR 35, doi:10.1613/jair.2773 (GSMN*).
    """

    name: ClassVar[str] = "gsmn"
    takes_targets: ClassVar[bool] = True

    max_conditioning: int | None = None

    def learn(self, dataset: Dataset, tester: Tester, run: Run) -> LearnedGraph:
        """Return the graph."""
        columns = range(dataset.p)
        scores = {}
        for x in tester.targets:
            others = [y for y in columns if y != x]
            scores[x] = dict(zip(others, tester.associations(x, others), strict=True))
        waiting = sorted(tester.targets, key=lambda x: -_finite_mean(scores[x].values()))
        neighbors: dict[int, list[int]] = {}
        while waiting:
            x = waiting.pop(0)
            order = sorted(scores[x], key=lambda y: -scores[x][y])
            known = [y for y in order if x in neighbors.get(y, ())]
            grown = grow(x, [y for y in order if y not in neighbors], tester, self.max_conditioning, known)
            neighbors[x] = shrink(x, grown, tester, keep=known)
            waiting.sort(key=lambda y: y not in neighbors[x])
        return LearnedGraph({(min(x, y), max(x, y)) for x, found in neighbors.items() for y in found})


def _finite_mean(scores: Iterable[float]) -> float:
    """Return the mean without the infinite scores of constrained pairs."""
    finite = [score for score in scores if np.isfinite(score)]
    return float(np.mean(finite)) if finite else 0.0
