"""Ranks of the values in each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyknnmi.components import Dataset, Transform
from pyknnmi.numbers import average_ranks


@dataclass(frozen=True, kw_only=True)
class Ranks(Transform):
    """Ranks 1 to n of each column's values, divided by n; ties share their average rank.

    Nothing that is monotone in a column changes the result: outliers and skewed scales lose their weight.
    """

    name: ClassVar[str] = "ranks"

    def apply(self, dataset: Dataset) -> Dataset:
        """Return the ranks, in (0, 1]."""
        columns = [average_ranks(column) / dataset.n for column in dataset.values.T]
        return Dataset(np.column_stack(columns), dataset.names)
