"""Writing files so that a failure leaves what was there, and cells so that every program reads them alike."""

from __future__ import annotations

import csv
import io
import os
import re
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import printable

__all__ = [
    "csv_line",
    "csv_text",
    "make_folder",
    "make_writable_folder",
    "plain_name",
    "replace_file",
    "replace_files",
    "safe_name",
    "shell_command",
    "write_dataset",
]

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""Begins a cell that a spreadsheet would calculate, or one that an apostrophe already keeps from that."""


def make_folder(directory: str | os.PathLike[str]) -> Path:
    """Make a folder, and those that it is in, unless it is there; return its path."""
    path = Path(directory)
    path.mkdir(parents=True, exist_ok=True)
    return path


def make_writable_folder(directory: str | os.PathLike[str]) -> None:
    """Make a folder as `make_folder` does, and raise OSError if no file can be made in it."""
    path = make_folder(directory)
    try:
        tempfile.TemporaryFile(dir=path).close()  # permissions alone do not show whether that works
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file as `replace_files` does."""
    replace_files({path: content})


def replace_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write files, all or none: each under another name until all are whole; then they take the place of the old ones.

    What is there and is no file, as a device or a pipe, is written to and stays.

    Raises
    ------
    OSError
        With the name of the file; what had the names before is left.
    """
    parts: dict[Path, Path] = {}
    path = Path()
    try:
        for path, content in contents.items():
            whole = path.resolve()  # so a link is kept, and its target replaced
            if whole.is_dir():
                raise IsADirectoryError(21, "Is a directory")
            encoded = content.encode() if isinstance(content, str) else content
            if whole.exists() and not whole.is_file():
                whole.write_bytes(encoded)
                continue
            parts[whole] = whole.with_name(f"{whole.name}.{secrets.token_hex(4)}.part")
            parts[whole].write_bytes(encoded)
            if whole.exists():
                shutil.copymode(whole, parts[whole])
        for path, part in parts.items():
            part.replace(path)
    except (
        OSError,
        RuntimeError,
        ValueError,
    ) as error:  # the last two for a loop of links, a null in a path
        number, reason = getattr(error, "errno", None) or 40, getattr(error, "strerror", None) or str(error)
        raise OSError(number, reason, str(path)) from None
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def safe_name(name: str) -> str:
    """Return a name for a cell of a CSV file: where a spreadsheet would take it for a formula, behind an apostrophe."""
    return f"'{name}" if _FORMULA.match(name) else name


def plain_name(cell: str) -> str:
    """Return the name that `safe_name` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def shell_command(words: Iterable[str]) -> str:
    """Return a command line that a shell takes apart into these words; what cannot be shown stands as escapes."""
    return " ".join(map(_shell_word, words))


def _shell_word(word: str) -> str:
    if word == printable(word):
        return shlex.quote(word)
    escaped = "".join(chr(b) if 32 <= b < 127 and chr(b) not in "\\'" else f"\\x{b:02x}" for b in os.fsencode(word))
    return f"$'{escaped}'"


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    r"""Return rows as CSV with lines that end in ``\n``."""
    return "".join(f"{csv_line(row)}\n" for row in rows)


def csv_line(row: Iterable[Any], delimiter: str = ",") -> str:
    """Return a row as CSV, without an end; a cell with any kind of line end stands in quotation marks."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\r\n").writerow(row)  # so both are quoted
    return stream.getvalue().removesuffix("\r\n")


def dataset_csv(dataset: Dataset) -> str:
    """Return the data as CSV with a header; values are read back to the bit."""
    return csv_text([[safe_name(name) for name in dataset.names], *dataset.values.tolist()])


def write_dataset(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the data as CSV with a header, in a folder that is made if need be; values are read back to the bit."""
    make_folder(Path(path).parent)
    replace_file(Path(path), dataset_csv(dataset))
