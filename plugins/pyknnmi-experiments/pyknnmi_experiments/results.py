"""The table of results: one row a run, in an SQLite file while runs go on, and in a CSV file for people and git."""

from __future__ import annotations

import csv
import io
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Self

from pyknnmi import DataError
from pyknnmi.commands import make_folder, natural_key, replace_file

__all__ = ["Key", "ResultRow", "Results", "open_results", "read_results", "write_csv"]

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
        Different questions that the learner tested.
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


_NAMES = [field.name for field in fields(ResultRow)]
_HEADER = ",".join(_NAMES) + "\n"
_APPLICATION = 0x6B6E6578  # "knex"; marks our files among other SQLite files
_WAIT_SECONDS = 60.0
_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "REAL"}
_SCHEMA = f"""CREATE TABLE IF NOT EXISTS results (
    {", ".join(f"{field.name} {_TYPES[str(field.type)]} NOT NULL" for field in fields(ResultRow))},
    PRIMARY KEY (experiment, method, n, repetition)
) WITHOUT ROWID"""


class Results:
    """An open table; `open_results` makes one.

    Every row is committed by itself, so a process that is killed loses nothing but the runs that it was making. Several
    processes may add rows at the same time.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self.rows = {row.key: row for row in _selected(connection)}

    def add(self, rows: Iterable[ResultRow]) -> None:
        """Add rows, all or none. One whose key is there already stays as it was."""
        new = [row for row in rows if row.key not in self.rows]
        marks = ", ".join("?" * len(_NAMES))
        with _errors_named(self._path), self._connection:
            self._connection.executemany(f"INSERT OR IGNORE INTO results VALUES ({marks})", map(astuple, new))
        self.rows.update({row.key: row for row in new})


@contextmanager
def open_results(path: str | os.PathLike[str]) -> Iterator[Results]:
    """Open a table for adding rows; it is made, with its folder, if there is none.

    Raises
    ------
    DataError
        The file holds something else, or cannot be written.
    """
    path = Path(path)
    make_folder(path.parent)
    with _errors_named(path), closing(sqlite3.connect(path, _WAIT_SECONDS, isolation_level="IMMEDIATE")) as connection:
        connection.execute("BEGIN IMMEDIATE")  # of several that open a new file, one lays it out
        with connection:
            _check_ours(path, connection, may_be_empty=True)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute(_SCHEMA)
        _write_ahead(connection)
        yield Results(path, connection)


def read_results(path: str | os.PathLike[str]) -> list[ResultRow]:
    """Return the rows of a table, also of one that is still being written, or of the CSV file made of one.

    Raises
    ------
    DataError
        No such file, or it holds something else.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            start = stream.read(16)
            is_table = start == b"SQLite format 3\0"
            content = b"" if is_table else start + stream.read()
    except OSError as error:
        raise DataError(f"cannot read '{path}': {error.strerror}") from None
    if not is_table:
        return _csv_rows(path, content.decode("utf-8", errors="replace"))
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with _errors_named(path), closing(sqlite3.connect(uri, _WAIT_SECONDS, uri=True)) as connection:
        _check_ours(path, connection, may_be_empty=False)
        return _selected(connection)


def write_csv(rows: Iterable[ResultRow], path: str | os.PathLike[str]) -> None:
    """Write rows as CSV, sorted by experiment, method, n and repetition.

    So the order depends neither on which run finished first nor on how often the work was stopped. What has the name
    is replaced when the new file is whole.
    """
    path = Path(path)
    make_folder(path.parent)
    stream = io.StringIO(_HEADER)
    stream.seek(0, io.SEEK_END)
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows(astuple(row) for row in sorted(rows, key=_place))
    replace_file(path, stream.getvalue())


def _place(row: ResultRow) -> tuple[object, ...]:
    return natural_key(row.experiment), natural_key(row.method), row.n, row.repetition


def _selected(connection: sqlite3.Connection) -> list[ResultRow]:
    rows = connection.execute(f"SELECT {', '.join(_NAMES)} FROM results")
    return sorted((ResultRow(*cells) for cells in rows), key=_place)


def _check_ours(path: Path, connection: sqlite3.Connection, *, may_be_empty: bool) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application == _APPLICATION:
        return
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application or tables or not may_be_empty:
        raise DataError(f"'{path}' is no table of experiments: give another file")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, so that readers do not wait for a writer.

    SQLite's busy timeout does not cover this pragma: retry here.
    """
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


@contextmanager
def _errors_named(path: Path) -> Iterator[None]:
    """Turn what SQLite says into an error that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        problem = "is no table of experiments" if "not a database" in str(error) else f"cannot be used: {error}"
        raise DataError(f"'{path}' {problem}") from None


def _csv_rows(path: Path, text: str) -> list[ResultRow]:
    if not text.startswith(_HEADER):
        raise DataError(f"'{path}' is no table of experiments: its first line must be {_HEADER.strip()}")
    rows = []
    reader = csv.reader(io.StringIO(text[len(_HEADER) :]))
    for cells in reader:
        try:
            rows.append(ResultRow.of(cells))
        except ValueError:
            raise DataError(f"'{path}', line {reader.line_num + 1}: this is no row of results") from None
    return rows
