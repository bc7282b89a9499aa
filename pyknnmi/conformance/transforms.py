"""The checks of transforms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pyknnmi.conformance.expectations import (
    OTHER_ORDER,
    require,
    with_categories,
)
from pyknnmi.data.dataset import Dataset
from pyknnmi.learning.preparation import transformed
from pyknnmi.protocols.transforms import Transform
from pyknnmi.search.contract import checked_transform

__all__ = ["CHECKS_OF_TRANSFORMS"]


def _values(transform: Transform, data: Dataset) -> Dataset:
    """Return the result, which keeps the contract."""
    return checked_transform(transform, data)


def _same_values_again(transform: Transform, data: Dataset) -> None:
    again = _values(transform, data)
    require(np.array_equal(_values(transform, data).values, again.values), "a second call gives other values")


def _order_of_columns(transform: Transform, data: Dataset) -> None:
    turned = _values(transform, data.select(OTHER_ORDER)).values
    expected = _values(transform, data).values[:, OTHER_ORDER]
    require(np.array_equal(turned, expected), "values change with the order of the columns")


def _among_categories(transform: Transform, data: Dataset) -> None:
    mixed = with_categories(data)
    result = transformed(transform, mixed)
    require(result.kinds == mixed.kinds, f"the kinds {mixed.kinds} became {result.kinds}")
    if not transform.accepts("discrete"):
        require(np.array_equal(result.values[:, 3], mixed.values[:, 3]), "categories were changed")


def _transforms_without_traces(transform: Transform, data: Dataset) -> None:
    transform.apply(data)


CHECKS_OF_TRANSFORMS: Mapping[str, Callable[[Transform, Dataset], object]] = {
    "values": _values,
    "same-values-again": _same_values_again,
    "column-order": _order_of_columns,
    "categories": _among_categories,
    "no-traces": _transforms_without_traces,
}
