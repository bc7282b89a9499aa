"""Which estimator a question needs: by its categories, its levels and its ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from pyknnmi.numbers.samples import EstimatorName, Points
from pyknnmi.numbers.ties import cells_suit

__all__ = ["estimator_for", "estimator_for_candidates"]


def estimator_for(
    estimator: EstimatorName, k: int, flags: Sequence[bool], x: Points, y: Points, z: Points
) -> Literal["ksg", "mixed", "cells"]:
    """Return the estimator for one question; `auto` stands for the choice, any other name for itself."""
    return _for_each(estimator, k, np.hstack([x, y, z]), flags, [range(x.shape[1] + y.shape[1] + z.shape[1])])


def estimator_for_candidates(
    estimator: EstimatorName, k: int, flags: Sequence[bool], x: Points, candidates: Points, z: Points
) -> Literal["ksg", "mixed", "cells"]:
    """Return one estimator for all candidates as y: those of different ones could not be compared."""
    first, last = x.shape[1], x.shape[1] + candidates.shape[1]
    fixed = [*range(first), *range(last, last + z.shape[1])]
    questions = [[*fixed, y] for y in range(first, last)]
    return _for_each(estimator, k, np.hstack([x, candidates, z]), flags, questions)


def _for_each(
    estimator: EstimatorName, k: int, columns: Points, flags: Sequence[bool], questions: Sequence[Sequence[int]]
) -> Literal["ksg", "mixed", "cells"]:
    """Return the estimator for questions about some of the columns, each given by their numbers."""
    if estimator != "auto":
        return estimator
    categories = flags or [False] * columns.shape[1]
    ordered = np.sort(columns.T, axis=1)
    levels = (1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)).tolist()
    if all(cells_suit(len(columns), [levels[i] for i in q], [categories[i] for i in q]) for q in questions):
        return "cells"
    if any(categories):
        return "mixed"
    tied = (ordered[:, k + 1 :] == ordered[:, : -k - 1]).any(axis=1)  # a value that more than k others equal
    return "mixed" if (tied & (ordered[:, 0] < ordered[:, -1])).any() else "ksg"
