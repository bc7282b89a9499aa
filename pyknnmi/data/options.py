"""What a user says about a table that the table itself does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from pyknnmi.errors import ParameterError, UnknownNameError, did_you_mean

__all__ = ["TableOptions", "TableOptionsGiven"]


class TableOptionsGiven(TypedDict, total=False):
    """The options as keyword arguments; `TableOptions` says what they mean."""

    header: bool | None
    missing_marks: str | Iterable[str] | None
    categories: str | Iterable[str]
    ignore: str | Iterable[str]
    index: str | None


@dataclass(frozen=True)
class TableOptions:
    """How a table is to be read.

    Attributes
    ----------
    header : bool, optional
        Whether the first line of a text file holds the column names. None: it must, and a line that looks like a row
        of data is an error.
    missing_marks : tuple of str, optional
        The values that stand for a missing one, as text or as numbers; in a text file, instead of the usual words.
        Empty cells, None and NaN always do.
    categories : tuple of str
        Names of columns of numbers that are codes of categories.
    ignore : tuple of str
        Names of columns that are left out, and not looked at.
    index : str, optional
        Name of the column that names the rows: it is left out too. An empty text is a column without a name.
    """

    header: bool | None = None
    missing_marks: tuple[str, ...] | None = None
    categories: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    index: str | None = None

    @classmethod
    def of(cls, given: TableOptionsGiven) -> TableOptions:
        """Return the options, of which several may be given as one text or as a sequence."""
        unknown = set(given) - set(TableOptionsGiven.__annotations__)
        if unknown:
            raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
        marks = given.get("missing_marks")
        return cls(
            given.get("header"),
            None if marks is None else tuple(str(mark) for mark in _several(marks, "missing_marks")),
            _several(given.get("categories", ()), "categories"),
            _several(given.get("ignore", ()), "ignore"),
            given.get("index"),
        )

    def given(self) -> dict[str, Any]:
        """Return the options that differ from the default, as keyword arguments."""
        default = asdict(TableOptions())
        return {
            option: list(value) if isinstance(value, tuple) else value
            for option, value in asdict(self).items()
            if value != default[option]
        }

    def __bool__(self) -> bool:
        return self != TableOptions()

    def left_out(self, names: Sequence[str]) -> set[int]:
        """Return the places of the columns that are left out; every column that an option names must be there."""
        for option in ("categories", "ignore"):
            for name in getattr(self, option):
                _check_there(name, names, option)
        if self.index is not None:
            _check_there(self.index, names, "index")
        both = sorted({*self.categories} & {*self.ignore, self.index})
        if both:
            raise ParameterError(f"categories: column '{both[0]}' is left out by another option", "categories")
        return {i for i, name in enumerate(names) if name in self.ignore or name == self.index}


def _several(given: str | Iterable[str], option: str) -> tuple[str, ...]:
    several = (given,) if isinstance(given, str) else tuple(given)
    for one in several:
        if option != "missing_marks" and not isinstance(one, str):
            raise ParameterError(f"{option}: {one!r} is no name of a column, which is text", option)
    return several


def _check_there(name: str, names: Sequence[str], option: str) -> None:
    if name not in names:
        shown = ", ".join(names[:12])
        raise UnknownNameError(f"{option}: there is no column '{name}'{did_you_mean(name, names)} (there are {shown})")
