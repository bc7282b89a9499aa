"""One column of whatever type becomes numbers, and is known as continuous or discrete."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pyknnmi.errors import DataError, DataTypeError, IdentifierError, warn

__all__ = ["ColumnRead", "Kind", "categories", "column_of", "number"]

Kind = Literal["continuous", "discrete"]
"""Numbers, or categories: of a discrete column only whether two values are equal has a meaning."""

Values = NDArray[np.float64]

WHOLE_NUMBERS = 2**53
"""Up to here each whole number is a double of its own (IEEE 754)."""

_FEW_ROWS = 5  # up to so many rows, labels that are all different are still categories

_LETTERS_OF_A_WORD = 3  # or more
_FEW_PAIRS = 3  # so many different pairs of numbers, or more, are no categories

_MINUS = "-+\N{MINUS SIGN}\N{EN DASH}"
_CURRENCY = (
    r"(?:[A-Z]{0,3}[$€£¥₹₽₩₪₫₴₺฿₦]|(?:USD|EUR|GBP|JPY|CHF|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR)\b)?"
)
_THOUSANDS = ",.' _\N{RIGHT SINGLE QUOTATION MARK}"
_BY = "x*·\N{MULTIPLICATION SIGN}"
_DIGITS = (
    rf"(?:\d{{1,3}}(?:[{_THOUSANDS}]\d{{3}})+|\d{{1,2}}(?:,\d{{2}})+,\d{{3}}|\d+|(?=[.,]\d))(?:[.,]\d*)?"
    rf"(?:[eEdD][{_MINUS}]?\d+)?(?:\s?[{_BY}]?\s?10\^[{_MINUS}]?\d+)?"
)
_NO_WIDTH = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
_QUANTITY = re.compile(
    rf"0[xX][0-9a-fA-F]+|[<>≤≥=~≈±'\"(]*\s*{_CURRENCY}\s*[{_MINUS}]?\s*{_CURRENCY}\s*{_DIGITS}(?:\s?(?:±|\+/-)\s?{_DIGITS})?"
    r"[)'\"-]*\s*(?P<unit>/?[^\d\s.,;:()\[\]|'\"/_-][^\d()\[\]|'\"_-]*?[23]?)?[)'\"]*\s*"
)
_YEAR = r"(?:1[5-9]|2[01])\d\d"
_MONTH_NUMBER = r"(?:0?[1-9]|1[0-2])"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_CLOCK = r"\d{1,2}:[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?(?:\s?(?:Z|[+-]\d\d:?\d\d))?"
_SHORT_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_PERIOD = (
    rf"{_YEAR}(?:[-/](?:0[1-9]|1[0-2])|[\s-]?(?:Q[1-4]|H[12]|W(?:0?[1-9]|[1-4]\d|5[0-3])|M(?:0[1-9]|1[0-2])|(?-i:m[1-9])))|"
    rf"{_MONTH_NUMBER}/{_YEAR}|Q[1-4][\s/-]?{_YEAR}|W\d\d?[\s/-]{_YEAR}|"
    rf"{_MONTH}(?:[\s/-]\d\d|[\s/-]?{_YEAR})|{_SHORT_MONTH}\d\d"  # SEPT10 is a gene
)


def _part(units: str) -> str:
    return rf"(?:\d+(?:[.,]\d+)?\s?(?:{units})(?![a-z])[,\s]*)?"


_DURATION = (  # of two parts or more, the largest first; P1D alone may be a code
    rf"(?=\d[\d.,]*\s?[a-z]+[,\s]*\d){_part('d|days?')}{_part('h|hrs?|hours?')}{_part('m|mins?|minutes?')}"
    rf"{_part('s|secs?|seconds?')}|P(?=(?:\d+[YMWD]){{2}}|(?:\d+[YMWD])*T\d)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?"
    r"(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?)?"
)
_TIME = re.compile(
    rf"(?:(?:{_YEAR}([-/.]){_MONTH_NUMBER}\1{_DAY}|{_DAY}([-/.]){_DAY}\2(?:{_YEAR}|\d\d)|"
    rf"{_DAY}[\s-]?{_MONTH}[\s-]?(?:{_YEAR}|\d\d)|{_MONTH}\s{_DAY},?\s{_YEAR})(?:[:T\s]{_CLOCK})?|"
    rf"{_CLOCK}|{_PERIOD}|{_DURATION})",
    re.IGNORECASE,
)
_SHARE = re.compile(r"(\d{1,15})\s?(?:/|of)\s?(\d{1,15})")
_BLOOD_PRESSURE = re.compile(r"([7-9]\d|1\d\d|2[0-5]\d)\s?/\s?([3-9]\d|1[0-4]\d)")
_SPREADSHEET_ERROR = re.compile(r"#(?:DIV/0!|VALUE!|REF!|NAME\?|NUM!)")
_BASE_UNIT = r"[kKMGTmuμnp]?(?:g|m|l|L|s|Hz|V|A|W|J|Pa|M|mol|cal|B|bar|eV)"
_UNIT = re.compile(
    rf"[%‰K]|°[CF]?|{_BASE_UNIT}(?:/{_BASE_UNIT}|/dl|/dL|/h)?|min|h|hrs?|hours?|d|days?|wk|weeks?|months?|y|yrs?|years?|"
    r"d[lL]|[cd]m|km/h|in|ft|mi|lbs?|oz|kb|bp|I?U|mmHg|k|million|billion"
)


@dataclass(frozen=True, eq=False)
class ColumnRead:
    """A column, and what it was read from.

    Attributes
    ----------
    name : str
    values : ndarray, shape (n,)
        Numbers, or the codes of categories; NaN where a value is missing.
    kind : {"continuous", "discrete"}
    first : str
        The first value as it was given.
    marks : dict of str to int
        What was taken for a missing value, and how often.
    """

    name: str
    values: Values
    kind: Kind
    first: str
    marks: Mapping[str, int] = field(default_factory=dict)

    @property
    def distinct(self) -> int:
        """Number of different values, those that are missing left out."""
        return len(np.unique(self.values[~np.isnan(self.values)]))

    def record(self) -> dict[str, Any]:
        """Return what the column was read as, as JSON has it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "distinct": self.distinct,
            "first": self.first,
            "missing_marks": dict(self.marks),
        }


