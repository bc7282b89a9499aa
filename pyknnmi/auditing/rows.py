"""What the rows show: too few of them, repeats, and an order that means something."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.data.dataset import Dataset
from pyknnmi.numbers.ranks import average_ranks
from pyknnmi.numbers.serial import lag_one_correlation, runs_test

__all__ = ["row_findings"]

_FEW = 100
_REPEATED = 0.01  # share of rows from which repeats are reported
_ALIKE = 0.4  # lag-1 correlation from which tests reject too often, where two columns have it


def row_findings(dataset: Dataset) -> Iterator[AuditFinding]:
    """Yield what the rows show."""
    yield from _few_rows(dataset)
    if len(dataset.constant_columns()) == dataset.p:
        return
    repeats = list(_repeated_rows(dataset))
    yield from repeats
    if dataset.groups is None:  # which say already that rows belong together
        yield from _serial_dependence(dataset.without_repeats() if repeats else dataset)


def _few_rows(dataset: Dataset) -> Iterator[AuditFinding]:
    if dataset.n < max(_FEW, dataset.p):
        seen = math.tanh(2.8 / math.sqrt(max(dataset.n - 3, 1)))  # 1.96 + 0.84: a level of .05 and a power of .8
        yield AuditFinding(
            "few-rows",
            (),
            dataset.n,
            f"the table has {dataset.n} rows and {dataset.p} columns",
            f"of two columns with a correlation of {seen:.2f} even Fisher's z-test misses a fifth, and knn-cmi more",
            "take fewer columns; where dependence is linear, fisher-z finds more",
        )


def _repeated_rows(dataset: Dataset) -> Iterator[AuditFinding]:
    share = 1 - dataset.without_repeats().n / dataset.n
    if share < _REPEATED:
        return
    copied = _copied_share(dataset.values)
    no_chance = copied >= _REPEATED
    yield AuditFinding(
        "repeated-rows",
        (),
        copied if no_chance else share,
        f"{copied if no_chance else share:.1%} of the rows repeat an earlier row",
        "independent columns look dependent, since a repeated row is its own nearest neighbour"
        if no_chance
        else "in a table of few different values rows repeat by chance, which does no harm",
        "pass repeats=one, unless repeats are observations of their own"
        if no_chance
        else "keep them, unless they are no observations of their own",
        serious=no_chance,
    )


def _copied_share(values: NDArray[np.float64]) -> float:
    """Return the share of rows that repeat an earlier one in a value that no other rows have: by no chance."""
    rows = np.ascontiguousarray(values + 0.0)  # the sign of zero does not count
    alike = _rows_alike(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel())
    own = np.zeros(len(rows), dtype=bool)
    for column in rows.T:
        own |= _rows_alike(column) == alike
    return float((1 - 1 / alike[own]).sum() / len(rows))


def _rows_alike(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return, for each row, how many have its value, it included."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(counts[place])


def _serial_dependence(dataset: Dataset) -> Iterator[AuditFinding]:
    """Yield the columns in which rows next to each other are alike: of all rows, or within groups that are sorted."""
    groups = _groups_of_sorted_rows(dataset)
    within = f" within the groups of column '{dataset.names[groups[0]]}'" if groups else ""
    starts = groups[1] if groups else np.zeros(dataset.n, dtype=bool)
    found = []
    tested = [i for i in range(dataset.p) if dataset.kinds[i] == "continuous" and not (groups and i == groups[0])]
    for i in tested:
        column = dataset.values[:, i]
        if np.isnan(column).any() or dataset.n < 20:
            continue
        ranks = _less_group_means(average_ranks(column), starts)
        correlation, runs = lag_one_correlation(ranks), runs_test(ranks)
        if math.erfc(abs(correlation) * math.sqrt(dataset.n / 2)) < 0.01 / len(tested) and correlation > 0:
            found.append((i, correlation, runs))
    many = sum(correlation >= _ALIKE for _, correlation, _ in found) > 1
    for i, correlation, runs in found:
        yield AuditFinding(
            "serial-dependence",
            (dataset.names[i],),
            correlation,
            f"in column '{dataset.names[i]}' rows next to each other are alike{within} (lag-1 correlation of the ranks "
            f"{correlation:.2f}, runs test p = {runs:.2g})",
            "if the order of the rows is time or place, two columns of this kind look dependent although they are not",
            "take knn-cmi(null=block), or blocks for repeated measures; if the rows were only sorted, do nothing",
            serious=many and correlation >= _ALIKE,
        )


def _groups_of_sorted_rows(dataset: Dataset) -> tuple[int, NDArray[np.bool_]] | None:
    """Return a column of few values by which the rows are sorted, and where its groups begin."""
    for i in range(dataset.p):
        column = dataset.values[:, i]
        starts = np.concatenate([[True], column[1:] != column[:-1]])
        groups = len(np.unique(column))
        if 1 < groups <= dataset.n / 10 and starts.sum() == groups:
            return i, starts
    return None


def _less_group_means(values: NDArray[np.float64], starts: NDArray[np.bool_]) -> NDArray[np.float64]:
    group = np.cumsum(starts) - starts[0]
    means = np.bincount(group, values) / np.bincount(group)
    return np.asarray(values - means[group])
