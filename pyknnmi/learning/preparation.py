"""What stands between the data that a user gave and the columns that a component works on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from pyknnmi.data.dataset import Dataset, Missing, listing, natural_key
from pyknnmi.data.options import TableOptionsGiven
from pyknnmi.data.reading import read_table
from pyknnmi.data.sources import is_source
from pyknnmi.errors import DataError, warn
from pyknnmi.numbers.correlation import standardized
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.transforms import Transform
from pyknnmi.search.contract import checked_transform

__all__ = ["check_kinds", "in_natural_order", "to_dataset", "transformed", "warn_of_constants", "warn_of_copies"]


def to_dataset(data: Any, missing: Missing = "raise", **options: Unpack[TableOptionsGiven]) -> Dataset:
    """Return whatever a user gave, a path or an open file included, as a `Dataset`."""
    if is_source(data):
        return read_table(data, missing, **options)
    return Dataset.of(data, missing=missing, **options)


def check_kinds(component: Component, dataset: Dataset) -> None:
    """Raise an error for columns of a kind that a component cannot use."""
    discrete = [dataset.names[i] for i in dataset.discrete_columns()]
    if discrete and not component.accepts("discrete"):
        raise DataError(
            f"column {listing(discrete)} holds categories, and {component} takes numbers only: leave them out, or take "
            "a test for both, such as knn-cmi"
        )


def in_natural_order(dataset: Dataset, constants: Sequence[int]) -> Dataset | None:
    """Return the varying columns in the natural order of their names; None if there are none.

    Whatever depends on an order of columns (ties, floating-point sums, sweeps over a blanket) then depends on
    the names alone.
    """
    varying = [i for i in range(dataset.p) if i not in constants]
    if not varying:
        return None
    return dataset.select(sorted(varying, key=lambda i: natural_key(dataset.names[i])))


def transformed(transform: Transform, dataset: Dataset) -> Dataset:
    """Return the data with their continuous columns transformed, and warn of those that became constant."""
    if dataset.has_missing:
        raise DataError(f"the transform '{transform.name}' needs complete data: pass missing=\"drop\", or leave it out")
    chosen = [i for i, kind in enumerate(dataset.kinds) if transform.accepts(kind)]
    if not chosen:
        return dataset
    part = dataset.select(chosen)
    result = checked_transform(transform, part)
    were = part.constant_columns()
    became = [i for i in result.constant_columns() if i not in were]
    warn_of_constants(result, became, f"after the transform '{transform.name}' ")
    values = dataset.values.copy()
    values[:, chosen] = result.values
    return Dataset(values, dataset.names, dataset.kinds)


def warn_of_constants(dataset: Dataset, constants: Sequence[int], when: str = "") -> None:
    """Warn of the constant columns, if there are any; `when` begins the message."""
    empty = set(np.flatnonzero(np.isnan(dataset.values).all(axis=0)))
    for is_empty, what in ((False, "constant"), (True, "without a value")):
        names = [dataset.names[i] for i in constants if (i in empty) == is_empty]
        if names:
            one = len(names) == 1
            columns, depend = ("column", f"is {what}: it depends") if one else ("columns", f"are {what}: they depend")
            warn(f"{when}{columns} {listing(names)} {depend} on nothing")


def warn_of_copies(dataset: Dataset) -> None:
    """Warn of continuous columns of which one is the other in other units."""
    for a, b in _copies(dataset):
        warn(
            f"columns '{a}' and '{b}' are the same but for their units: given either, nothing depends on the other, so "
            "edges from them to other columns get lost; leave one out"
        )


def _copies(dataset: Dataset) -> list[tuple[str, str]]:
    if dataset.has_missing or dataset.n < 3:  # of two rows all columns are copies
        return []
    numbers = [i for i, kind in enumerate(dataset.kinds) if kind == "continuous"]
    scaled = standardized(dataset.values[:, numbers])
    # A weighted sum tells columns apart without comparing all pairs; no data follow these weights.
    sums = np.abs(np.cos(np.arange(1, dataset.n + 1)) @ scaled)
    order = np.argsort(sums)
    return [
        (dataset.names[numbers[min(i, j)]], dataset.names[numbers[max(i, j)]])
        for i, j in pairwise(order.tolist())
        if sums[j] - sums[i] < 1e-9 * dataset.n and abs(scaled[:, i] @ scaled[:, j]) > dataset.n * (1 - 1e-12)
    ]
