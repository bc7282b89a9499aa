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

_FEWEST_ROWS = 10  # of fewer rows columns are copies by chance
_LEFT = 1e-3  # share of a column's variance that others leave, where it counts as determined by them
_PART = 0.01  # least share in standard deviations for a column to be named among these others
_MOST_COLUMNS = 1_000  # beyond these a regression of each column on those before it takes seconds
_MORE_ROWS = 1_000  # than columns: as many as such regressions need


def relation_findings(dataset: Dataset, ranks: NDArray[np.float64]) -> Iterator[AuditFinding]:
    """Yield copies, and columns that others determine; `ranks` are those of `centred_ranks`."""
    again = set()
    for i, j in sorted((min(pair), max(pair)) for pair in _copies(ranks)):
        again.add(j)
        yield AuditFinding(
            "copies",
            (dataset.names[i], dataset.names[j]),
            1.0,
            f"columns '{dataset.names[i]}' and '{dataset.names[j]}' {_likeness(dataset, i, j)}",
            "given either, nothing depends on the other, so edges from them to other columns get lost",
            "leave one out",
            serious=True,
        )
    numbers = [i for i, kind in enumerate(dataset.kinds) if kind == "continuous"]
    yield from _collinear(dataset, [i for i in numbers if i not in again])


def _copies(ranks: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """Yield pairs of columns that put the rows into the same order, or into the reverse."""
    n = ranks.shape[1]
    if n < _FEWEST_ROWS:
        return
    # A weighted sum finds equal columns without comparing all pairs; no data follow these weights.
    lengths = np.sqrt(np.einsum("ij,ij->i", ranks, ranks))
    sums = np.abs(ranks @ np.cos(np.arange(1, n + 1))) / np.maximum(lengths, 1)
    for i, j in pairwise(np.argsort(sums, kind="stable").tolist()):
        if sums[j] - sums[i] < 1e-9 and abs(ranks[i] @ ranks[j]) > (1 - 1e-12) * max(lengths[i], lengths[j]) ** 2:
            yield i, j


def _likeness(dataset: Dataset, i: int, j: int) -> str:
    if "discrete" in (dataset.kinds[i], dataset.kinds[j]):
        return "are the same but for the names of their categories"
    values = dataset.values[:, [i, j]]
    a, b = standardized(values[~np.isnan(values).any(axis=1)]).T
    linear = abs(a @ b) > len(a) * (1 - 1e-9)
    return "are the same but for their units" if linear else "put the rows into the same order, or the reverse one"


def _collinear(dataset: Dataset, columns: list[int]) -> Iterator[AuditFinding]:
    """Yield the columns that others determine, among the rows that are complete in all of them."""
    if not 2 <= len(columns) <= _MOST_COLUMNS:
        return
    rows = np.flatnonzero(~np.isnan(dataset.values[:, columns]).any(axis=1))
    rows = rows[:: max(len(rows) // (len(columns) + _MORE_ROWS), 1)]
    if len(rows) < len(columns) + _FEWEST_ROWS:  # any column is determined by so many others
        return
    for left, place, parts in _determined(standardized(dataset.values[rows][:, columns])):
        names = [dataset.names[columns[part]] for part in (*parts, place)]
        yield AuditFinding(
            "collinear",
            tuple(names),
            1 - left,
            f"{100 * (1 - left):.4g} % of the variance of column '{names[-1]}' is in a sum of {listing(names[:-1])}",
            "given these, little is left of it that other columns could depend on, so edges get lost",
            "leave one of them out",
        )


def _determined(scaled: NDArray[np.float64]) -> Iterator[tuple[float, int, list[int]]]:
    """Yield the columns that those before them determine: the share of variance left, the column, and the others."""
    n, p = scaled.shape
    triangle = np.asarray(np.linalg.qr(scaled, mode="r"))
    for j in range(1, p):
        left = float(triangle[j, j] ** 2 / (n - 1 - j))
        if left < _LEFT and scaled[:, j].any():
            weights = np.linalg.lstsq(triangle[: j + 1, :j], triangle[: j + 1, j], rcond=1e-9)[0]
            if parts := np.flatnonzero(np.abs(weights) > _PART).tolist():
                yield left, j, parts