def number(text: str) -> float | None:
    """Return the number that a text is, or None. Digits joined by underscores, Python's own way, are a label."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def column_of(column: Any, name: str, marks: Sequence[str] | None = None, as_categories: bool = False) -> ColumnRead:
    """Return a column of a data frame, or an array, as numbers and its kind.

    Booleans become 0 and 1, categories and text the place of their label in alphabetic order; both are discrete.
    Objects that are all real numbers are the numbers they are. What is missing becomes NaN.

    Parameters
    ----------
    column : Series of pandas, polars or narwhals, or array_like of shape (n,)
    name : str
        For messages.
    marks : sequence of str, optional
        Further values that stand for a missing one, as text or as a number.
    as_categories : bool, default False
        Whether numbers are categories too.

    Raises
    ------
    DataError
        Text of which most rows, or all of more than a few, have their own; whole numbers that a double cannot tell
        apart.
    DataTypeError
        Complex numbers, dates, objects; text among numbers; text that is dates, or numbers with units or signs.
    """
    array = _array(column)
    if array.ndim != 1:
        raise DataError(f"column '{name}' has {array.ndim} dimensions: give one value a row")
    first = str(array[0]) if len(array) else ""
    is_category = str(getattr(column, "dtype", "")).lower().startswith(("category", "categorical", "enum"))
    if array.dtype.kind in "fiub" and not is_category and not as_categories:
        check_whole_numbers(array, name)
        values = array.astype(np.float64, copy=False)
        if array.dtype.kind == "f" and "int" in str(getattr(column, "dtype", "")).lower():
            _check_integers(column, values, name)
        for mark in marks or ():
            if (missing := number(mark)) is not None and (values == missing).any():
                values = np.where(values == missing, np.nan, values)
        kind: Kind = "discrete" if array.dtype.kind == "b" else "continuous"
        return ColumnRead(name, values, kind, first, _marks_of(array, values))
    if array.dtype.kind not in "OUTfiub":
        raise unusable(array.dtype, f"column '{name}'")
    given = column.to_list() if hasattr(column, "to_list") else array.tolist()
    chosen = {*(marks or ()), *(value for mark in marks or () if (value := number(mark)) is not None)}
    labels = [None if is_missing(label) or _is_in(label, chosen) else label for label in given]
    found = Counter(str(label) for label, kept in zip(given, labels, strict=True) if kept is None)
    if is_category or as_categories:
        labels = [label if label is None or isinstance(label, str | Real) else str(label) for label in labels]
        values, kind = categories(labels, name), "discrete"
    else:
        values, kind = _objects(labels, name)
    if kind == "discrete" and not as_categories:
        warn_of_spellings(sorted({label for label in labels if isinstance(label, str)}), name)
    return ColumnRead(name, values, kind, first, found)


def categories(labels: Sequence[Any], name: str) -> Values:
    """Return the codes 0, 1, ... of labels, None as NaN.

    Codes follow the alphabetic order of the labels, and depend neither on the order of rows nor on that of a frame's
    categories.
    """
    known = sorted({label for label in labels if label is not None}, key=lambda label: (str(type(label)), label))
    check_count(len(known), len(labels) - labels.count(None), name)
    code = {label: float(i) for i, label in enumerate(known)}
    return np.array([np.nan if label is None else code[label] for label in labels])


def check_count(known: int, rows: int, name: str) -> None:
    """Raise an error if so many texts are different that they cannot be categories."""
    if known > max(20, rows / 2) or known == rows > _FEW_ROWS:
        raise IdentifierError(
            f"column '{name}' holds {known} different texts in {rows} rows: it looks like free text or "
            f"identifiers; leave it out ({python_or_command('ignore', name)}), or sort it into categories"
        )


def warn_of_spellings(labels: Iterable[str], name: str) -> None:
    """Warn of categories that may be one, since they look alike but for capital letters and blanks.

    Symbols of one or two letters are no words: Co and CO are two things, and so are the genotypes AA, Aa and aa.
    """
    first: dict[str, str] = {}
    for label in labels:
        if sum(map(str.isalpha, label)) < _LETTERS_OF_A_WORD:
            continue
        other = first.setdefault(" ".join(_plain(label).casefold().split()), label)
        if other != label:
            warn(
                f"column '{name}' holds '{other}' and '{label}', which are different categories: write them alike if "
                f"they are one; if they are not, say so ({python_or_command('categories', name)})"
            )
            return


def check_no_quantities(labels: Sequence[str], name: str, place: Callable[[str], str]) -> None:
    """Raise an error for labels that are quantities: numbers with signs, units or separators, times, or errors.

    One label in ten may be something else: a word such as "unknown" does not turn a hundred prices into categories.

    Parameters
    ----------
    labels : sequence of str
        The different ones.
    name : str
        The column.
    place : callable
        Returns where a label stands first, for the message.
    """
    way_out = f"if these are categories, say so ({python_or_command('categories', name)})"
    for label in labels:
        if _SPREADSHEET_ERROR.fullmatch(label):
            raise DataTypeError(
                f"{place(label)}column '{name}' holds '{label}', an error of a spreadsheet: mend the formula, or say "
                "that it is a mark of missing values (missing_marks, --missing-marks)"
            )
    plain = {label: _plain(label) for label in labels}
    most = 0.9 * len(labels)
    times = [label for label, text in plain.items() if _TIME.fullmatch(text)]
    if times and len(times) >= most:
        raise DataTypeError(
            f"{place(times[0])}column '{name}' holds '{times[0]}', a date or a time: make it a number, such as days "
            f"since the first, or minutes; {way_out}"
        )
    shares = _pairs(_SHARE, plain.values())
    of = {total for _, total in shares}
    if len(shares) == len(labels) >= _FEW_PAIRS and len(of) == 1 and all(part <= total for part, total in shares):
        raise DataTypeError(
            f"{place(labels[0])}column '{name}' holds '{labels[0]}', so many of {of.pop()}: write the first number "
            f"alone; {way_out}"
        )
    pressures = _pairs(_BLOOD_PRESSURE, plain.values())
    if len(pressures) == len(labels) >= _FEW_PAIRS and all(high > low for high, low in pressures):
        raise DataTypeError(
            f"{place(labels[0])}column '{name}' holds '{labels[0]}', two numbers in one cell, as blood pressure is "
            f"written: make two columns of them; {way_out}"
        )
    matches = {label: match for label, text in plain.items() if (match := _QUANTITY.fullmatch(text))}
    units = {match["unit"] or "" for match in matches.values()}
    alike = len(units) == 1 or all(_UNIT.fullmatch(unit) for unit in units - {""})
    if not matches or len(matches) < most or not alike:
        return
    raise quantity_as_text(next(iter(matches)), name, place)


def _pairs(pattern: re.Pattern[str], texts: Iterable[str]) -> list[tuple[int, int]]:
    """Return the two numbers of each text that is such a pair."""
    return [(int(match[1]), int(match[2])) for text in texts if (match := pattern.fullmatch(text))]


def is_quantity(label: str) -> bool:
    """Return whether a text is a number once units, signs and separators are gone."""
    return _QUANTITY.fullmatch(_plain(label)) is not None


def quantity_as_text(label: str, name: str, place: Callable[[str], str]) -> DataTypeError:
    """Return the error for a number with a unit, a sign or a separator, or for a number as text."""
    way_out = "write decimal points and nothing between thousands, and neither units nor signs"
    if number(label) is not None:
        what, way_out = "a number as text", "convert it to a number"
    else:
        what = "a number with a comma" if "," in label else "a number with a unit, a sign or a separator"
    return DataTypeError(
        f"{place(label)}column '{name}' holds '{label}', {what}: {way_out}; if these are categories, say so "
        f"({python_or_command('categories', name)})"
    )


def _plain(label: str) -> str:
    """Return a label as it looks: in the usual letters, and without those that have no width."""
    return unicodedata.normalize("NFKC", label).translate(_NO_WIDTH).strip()


def in_table(row: int) -> str:
    """Return where a row of a table is that has no lines, for a message."""
    return f"row {row} (counted from 0)"


def python_or_command(option: str, name: str) -> str:
    """Return how an option about a column is given in Python, and in a command."""
    value = f"'{name}'" if option == "index" else f"['{name}']"
    return f"{option}={value}, --{option} {name}" if re.fullmatch(r"\S+", name) else f"{option}={value}"


def unusable(dtype: np.dtype[Any], where: str) -> DataTypeError:
    """Return the error for values that are neither numbers nor categories."""
    what = {
        "c": "complex numbers",
        "O": "objects",
        "U": "text",
        "S": "text",
        "T": "text",
        "m": "durations",
    }
    return DataTypeError(
        f"{where}: {what.get(dtype.kind, f'type {dtype}')} cannot be used; convert it to real numbers, or leave it out"
    )


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, or pandas' NA or NaT."""
    if isinstance(label, float):
        return math.isnan(label)
    if isinstance(label, Decimal):
        return label.is_nan()
    return label is None or type(label).__name__ in ("NAType", "NaTType")


