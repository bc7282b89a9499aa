"""What a single column shows: its values and how often they come, whatever the order of the rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.data.dataset import Dataset

__all__ = ["column_findings", "numbering_columns"]

K = 3  # neighbours of knn-cmi where nothing else is said: a value that more rows share makes distances of zero
_OFTEN = 0.05  # share of rows from which a single value is no accident
_NEARLY_ALL = 0.95
_ENOUGH_DIGITS = 4.0
_FAR_OUT = 20.0  # interquartile ranges; of 100,000 Gaussian rows the farthest is at 3.3
_IDENTIFIER = re.compile(r"(?i:(.*[ _.-])?(u?u|gu)?id)|.*[a-z](ID|Id)")
# Names of measurements too, such as a price index or the row of a seat: only a column whose values all differ counts.
_OF_ROWS = re.compile(
    r"(?i:(.*[ _.-])?(index|idx|key|row ?names?|row|unnamed: ?\d+|(row|record|sample|case)[ _.-]?(nr|no|number)))"
)
_MARK = re.compile(r"-?(9{2,}|8{2,}|7{2,})|-?9|-1|0")  # that usually stand for a missing value
_FEWEST_ROWS = 10  # of fewer rows a column counts them by chance
_FEWEST_DATES = 20  # of 8-digit numbers of these years 4 % are dates, so 20 of them are none by chance
_FEW_VALUES = 10  # up to so many nothing is said about the shape of the distribution


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
    def quartiles(self) -> NDArray[np.float64]:
        """The values that a quarter, a half and three quarters of the rows do not exceed."""
        shares = np.array([0.25, 0.5, 0.75])
        return self.distinct[np.searchsorted(self.counts.cumsum(), shares * self.rows)]

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return bool((self.distinct == np.rint(self.distinct)).all())

    @property
    def numbers_rows(self) -> bool:
        """Whether the values are evenly spaced whole numbers, each in one row."""
        rows = len(self.given)
        if len(self.distinct) != rows or rows < _FEWEST_ROWS or not self.whole:
            return False
        return bool(self.distinct[-1] - self.distinct[0] == (self.distinct[1] - self.distinct[0]) * (rows - 1))

    @property
    def has_identifier_name(self) -> bool:
        """Whether the column is named as identifiers with such values are."""
        name = self.name.strip()
        differ = len(self.distinct) == self.rows
        return bool(_IDENTIFIER.fullmatch(name) or (differ and _OF_ROWS.fullmatch(name)))

    def tied_share(self) -> float:
        """Return the share of rows whose value more than K others share."""
        return float(self.counts[self.counts > K + 1].sum() / self.rows)

    def without(self, value: float) -> ColumnValues:
        """Return the values of the other rows."""
        kept = self.distinct != value
        return ColumnValues(self.name, self.given, self.distinct[kept], self.counts[kept])


def column_findings(dataset: Dataset, numbering: Sequence[int]) -> Iterator[AuditFinding]:
    """Yield what each column shows by itself; `numbering` are those of `numbering_columns`."""
    for i, (name, kind) in enumerate(zip(dataset.names, dataset.kinds, strict=True)):
        values = ColumnValues.of(name, dataset.values[:, i])
        if len(values.distinct) < 2:
            yield _constant(values)
        else:
            yield from _missing_values(values)
            yield from _identifier(values, i in numbering)
            yield from _small_classes(values) if kind == "discrete" else _numbers(values)


def numbering_columns(dataset: Dataset) -> list[int]:
    """Return the columns that count the rows, or have a name and values as row identifiers have.

    Also the one that would count them in another order: where there are several, they are ranks.
    """
    whole = np.flatnonzero((dataset.values == np.rint(dataset.values)).all(axis=0)).tolist()
    columns = {i: ColumnValues.of(dataset.names[i], dataset.values[:, i]) for i in whole}
    counting = [i for i, values in columns.items() if values.numbers_rows]
    return [
        i
        for i, values in columns.items()
        if counting == [i]
        or (i in counting and _is_evenly_spaced(values.given))
        or (len(values.distinct) == dataset.n and values.has_identifier_name)
    ]


def _is_evenly_spaced(column: NDArray[np.float64]) -> bool:
    return len(np.unique(np.diff(column))) == 1


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


def _missing_values(values: ColumnValues) -> Iterator[AuditFinding]:
    share = 1 - values.rows / len(values.given)
    if share > 0:
        yield AuditFinding(
            "missing-values",
            (values.name,),
            share,
            f"{share:.1%} of the rows of column '{values.name}' miss its value",
            "tests about it have fewer rows, and are biased where what is missing depends on other columns",
            "take missing=drop-per-test, or impute; leave out a column that misses most values",
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
    marks = list(_marks_of_missing(values))
    for mark in marks:
        yield _missing_mark(values, mark)
        values = values.without(mark)
    if len(values.distinct) < 2:
        return
    yield from _dates(values)
    nearly_constant = list(_nearly_constant(values))
    yield from nearly_constant or _shared_values(values)
    yield from _lost_resolution(values)
    yield from _heavy_tails(values)


def _identifier(values: ColumnValues, numbers_rows: bool) -> Iterator[AuditFinding]:
    """Yield the finding about a column that numbers the rows, or has a name and values as identifiers have."""
    if numbers_rows and _is_evenly_spaced(values.given):
        yield _naming("row-number", values, "counts the rows")
    elif numbers_rows:
        yield _naming("identifier", values, "has a whole number for each row")
    elif values.has_identifier_name and values.whole and len(values.distinct) > _FEW_VALUES:
        yield _naming("identifier", values, f"names {len(values.distinct)} things")


def _naming(kind: str, values: ColumnValues, what: str) -> AuditFinding:
    share = len(values.distinct) / values.rows
    return AuditFinding(
        kind,
        (values.name,),
        share,
        f"column '{values.name}' {what}",
        "it looks like a row number or an identifier, and is tested like any other column",
        "leave it out, unless it is a measurement such as time"
        if share == 1
        else "leave it out, or name it in blocks if rows of one thing belong together",
        serious=True,
    )


def _marks_of_missing(values: ColumnValues) -> Iterator[float]:
    """Yield values that stand far outside and come often, as -9999 does where it marks what is missing."""
    for mark in (float(values.distinct[0]), float(values.distinct[-1])):
        rest = values.without(mark)
        if len(rest.distinct) > 1 and _is_mark(mark, values.rows - rest.rows, rest):
            yield mark
            yield from _marks_of_missing(rest)
            return


def _is_mark(mark: float, often: int, rest: ColumnValues) -> bool:
    """Return whether a value beyond the rest, in so many rows, looks like a mark."""
    if often < 2 or rest.rows < 5:
        return False
    gap = max(rest.distinct[0] - mark, mark - rest.distinct[-1])
    spread = rest.distinct[-1] - rest.distinct[0]
    many = len(rest.distinct) > _FEW_VALUES
    # A few values may be any, such as doses of 1, 2 and 10.
    if gap >= (2 if many else 100) * spread and often >= 0.01 * (often + rest.rows):
        return True
    if not mark.is_integer() or not _MARK.fullmatch(f"{mark:.0f}") or _is_next(gap, rest):
        return False
    if mark == 0 and not many:
        return False
    alone_below_zero = mark < 0 <= rest.distinct[0] and many
    return bool(alone_below_zero or gap >= spread * (0.5 if 0 < abs(mark) < 10 else 0.25))


def _is_next(gap: float, rest: ColumnValues) -> bool:
    """Return whether a value so far from the rest goes on as they do: no farther than usual, and in their steps."""
    steps = np.diff(rest.distinct)
    return bool(gap <= np.median(steps) and gap % steps.min() == 0)


def _missing_mark(values: ColumnValues, mark: float) -> AuditFinding:
    share = float(values.counts[values.distinct == mark][0] / len(values.given))
    return AuditFinding(
        "missing-mark",
        (values.name,),
        share,
        f"in column '{values.name}' the value {mark:g} stands outside, in {share:.1%} of the rows",
        "if it marks missing values, columns that miss values in the same rows look dependent",
        "turn it into NaN, or name it (missing_marks, --missing-marks), if it is a mark of missing values",
        serious=mark != 0,  # which is a value of its own more often than another mark is
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
    stands_out = share >= _OFTEN and share > 3 * others.max() / values.rows and len(others) >= _FEW_VALUES
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


def _dates(values: ColumnValues) -> Iterator[AuditFinding]:
    """Yield a finding about numbers that are all days of the calendar, such as 20240131."""
    if len(values.distinct) < _FEWEST_DATES or not values.whole or not all(map(_is_date, map(int, values.distinct))):
        return
    first, last = (f"{value:.0f}" for value in values.distinct[[0, -1]])
    yield AuditFinding(
        "dates",
        (values.name,),
        len(values.distinct),
        f"the numbers of column '{values.name}' are dates, from {first} to {last}",
        "as numbers the last day of a month is 70 away from the next day and more, so near days look far apart",
        "make it the number of days since the first, or leave it out",
        serious=True,
    )


def _is_date(number: int) -> bool:
    """Return whether a number is a day of the years 1900 to 2100, as YYYYMMDD."""
    if not 1900_01_01 <= number <= 2100_12_31:  # farther ones may not even fit `date`
        return False
    try:
        date(number // 10_000, number // 100 % 100, number % 100)
    except ValueError:
        return False
    return True


def _lost_resolution(values: ColumnValues) -> Iterator[AuditFinding]:
    largest = max(abs(values.distinct[0]), abs(values.distinct[-1]))
    spread = values.quartiles[2] - values.quartiles[0]
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
    low, middle, high = values.quartiles
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
