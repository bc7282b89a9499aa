"""Rows that repeat others, and whether that is chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.data.dataset import Dataset, listing

__all__ = ["repeated_rows"]

_REPEATED = 0.01  # share of rows from which repeats are reported
_USUAL = 0.05  # share of rows from which equal values are no sign of a copy
_FEW_VALUES = 30  # of columns that have more, rows that are equal in all are no accident
_CELLS_A_ROW = 100
_PAIRS = 6  # of columns that are compared to tell repeats from chance


def repeated_rows(dataset: Dataset, numbers: Sequence[str]) -> Iterator[AuditFinding]:
    """Yield the rows that repeat others; `numbers` are columns that number the rows, and are no part of these."""
    share = 1 - dataset.without_repeats().n / dataset.n
    if share < _REPEATED:
        return
    copied = 0.0
    if not (_has_few_cells(dataset.values) or _follows_from_one_column(dataset.values)):
        copied = max(share * (1 - _share_by_chance(dataset.values)), _share_of_own(dataset.values))
    but_for = f" but for {listing(numbers)}" if numbers else ""
    leave_out = f"leave out {listing(numbers)}, and " if numbers else ""
    if copied >= _REPEATED:
        yield AuditFinding(
            "repeated-rows",
            (),
            copied,
            f"{copied:.1%} of the rows repeat an earlier row{but_for}",
            "independent columns look dependent, since a repeated row is its own nearest neighbour",
            f"{leave_out}pass repeats=one, unless repeats are observations of their own",
            serious=True,
        )
    else:
        yield AuditFinding(
            "repeated-rows",
            (),
            share,
            f"{share:.1%} of the rows repeat an earlier row{but_for}",
            "in a table of few different values rows repeat by chance, which does no harm",
            "keep them, unless they are no observations of their own",
        )


def _has_few_cells(values: NDArray[np.float64]) -> bool:
    """Return whether columns of few values make so few different rows that independent ones repeat."""
    levels = [len(np.unique(column)) for column in values.T]
    return max(levels) <= _FEW_VALUES and math.prod(levels) <= _CELLS_A_ROW * len(values)


def _follows_from_one_column(values: NDArray[np.float64]) -> bool:
    """Return whether all columns are functions of one, and rows are equal in it as rounded numbers are.

    Of rounded numbers about half as many pairs are equal as are neighbours in the steps of rounding.
    """
    rows = len(np.unique(_as_bytes(values)))
    for column in values.T:
        distinct, counts = np.unique(column, return_counts=True)
        if len(distinct) == rows > 1:
            steps = np.diff(distinct)
            next_to = steps < 1.5 * steps.min()
            by_chance = float((counts[1:] * counts[:-1])[next_to].sum()) / 2
            if (counts * (counts - 1)).sum() / 2 <= 2 * by_chance + 4 * math.sqrt(by_chance):
                return True
    return False


def _share_by_chance(values: NDArray[np.float64]) -> float:
    """Return the share of the pairs of equal rows that are equal by chance; 1 where chance may account for all.

    By the larger share of all rows and of those that are not usual, as rows of zeros are in counts of rare events.
    """
    alike = _rows_alike(_as_bytes(values))
    if values.shape[1] < 3 or (1 / alike).sum() < len(values) / 4:
        return 1.0  # columns of few values that depend on each other repeat as often
    return max(_chance_among(values), _chance_among(values[alike <= _USUAL * len(values)]))


def _chance_among(values: NDArray[np.float64]) -> float:
    """Return the share of the pairs of equal rows that follows from the pairs that differ in one column or two.

    Where two columns are independent given the others, N(equal) N(both differ) = N(only one differs) N(only the other
    differs).
    """
    columns = values.T
    p, equal, by_chance = len(columns), _equal_pairs(columns), 0.0
    if not equal:
        return 1.0
    for i in range(0, p - 1, max((p - 1) // _PAIRS, 1)):
        for j in {i + 1, p - 1 - i // 2} - {i}:
            one, other, both = (_equal_pairs(np.delete(columns, out, axis=0)) - equal for out in (i, j, [i, j]))
            by_chance = max(by_chance, one * other / max(both - one - other, 1))
    return 1.0 if equal < 2 * by_chance + 4 * math.sqrt(by_chance) else by_chance / equal


def _share_of_own(values: NDArray[np.float64]) -> float:
    """Return the share of rows that repeat an earlier one in a value that no other rows have.

    Of columns in which most values that are shared at all, and are no usual ones, are shared by equal rows only.
    """
    alike = _rows_alike(_as_bytes(values))
    own = np.zeros(len(values), dtype=bool)
    for column in values.T:
        sharing = _rows_alike(column)
        shared = (sharing > 1) & (sharing <= _USUAL * len(values))
        equal = shared & (sharing == alike)
        if len(np.unique(column[shared])) > 1 and equal.sum() > 0.8 * shared.sum():
            own |= equal
    return float((1 - 1 / alike[own]).sum() / len(values))


def _rows_alike(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return, for each row, how many have its value, it included."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(counts[place])


def _equal_pairs(columns: NDArray[np.float64]) -> int:
    """Return the number of pairs of rows that are equal in all of these columns."""
    if not len(columns):
        return math.comb(columns.shape[1], 2)
    alike = _rows_alike(_as_bytes(columns.T))
    return int(np.sum(alike - 1)) // 2


def _as_bytes(values: NDArray[np.float64]) -> NDArray[np.void]:
    """Return each row as one value, for comparisons."""
    rows = np.ascontiguousarray(values + 0.0)  # the sign of zero does not count
    return rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
