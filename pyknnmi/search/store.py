"""A file that keeps every answer of a CI test, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyknnmi.errors import DataError
from pyknnmi.locks import Lock
from pyknnmi.protocols.ci_tests import CIResult

__all__ = ["Store", "StoreSummary", "StoredAnswers"]

_FORMAT = 2
_APPLICATION = 0x6B6E6D69  # "knmi"; marks our files among other SQLite files
_WAIT_SECONDS = 60.0
_UNUSABLE = sqlite3.Error, UnicodeError  # the last for text in a damaged file, and for SQLite's message about it
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    data TEXT NOT NULL, test TEXT NOT NULL, x TEXT NOT NULL, y TEXT NOT NULL, z TEXT NOT NULL, answer TEXT NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (data, test, x, y, z)
) WITHOUT ROWID
"""
_SELECT = "SELECT data, test, x, y, z, answer, checksum FROM answers"


@dataclass(frozen=True)
class StoreSummary:
    """What a store holds for one data set and test.

    Attributes
    ----------
    data : str
        SHA-256 of the data that were tested, after transforms.
    test : str
        The test with every parameter, where it comes from, and its seed if it needs one. The level follows where only
        decisions were asked for.
    answers : int
        Number of questions answered.
    """

    data: str
    test: str
    answers: int


