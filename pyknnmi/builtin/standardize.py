"""Mean 0 and standard deviation 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pyknnmi.components import Dataset, Transform
from pyknnmi.numbers import standardized


@dataclass(frozen=True, kw_only=True)
class Standardize(Transform):
    """Columns with mean 0 and population standard deviation 1 (ddof 0)."""

    name: ClassVar[str] = "standardize"

    def apply(self, dataset: Dataset) -> Dataset:
        """Return the standardized data."""
        return Dataset(standardized(dataset.values), dataset.names)