def _array(column: Any) -> NDArray[Any]:
    """Return the values as an array: nullable numbers of pandas as floats, what NumPy has no type for as objects."""
    if isinstance(column, np.ma.MaskedArray) and np.ma.is_masked(column):
        values = column.data.astype(object)
        values[np.ma.getmaskarray(column)] = None
        return values
    dtype = getattr(column, "dtype", None)
    nullable = getattr(dtype, "numpy_dtype", None) if hasattr(dtype, "na_value") else None
    if nullable is not None and nullable.kind in "fiu" and column.hasnans:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if nullable is not None and nullable.kind in "fiub" and not column.hasnans:
        return np.asarray(column.to_numpy(dtype=nullable))
    if not hasattr(column, "to_numpy"):
        return np.asarray(column)
    try:
        return np.asarray(column.to_numpy())
    except Exception:  # each library has errors of its own
        return np.array(column.to_list(), dtype=object)


def _marks_of(array: NDArray[Any], values: Values) -> dict[str, int]:
    missing = np.isnan(values)
    return {str(mark): int(count) for mark, count in zip(*np.unique(array[missing], return_counts=True), strict=True)}


def _is_in(label: Any, marks: set[Any]) -> bool:
    return isinstance(label, str | Real) and label in marks


def _sort(label: Any) -> str:
    if isinstance(label, bool | np.bool_):
        return "truth values"
    if isinstance(label, Real | Decimal):
        return "numbers"
    return "text" if isinstance(label, str) else f"objects of type {type(label).__name__}"


