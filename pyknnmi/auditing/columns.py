"""What a single column shows: its values and how often they come, whatever the order of the rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.data.dataset import Dataset

__all__ = ["ColumnValues", "column_findings"]

K = 3  # neighbours of knn-cmi where nothing else is said: a value that more rows share makes distances of zero
_OFTEN = 0.05  # share of rows from which a single value is no accident
_NEARLY_ALL = 0.95
_ENOUGH_DIGITS = 4.0
_FAR_OUT = 20.0  # interquartile ranges; of 100,000 Gaussian rows the farthest is at 3.3
_IDENTIFIER = re.compile(r"(.*[ _.-])?(id|index|idx|key|row ?names?|row[ _.-]?(nr|no|number|id)?|unnamed: ?\d+)", re.I)


@dataclass(frozen=True)
class ColumnValues:
    """The distinct values of a column, missing ones left out.

    Attributes
    ----------
    name : str
    given : ndarray, shape (n,)
        The column, in the order of the rows.
    distinct, counts : ndarray
        The values in order, and in how many rows each is.
    """

    name: str
    given: NDArray[np.float64]
    distinct: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, name: str, column: NDArray[np.float64]) -> ColumnValues:
        """Return the values of a column of numbers, NaN for missing ones."""
        distinct, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        return cls(name, column, distinct, counts)

    @property
    def rows(self) -> int:
        """Number of rows that have a value."""
        return int(self.counts.sum())

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return bool((self.distinct == np.rint(self.distinct)).all())

    def tied_share(self) -> float:
        """Return the share of rows whose value more than K others share."""
        return float(self.counts[self.counts > K + 1].sum() / self.rows)

    def without(self, value: float) -> ColumnValues:
        """Return the values of the other rows."""
        kept = self.distinct != value
        return ColumnValues(self.name, self.given, self.distinct[kept], self.counts[kept])


def column_findings(dataset: Dataset) -> Iterator[AuditFinding]:
    """Yield what each column shows by itself."""
    for name, kind, column in zip(dataset.names, dataset.kinds, dataset.values.T, strict=True):
        values = ColumnValues.of(name, column)
        if len(values.distinct) < 2:
            yield _constant(values)
        elif kind == "discrete":
            yield from _small_classes(values)
        else:
            yield from _numbers(values)


def _constant(values: ColumnValues) -> AuditFinding:
    what = "is constant" if len(values.distinct) else "has no value"
    return AuditFinding(
        "constant",
        (values.name,),
        len(values.distinct),
        f"column '{values.name}' {what}",
        "it depends on nothing and stays without edges",
        "leave it out",
    )


def _small_classes(values: ColumnValues) -> Iterator[AuditFinding]:
    small = values.counts <= K
    if small.any():
        share = float(values.counts[small].sum() / values.rows)
        yield AuditFinding(
            "small-class",
            (values.name,),
            share,
            f"in column '{values.name}' {small.sum()} of {len(small)} categories have at most {K} rows ({share:.1%})",
            "such a row has its nearest neighbours in other categories, so little is conditioned on",
            "merge small categories, or leave them out",
        )
    yield from _nearly_constant(values)


def _numbers(values: ColumnValues) -> Iterator[AuditFinding]:
    yield from _row_numbers(values)
    marks = list(_marks_of_missing(values))
    for mark in marks:
        yield _missing_mark(values, mark)
        values = values.without(mark)
    if len(values.distinct) < 2:
        return
    nearly_constant = list(_nearly_constant(values))
    yield from nearly_constant or _shared_values(values)
    yield from _lost_resolution(values)
    yield from _heavy_tails(values)


def _row_numbers(values: ColumnValues) -> Iterator[AuditFinding]:
    if not values.whole or len(values.distinct) != len(values.given) or len(values.given) < 3:
        return
    counts_rows = len(np.unique(np.diff(values.given))) == 1
    if counts_rows or _IDENTIFIER.fullmatch(values.name.strip()):
        yield AuditFinding(
            "row-number" if counts_rows else "identifier",
            (values.name,),
            1.0,
            f"column '{values.name}' {'counts the rows' if counts_rows else 'names each row by a whole number'}",
            "it looks like a row number or an identifier, and is tested like any other column",
            "leave it out, unless it is a measurement such as time",
            serious=True,
        )


def _marks_of_missing(values: ColumnValues) -> Iterator[float]:
    """Yield values that stand far outside and come often, as -9999 does where it marks what is missing."""
    while len(values.distinct) > 2:
        outermost = [
            (gap, place)
            for place, gap in (
                (0, values.distinct[1] - values.distinct[0]),
                (-1, values.distinct[-1] - values.distinct[-2]),
            )
        ]
        gap, place = max(outermost)
        mark, often = float(values.distinct[place]), int(values.counts[place])
        rest = values.without(mark)
        spread = rest.distinct[-1] - rest.distinct[0]
        usual = re.fullmatch(r"-?(9{2,}|8{2,}|7{2,})|-1", f"{mark:.0f}") is not None and mark == round(mark)
        if often < max(2, 0.01 * values.rows) or gap < spread * (0.25 if usual else 2.0) or rest.rows < 5:
            return
        yield mark
        values = rest


def _missing_mark(values: ColumnValues, mark: float) -> AuditFinding:
    share = float(values.counts[values.distinct == mark][0] / len(values.given))
    return AuditFinding(
        "missing-mark",
        (values.name,),
        share,
        f"in column '{values.name}' the value {mark:g} stands far outside, in {share:.1%} of the rows",
        "if it marks missing values, columns that miss values in the same rows look dependent",
        "turn it into NaN, or name it as a mark of missing values, if that is what it is",
        serious=True,
    )


def _nearly_constant(values: ColumnValues) -> Iterator[AuditFinding]:
    share = float(values.counts.max() / values.rows)
    if share >= _NEARLY_ALL:
        yield AuditFinding(
            "nearly-constant",
            (values.name,),
            share,
            f"{share:.1%} of the rows of column '{values.name}' have one value",
            "few rows can show a dependence, so edges are missed",
            "leave it out, or collect more of the rare rows",
        )


def _shared_values(values: ColumnValues) -> Iterator[AuditFinding]:
    tied = values.tied_share()
    if tied < _OFTEN:
        return
    most = int(values.counts.argmax())
    share, value = float(values.counts[most] / values.rows), float(values.distinct[most])
    others = np.delete(values.counts, most)
    stands_out = share >= _OFTEN and share > 3 * others.max() / values.rows
    follows = "distances of zero say nothing to the ksg estimator, and knn-cmi counts such rows as ties"
    where = f"{share:.1%} of the rows of column '{values.name}' have the value {value:g}"
    advice = "keep estimator=auto; if the value marks missing values, turn it into NaN"
    if stands_out and most in (0, len(values.counts) - 1):
        end = "lowest" if most == 0 else "highest"
        yield AuditFinding("censored", (values.name,), share, f"{where}, the {end}", follows, advice)
    elif stands_out:
        yield AuditFinding("filler", (values.name,), share, f"{where}, inside the range of the others", follows, advice)
    else:
        few = f"column '{values.name}' has {len(values.distinct)} different values"
        shared = f"{tied:.1%} of the rows share theirs with more than {K} others"
        if values.whole:
            advice = "keep estimator=auto; if the numbers are codes of categories, make it a column of categories"
            yield AuditFinding(
                "whole-numbers",
                (values.name,),
                len(values.distinct),
                f"{few}, whole numbers; {shared}",
                follows,
                advice,
            )
        else:
            yield AuditFinding("tied", (values.name,), tied, f"{few}; {shared}", follows, "keep estimator=auto")


def _lost_resolution(values: ColumnValues) -> Iterator[AuditFinding]:
    largest = max(abs(values.distinct[0]), abs(values.distinct[-1]))
    spread = _quantile(values, 0.75) - _quantile(values, 0.25)
    if spread > 0 and (digits := float(np.log10(spread) - np.log10(np.spacing(largest)))) < _ENOUGH_DIGITS:
        yield AuditFinding(
            "lost-resolution",
            (values.name,),
            digits,
            f"column '{values.name}' varies in the last {max(digits, 0):.1f} of its 16 digits",
            "most of what it measured may have been rounded away",
            "subtract the offset before the numbers are stored",
            serious=True,
        )


def _heavy_tails(values: ColumnValues) -> Iterator[AuditFinding]:
    low, middle, high = (_quantile(values, q) for q in (0.25, 0.5, 0.75))
    farthest = max(values.distinct[-1] - middle, middle - values.distinct[0])
    if high > low and farthest / (high - low) > _FAR_OUT:
        figure = float(farthest / (high - low))
        yield AuditFinding(
            "heavy-tails",
            (values.name,),
            figure,
            f"column '{values.name}' reaches {figure:.0f} interquartile ranges from its median",
            "a few rows set the scale, so most rows look alike",
            "put ranks or nonparanormal before the learner",
        )


def _quantile(values: ColumnValues, share: float) -> float:
    return float(values.distinct[np.searchsorted(np.cumsum(values.counts), share * values.rows)])
