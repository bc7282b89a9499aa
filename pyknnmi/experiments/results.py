"""The table of results: one CSV row a run, appended as runs finish, and put in order when all are there."""

from __future__ import annotations

import csv
import fcntl
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Self

from pyknnmi.data.dataset import natural_key
from pyknnmi.errors import DataError
from pyknnmi.learning.exports import make_folder, replace_file

__all__ = ["Key", "ResultRow", "Results", "open_results", "read_results"]

Key = tuple[str, str, int, int]
"""Experiment, method, n and repetition: what a row is found by."""


@dataclass(frozen=True)
class ResultRow:
    """One graph learned, beside the true one.

    Attributes
    ----------
    experiment, method : str
        Names.
    spec : str
        The method in full.
    seed : int
        Of the experiment's data.
    n, repetition : int
        Rows, and which draw of them (from 0).
    true_edges : int
    hamming_distance, false_positives, false_negatives : int
        The first is the sum of the others.
    tests : int
        Different questions that the learner asked.
    seconds : float
        Wall-clock time of learning.
    """

    experiment: str
    method: str
    spec: str
    seed: int
    n: int
    repetition: int
    true_edges: int
    hamming_distance: int
    false_positives: int
    false_negatives: int
    tests: int
    seconds: float

    @property
    def key(self) -> Key:
        """What the row is found by."""
        return self.experiment, self.method, self.n, self.repetition

    @classmethod
    def of(cls, cells: Sequence[str]) -> Self:
        """Return the row that was written as these cells; ValueError if there are not as many, or one is no number."""
        kinds = {"str": str, "int": int, "float": float}
        values = [kinds[str(field.type)](cell) for field, cell in zip(fields(cls), cells, strict=True)]
        return cls(*values)


_HEADER = ",".join(field.name for field in fields(ResultRow)) + "\n"


class Results:
    """An open table; `open_results` makes one."""

    def __init__(self, path: Path, descriptor: int, rows: Iterable[ResultRow]) -> None:
        self._path = path
        self._descriptor = descriptor
        self.rows = {row.key: row for row in rows}

    def append(self, row: ResultRow) -> None:
        """Add a row to the end of the file; OSError, and no part of the row there, if the disk is full."""
        _append(self._path, self._descriptor, _line(row))
        self.rows[row.key] = row

    def put_in_order(self) -> None:
        """Write the whole table anew, sorted by experiment, method, n and repetition.

        So its order depends neither on which run finished first nor on how often the work was stopped.
        """
        rows = sorted(self.rows.values(), key=lambda row: (*map(natural_key, row.key[:2]), *row.key[2:]))
        replace_file(self._path, _HEADER + "".join(map(_line, rows)))


@contextmanager
def open_results(path: str | os.PathLike[str]) -> Iterator[Results]:
    """Open a table for appending; it is made, with its folder, if there is none.

    A line that a killed process left unfinished is removed.

    Raises
    ------
    DataError
        The file holds something else, or another process writes to it.
    """
    path = Path(path)
    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        _lock(descriptor, path)
        content = path.read_bytes()
        finished = content.rfind(b"\n") + 1
        rows = _rows(path, content[:finished]) if finished else []
        if not finished and not _HEADER.encode().startswith(content):
            raise _not_results(path)
        os.truncate(descriptor, finished)
        if not finished:
            _append(path, descriptor, _HEADER)
        yield Results(path, descriptor, rows)
    finally:
        os.close(descriptor)


def read_results(path: str | os.PathLike[str]) -> list[ResultRow]:
    """Return the rows of a table, also of one that is still being written.

    Raises
    ------
    DataError
        No such file, or it holds something else.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read '{path}': {error.strerror}") from None
    return _rows(path, content[: content.rfind(b"\n") + 1])


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        busy = os.fstat(descriptor).st_ino != path.stat().st_ino  # replaced between opening and locking
    except BlockingIOError:
        busy = True
    if busy:
        raise DataError(f"another run writes to '{path}': wait for its end, or give another file")


def _append(path: Path, descriptor: int, text: str) -> None:
    left = text.encode()
    size = os.fstat(descriptor).st_size
    try:
        while left:  # a disk that is nearly full takes a part, and says so at the next attempt
            left = left[os.write(descriptor, left) :]
    except OSError as error:
        os.truncate(descriptor, size)
        raise OSError(error.errno, error.strerror, str(path)) from None


def _rows(path: Path, content: bytes) -> list[ResultRow]:
    text = content.decode("utf-8", errors="replace")
    if not text.startswith(_HEADER):
        raise _not_results(path)
    rows = []
    reader = csv.reader(io.StringIO(text[len(_HEADER) :]))
    for cells in reader:
        try:
            rows.append(ResultRow.of(cells))
        except ValueError:
            raise DataError(f"'{path}', line {reader.line_num + 1}: this is no row of results") from None
    return rows


def _not_results(path: Path) -> DataError:
    return DataError(f"'{path}' is no table of experiments: its first line must be {_HEADER.strip()}")


def _line(row: ResultRow) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(astuple(row))
    return stream.getvalue()