def _objects(labels: Sequence[Any], name: str) -> tuple[Values, Kind]:
    """Return objects as numbers if all are numbers, and as categories if all are text, or all truth values."""
    known = [(row, label) for row, label in enumerate(labels) if label is not None]
    sorts = Counter(_sort(label) for _, label in known)
    if set(sorts) <= {"numbers"}:
        numbers = [np.nan if label is None else _float(label, row, name) for row, label in enumerate(labels)]
        return np.array(numbers), "continuous"
    if len(sorts) > 1:
        usual, odd = sorts.most_common()[0][0], sorts.most_common()[-1][0]
        row, label = next((row, label) for row, label in known if _sort(label) == odd)
        raise DataTypeError(
            f"column '{name}' holds {odd} among {usual}, first {label!r:.60} in {in_table(row)}: make them "
            f"alike, give None where a value is missing, or call the column categories "
            f"({python_or_command('categories', name)})"
        )
    if "text" in sorts:
        rows: dict[str, int] = {}
        for row, label in known:
            rows.setdefault(label, row)
        check_no_quantities(list(rows), name, lambda label: f"{in_table(rows[label])}: ")
    elif "truth values" not in sorts:
        row, label = known[0]
        raise DataTypeError(
            f"column '{name}': {next(iter(sorts))} cannot be used, first {label!r:.60} in {in_table(row)}: "
            "convert it to real numbers, or leave it out"
        )
    return categories(labels, name), "discrete"


