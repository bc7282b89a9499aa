"""The bytes of a table, wherever they are: a file, an open one, standard input, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from pyknnmi.errors import DataError
from pyknnmi.run import check_memory

__all__ = ["content_of", "is_source"]

_COMPRESSIONS: dict[bytes, Callable[[io.BytesIO], Any]] = {
    b"\x1f\x8b": lambda content: gzip.GzipFile(fileobj=content),
    **{b"BZh%d" % level + block: bz2.BZ2File for level in range(1, 10) for block in (b"1AY&SY", b"\x17rE8P\x90")},
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_PIECE = 2**24  # bytes that are read before a look at what memory is left
_LESS = "give fewer rows or columns, or take a machine with more memory"
_DAMAGED = EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError
_TABLES = {b"PAR1": "Parquet", b"ARROW1\0": "Feather"}
_OTHER_FORMATS = (
    (b"$FL2@(#)", "a table of SPSS", "or read it with pandas.read_spss and pass the frame"),
    (b"$FL3@(#)", "a table of SPSS", "or read it with pandas.read_spss and pass the frame"),
    (b"<stata_dta>", "a table of Stata", "or read it with pandas.read_stata and pass the frame"),
    (b"r\x02\x01\0", "a table of Stata", "or read it with pandas.read_stata and pass the frame"),
    (b"s\x02\x01\0", "a table of Stata", "or read it with pandas.read_stata and pass the frame"),
    (bytes(12) + b"\xc2\xea\x81\x60", "a table of SAS", "or read it with pandas.read_sas and pass the frame"),
    (b"HEADER RECORD***", "a table of SAS", "or read it with pandas.read_sas and pass the frame"),
    (b"\x89HDF", "HDF5", "or read it with pandas.read_hdf or h5py and pass the frame"),
    (b"\x93NUMPY", "an array of NumPy", "or read it with numpy.load and pass the array"),
    (b"X\n\0\0\0", "an object of R", "with write.csv(table, row.names = FALSE)"),
    *(
        (f"RD{form}{version}\n{form}\n".encode(), "a workspace of R", "with write.csv(table, row.names = FALSE)")
        for form in "XAB"
        for version in (2, 3)
    ),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet or another office file", ""),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard, which is not read", "or compress it with gzip"),
    (b"SQLite format 3\0", "a database of SQLite", "or read it with pandas.read_sql and pass the frame"),
    (b"%PDF-", "a PDF", ""),
    (b"\x80\x04\x95", "a pickle of Python", "or unpickle it and pass the object"),
    (b"<?xml", "XML", ""),
    (b"<html", "a page of HTML", ""),
    (b"<!doctype", "a page of HTML", ""),
    (b"[{", "JSON", "or read it with pandas.read_json and pass the frame"),
    (b'{"', "JSON", "or read it with pandas.read_json and pass the frame"),
)
"""How files begin that are no text with separators, what they are, and a way out. No name of a column begins so."""
_SYSTEM_FILE = re.compile(r"__MACOSX/|(?:.*/)?\.DS_Store$")


def is_source(data: Any) -> bool:
    """Return whether this is a path, or an open file."""
    return isinstance(data, str | os.PathLike) or (hasattr(data, "read") and not hasattr(data, "columns"))


def content_of(source: Any) -> tuple[str, str | Any]:
    """Return the name of a source, and its text, or the Arrow table in it.

    The first bytes say what a file is: compressed (gzip, bzip2, xz, zip), Parquet, Feather, else text in UTF-8.

    Raises
    ------
    DataError
        No file, damaged, not text in UTF-8, or an archive of several files.
    """
    name = _name_of(source)
    try:
        content = _read(source)
        if isinstance(content, str):
            return name, _text(content, name)
        content = _decompressed(content, name)
        for magic, format_ in _TABLES.items():
            if content.startswith(magic) and b"\0" in content:  # a column may be named PAR1
                return name, _arrow_table(content, format_, name)
        _check_format(content, name)
        return name, _text(content.decode(), name)
    except UnicodeDecodeError:
        raise DataError(f"cannot read {name}: it is not text in UTF-8: save it as CSV in UTF-8") from None
    except (OSError, ValueError, *_DAMAGED) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from None


def _check_format(content: bytes, name: str) -> None:
    text = content[:100].lstrip().lower()
    for magic, format_, way_out in _OTHER_FORMATS:
        if content.startswith(magic) or text.startswith(magic):
            raise DataError(f"cannot read {name}: it is {format_}: save it as CSV in UTF-8{way_out and ', '}{way_out}")


def _text(content: str, name: str) -> str:
    if "\0" in content:
        raise DataError(
            f"cannot read {name}: it holds null characters, as no text in UTF-8 does: save it as CSV in UTF-8"
        )
    return content.lstrip("\ufeff")


def _name_of(source: Any) -> str:
    if isinstance(source, str | os.PathLike):
        return "standard input" if os.fspath(source) == "-" else f"'{os.fspath(source)}'"
    given = getattr(source, "name", None)
    return f"'{given}'" if isinstance(given, str) else "the open file"


def _read(source: Any) -> Any:
    name = _name_of(source)
    if not isinstance(source, str | os.PathLike):
        return _all_of(source, name)
    if os.fspath(source) == "-":
        return _all_of(sys.stdin.buffer, name)
    with Path(source).open("rb") as file:
        check_memory(2.0 * os.fstat(file.fileno()).st_size, f"reading {name}", _LESS)
        return _all_of(file, name)


def _all_of(stream: IO[Any], name: str) -> Any:
    """Return all that a stream gives, unless it is more than fits into memory with the text that is made of it."""
    pieces, size = [], 0
    while piece := stream.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        check_memory(2.0 * size, f"reading {name}, which holds {size / 1e9:.3g} GB or more,", _LESS)
    return pieces[0][:0].join(pieces) if pieces else b""


def _decompressed(content: bytes, name: str) -> bytes:
    for magic, decompress in _COMPRESSIONS.items():
        if content.startswith(magic):
            return bytes(_all_of(decompress(io.BytesIO(content)), f"{name} unpacked"))
    if not content.startswith(b"PK\x03\x04"):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [file for file in archive.namelist() if not file.endswith("/") and not _SYSTEM_FILE.match(file)]
        if "[Content_Types].xml" in members:
            raise DataError(f"cannot read {name}: it is a spreadsheet or another office file: save it as CSV in UTF-8")
        if len(members) != 1:
            raise DataError(f"cannot read {name}: it holds {len(members)} files: take one table out of the archive")
        try:
            check_memory(2.0 * archive.getinfo(members[0]).file_size, f"reading {name} unpacked", _LESS)
            with archive.open(members[0]) as file:
                return bytes(_all_of(file, f"{name} unpacked"))
        except RuntimeError as error:  # a password
            raise DataError(f"cannot read {name}: {error}") from None


def _arrow_table(content: bytes, format_: str, name: str) -> Any:
    try:
        from pyarrow import ArrowException
    except ImportError:
        raise DataError(
            f"cannot read {name}: it is {format_}, which needs the package pyarrow: pip install 'pyknnmi[frames]'"
        ) from None
    try:
        return {"Parquet": _parquet_table, "Feather": _feather_table}[format_](content, name)
    except (ArrowException, OSError) as error:
        raise DataError(f"cannot read {name}: it is no {format_} that can be read: {error}") from None


def _parquet_table(content: bytes, name: str) -> Any:
    from pyarrow import parquet

    file = parquet.ParquetFile(io.BytesIO(content))
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    cells = sum(group.num_rows * group.num_columns for group in groups)
    _check_table(cells, sum(group.total_byte_size for group in groups), name)
    return file.read()


def _feather_table(content: bytes, name: str) -> Any:
    from pyarrow import Table, ipc

    file = ipc.open_file(io.BytesIO(content))
    batches, cells, size = [], 0, 0
    for i in range(file.num_record_batches):
        batches.append(file.get_batch(i))
        cells += batches[-1].num_rows * batches[-1].num_columns
        size += batches[-1].nbytes
        _check_table(cells, size, name)
    return Table.from_batches(batches, file.schema)


def _check_table(cells: int, size: int, name: str) -> None:
    """Check that an Arrow table of so many bytes fits into memory, with the numbers that its cells become."""
    check_memory(size + 24.0 * cells, f"reading {name}, which holds {cells} values or more,", _LESS)
