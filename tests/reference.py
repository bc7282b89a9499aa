"""Reference data: values computed by programs that nobody here wrote.

The small files are in ``tests/data``, and its README says how they were made; the others may lie beside the checkout,
in ``../shared/reference``. A test that needs a file which is in neither place is skipped.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from pyknnmi import Dataset, Graph, read_table

TESTS = Path(__file__).parent
COPIES = TESTS / "data"
BESIDE = TESTS.parent.parent / "shared" / "reference"


def path(name: str) -> Path:
    """Path of a file, such as ``golden_cmi.json``; with ``.gz`` at its end if it is there compressed."""
    for folder in (COPIES, BESIDE):
        for candidate in (folder / name, folder / f"{name}.gz"):
            if candidate.exists():
                return candidate
    pytest.skip(f"the reference file {name} is neither in tests/data nor in ../shared/reference")


def contents(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def load(name: str):
    return json.loads(contents(path(name)))


def table(name: str) -> Dataset:
    return read_table(path(name))


def true_graph(name: str) -> Graph:
    """A 0/1 matrix in a CSV file without header."""
    return Graph.from_adjacency(np.loadtxt(path(name), delimiter=","))