def _float(value: Any, row: int, name: str) -> float:
    try:
        converted = float(value)
    except OverflowError:
        raise DataError(
            f"column '{name}' holds a number too large for a double, in {in_table(row)}: divide it, or take its "
            "logarithm"
        ) from None
    if not isinstance(value, float):
        if abs(converted) >= WHOLE_NUMBERS and converted != value and value % 1 == 0:
            raise lost_digits(value, in_table(row), name)
        if converted == 0 != value:
            raise too_small(value, in_table(row), name)
    return converted


def check_whole_numbers(array: NDArray[Any], name: str) -> None:
    """Raise an error for whole numbers that are no longer the same as doubles."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
        return
    for row in np.flatnonzero((array > WHOLE_NUMBERS) | (array < -WHOLE_NUMBERS)).tolist():
        if int(float(array[row])) != int(array[row]):
            raise lost_digits(array[row], in_table(row), name)


def _check_integers(column: Any, values: Values, name: str) -> None:
    """Raise an error for large whole numbers that became doubles since other values are missing."""
    if not (np.abs(values) >= WHOLE_NUMBERS).any():
        return
    for row, value in enumerate(column.to_list()):
        if isinstance(value, int) and int(float(value)) != value:
            raise lost_digits(value, in_table(row), name)


def too_small(value: Any, where: str, name: str) -> DataError:
    return DataError(
        f"column '{name}' holds {value} in {where}, a number so small that a double makes it 0: multiply it, or take "
        "its logarithm"
    )


def lost_digits(value: Any, where: str, name: str) -> DataError:
    return DataError(
        f"column '{name}' holds {value} in {where}, a whole number that a double rounds: subtract a number that all "
        "have in common, or make the rounded numbers yourself"
    )
