"""Rows that are copies of others. Evidence counts rows, so a copy would be counted as a further observation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset

__all__ = ["without_copies"]


def without_copies(dataset: Dataset) -> tuple[Dataset, int]:
    """Return the data set with copied rows once, in the order of the first of each, and how many were left out.

    Equal rows are copies if the data are numbers that hardly repeat otherwise: if more than half of the values in some
    column of the different rows are different. Equal rows of counts or categories are no copies.
    """
    _, first = np.unique(dataset.values, axis=0, return_index=True)
    copies = dataset.n - len(first)
    if copies == 0 or len(first) < 2:
        return dataset, 0
    rows: NDArray[np.float64] = dataset.values[np.sort(first)]
    most_different = (
        max(len(np.unique(column)) for column, kind in zip(rows.T, dataset.kinds, strict=True) if kind == "continuous")
        if "continuous" in dataset.kinds
        else 0
    )
    if 2 * most_different <= len(rows):
        return dataset, 0
    return Dataset(rows, dataset.names, dataset.kinds), copies
