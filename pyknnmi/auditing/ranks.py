"""The columns by the order that they put the rows into: equal for copies in whatever units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset
from pyknnmi.numbers.ranks import average_ranks

__all__ = ["centred_ranks"]


def centred_ranks(dataset: Dataset) -> NDArray[np.float64]:
    """Return the ranks of each column less their mean, shape (p, n); 0 where the value is missing.

    Categories have no order: theirs is that of the first row of each.
    """
    ranks = np.zeros((dataset.p, dataset.n))
    for column, kind, result in zip(dataset.values.T, dataset.kinds, ranks, strict=True):
        present = ~np.isnan(column) if dataset.has_missing else slice(None)
        values = column[present]
        if kind == "discrete":
            _, first, place = np.unique(values, return_index=True, return_inverse=True)
            values = first[place]
        result[present] = average_ranks(values) - (len(values) + 1) / 2
    return ranks
