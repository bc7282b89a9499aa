"""The protocol of transforms: data in, data of the same shape and names out."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from pyknnmi.data.dataset import Dataset
from pyknnmi.protocols.component import Component

__all__ = ["Transform"]


class Transform(Component):
    """Base of transforms. No column that it is given is constant."""

    kind: ClassVar[str] = "transform"

    @abstractmethod
    def apply(self, dataset: Dataset) -> Dataset:
        """Return the transformed data, with the same rows and names."""