class Store:
    """Answers by content: a changed cell, name, parameter, seed or version is tested anew.

    Each answer has a checksum over itself and its question, so that a damaged file is an error and no other answer.
    Several processes may share the file. Every answer is committed by itself: a process that is killed loses only
    the tests that it was making.

    Parameters
    ----------
    path : path
        An SQLite file; made if it does not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._connection: sqlite3.Connection | None = None
        self._abandoned: sqlite3.Connection | None = None
        self._lock = Lock()
        self._process = os.getpid()
        self._path = Path(path).absolute()  # a worker may run in another folder

    def __reduce__(self) -> tuple[type[Store], tuple[Path]]:
        return Store, (self._path,)  # another process opens the file itself

    def answers(self, data: str, test: str) -> StoredAnswers:
        """Return the answers about one data set by one test; see `StoredAnswers`."""
        return StoredAnswers(self, data, test)

    def get(self, data: str, test: str, x: str, y: str, z: tuple[str, ...]) -> CIResult | None:
        """Return the answer to a question, if it is there."""
        query = f"{_SELECT} WHERE data = ? AND test = ? AND x = ? AND y = ? AND z = ?"
        question = (data, test, x, y, json.dumps(z))
        rows = self._execute(query, question)
        if not rows:
            return None
        if rows[0][:5] != question:
            raise self._damaged(rows[0])
        return self._answer(rows[0])

    def all(self, data: str, test: str) -> Iterator[tuple[str, str, tuple[str, ...], CIResult]]:
        """Yield the columns and the answer of every question about one data set by one test."""
        for row in self._execute(f"{_SELECT} WHERE data = ? AND test = ?", (data, test)):
            answer = self._answer(row)
            yield row[2], row[3], tuple(json.loads(row[4])), answer

    def _answer(self, row: tuple[Any, ...]) -> CIResult:
        if _checksum(row[:6]) != row[6]:
            raise self._damaged(row)
        written = json.loads(row[5]).items()
        fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in written}
        return CIResult(**fields)

    def put(self, data: str, test: str, x: str, y: str, z: tuple[str, ...], answer: CIResult) -> None:
        """Keep an answer. One that is there already stays."""
        row = (data, test, x, y, json.dumps(z), json.dumps(dataclasses.asdict(answer)))
        self._execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, _checksum(row)))

    def summaries(self) -> list[StoreSummary]:
        """Return what the store holds, one row for each data set and test."""
        rows = self._look("SELECT data, test, count(*) FROM answers GROUP BY data, test ORDER BY data, test")
        return [StoreSummary(*row) for row in rows]

    def check(self) -> int:
        """Read every answer, and return their number.

        Raises
        ------
        DataError
            The file is damaged, or an answer is, which is named.
        """
        for (finding,) in self._look("PRAGMA integrity_check"):
            if finding != "ok":
                raise self._unusable(f"it is damaged: {finding}")
        count = 0
        for row in self._look(_SELECT):
            if _checksum(row[:6]) != row[6]:
                raise self._damaged(row)
            count += 1
        return count

    def _look(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query to a file that is not changed."""
        if not self._path.exists():
            raise DataError(f"there is no store '{self._path}'")
        try:
            with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", _WAIT_SECONDS, uri=True)) as connection:
                if not _is_empty(connection):
                    yield from connection.execute(query)
        except _UNUSABLE as error:
            raise self._unusable(error) from None

    def _damaged(self, row: tuple[Any, ...]) -> DataError:
        return self._unusable(
            f"it is damaged, in the answer about {row[2]!r} and {row[3]!r} given {row[4]!r}; remove the file, and the "
            "answers are computed anew"
        )

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._leave_parents_connection()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __del__(self) -> None:
        self.close()

    def _execute(self, statement: str, values: tuple[str, ...] = ()) -> list[Any]:
        with self._lock:  # threads share the connection
            self._leave_parents_connection()
            try:
                if self._connection is None:
                    self._connection = self._connected()
                return self._connection.execute(statement, values).fetchall()
            except _UNUSABLE as error:
                raise self._unusable(error) from None

    def _leave_parents_connection(self) -> None:
        if self._process != os.getpid():  # after a fork, SQLite forbids to use or close what the parent opened
            self._abandoned, self._connection = self._connection, None
            self._process = os.getpid()

    def _unusable(self, problem: Exception | str) -> DataError:
        error = DataError(f"cannot use '{self._path}' as a store: {problem}")
        error.is_placed = True  # no fault of the component that asks
        return error

    def _connected(self) -> sqlite3.Connection:
        # isolation_level None commits each statement by itself
        connection = sqlite3.connect(self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            if _is_empty(connection):
                _lay_out(connection)
            _log_ahead(connection)
            connection.execute("PRAGMA synchronous = NORMAL")  # safe against a killed process
        except BaseException:
            connection.close()
            raise
        return connection


def _checksum(row: tuple[Any, ...]) -> str:
    """Return what identifies a question with its answer; a damaged file may give values of any type."""
    return hashlib.blake2b(repr(row).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether the file is new; one that is not must be ours."""
    connection.execute(
        "BEGIN"
    )  # so all that follows sees one state of the file, also while another process lays it out
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("COMMIT")
    if tables and (application, version) != (_APPLICATION, _FORMAT):
        raise sqlite3.DatabaseError("it is another kind of file, or of another version of pyknnmi")
    return not tables


def _lay_out(connection: sqlite3.Connection) -> None:
    """Make the file a store, all at once. Doing so twice changes nothing, so several may find the file empty."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")
    connection.execute(_SCHEMA)
    connection.execute("COMMIT")


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, so that readers do not wait for a writer.

    SQLite's busy timeout does not cover this pragma: retry here.
    """
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


@dataclass(frozen=True)
class StoredAnswers:
    """The part of a store that is about one data set and one test.

    Attributes
    ----------
    store : Store
    data : str
        What identifies the data: `Dataset.sha256`.
    test : str
        What identifies the test, with its parameters, version and seed.
    """

    store: Store
    data: str
    test: str

    def at(self, level: float) -> StoredAnswers:
        """Return the answers to questions with this level."""
        return replace(self, test=f"{self.test} at level {level!r}")

    def get(self, x: str, y: str, z: tuple[str, ...]) -> CIResult | None:
        """Return the answer about these columns, if it is there."""
        return self.store.get(self.data, self.test, x, y, z)

    def all(self) -> Iterator[tuple[str, str, tuple[str, ...], CIResult]]:
        """Yield the columns and the answer of every question."""
        return self.store.all(self.data, self.test)

    def put(self, x: str, y: str, z: tuple[str, ...], answer: CIResult) -> None:
        """Keep an answer about these columns."""
        self.store.put(self.data, self.test, x, y, z, answer)
