"""Rows that are copies of others. Evidence counts rows, so a copy would be counted as a further observation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset

__all__ = ["without_copies"]


def without_copies(dataset: Dataset) -> tuple[Dataset, int]:
    """Return the data set with copied rows once, in the order of the first of each, and how many were left out.

    Equal rows are copies if one of their numbers is in no row that differs from them. Where others share each of their
    values, as with counts, categories and values at a limit of detection, they are equal by chance.
    """
    rows, first, group = np.unique(dataset.values, axis=0, return_index=True, return_inverse=True)
    own = np.zeros(len(rows), dtype=bool)
    for column, kind in zip(rows.T, dataset.kinds, strict=True):
        if kind == "continuous":
            _, place, count = np.unique(column, return_inverse=True, return_counts=True)
            own |= count[place] == 1
    kept = ~own[group.reshape(-1)]
    kept[first] = True
    if len(first) < 2 or kept.all():
        return dataset, 0
    values: NDArray[np.float64] = dataset.values[kept]
    return Dataset(values, dataset.names, dataset.kinds), int(dataset.n - len(values))
