"""What columns show beside each other: copies, and columns that others determine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.data.dataset import Dataset, listing
from pyknnmi.numbers.correlation import standardized

__all__ = ["relation_findings"]

_LEFT = 1e-3  # share of a column's variance that others leave, where it counts as determined by them
_PART = 0.01  # least share in standard deviations for a column to be named among these others


def relation_findings(dataset: Dataset) -> Iterator[AuditFinding]:
    """Yield copies, and columns that others determine; among the rows that are complete."""
    complete = dataset.values[~np.isnan(dataset.values).any(axis=1)]
    numbers = [i for i, kind in enumerate(dataset.kinds) if kind == "continuous"]
    if len(complete) < 3 or len(numbers) < 2:  # of two rows all columns are copies
        return
    scaled = standardized(complete[:, numbers])
    numbers = [i for i, column in zip(numbers, scaled.T, strict=True) if column.any()]
    scaled = scaled[:, scaled.any(axis=0)]
    copies = list(_copies(scaled))
    for i, j in copies:
        a, b = sorted((numbers[i], numbers[j]))
        yield AuditFinding(
            "copies",
            (dataset.names[a], dataset.names[b]),
            1.0,
            f"columns '{dataset.names[a]}' and '{dataset.names[b]}' are the same but for their units",
            "given either, nothing depends on the other, so edges from them to other columns get lost",
            "leave one out",
            serious=True,
        )
    again = {max(pair) for pair in copies}
    others = [i for i in range(len(numbers)) if i not in again]
    for left, place, parts in _determined(scaled[:, others]):
        names = [dataset.names[numbers[others[part]]] for part in (*parts, place)]
        yield AuditFinding(
            "collinear",
            tuple(names),
            1 - left,
            f"{100 * (1 - left):.4g} % of the variance of column '{names[-1]}' is in a sum of {listing(names[:-1])}",
            "given these, little is left of it that other columns could depend on, so edges get lost",
            "leave one of them out",
        )


def _copies(scaled: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    n = len(scaled)
    # A weighted sum finds equal columns without comparing all pairs; no data follow these weights.
    sums = np.abs(np.cos(np.arange(1, n + 1)) @ scaled)
    for i, j in pairwise(np.argsort(sums).tolist()):
        if sums[j] - sums[i] < 1e-9 * n and abs(scaled[:, i] @ scaled[:, j]) > n * (1 - 1e-12):
            yield i, j


def _determined(scaled: NDArray[np.float64]) -> Iterator[tuple[float, int, list[int]]]:
    """Yield the columns that those before them determine: the share of variance left, the column, and the others."""
    n, p = scaled.shape
    if n < p + 3:  # so few rows that any column is determined by others
        return
    triangle = np.asarray(np.linalg.qr(scaled, mode="r"))
    for j in range(1, p):
        left = float(triangle[j, j] ** 2 / n)
        if left < _LEFT:
            weights = np.linalg.lstsq(triangle[: j + 1, :j], triangle[: j + 1, j], rcond=1e-9)[0]
            if parts := np.flatnonzero(np.abs(weights) > _PART).tolist():
                yield left, j, parts
