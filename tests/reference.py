"""Reference data: values computed by programs that nobody here wrote; ``data/README.md`` says how."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

from pyknnmi import Dataset, Graph, read_table

FOLDER = Path(__file__).parent / "data"


def path(name: str) -> Path:
    """Path of a file, such as ``golden_cmi.json``; with ``.gz`` at its end if it is compressed."""
    plain = FOLDER / name
    return plain if plain.exists() else FOLDER / f"{name}.gz"


def contents(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def load(name: str):
    return json.loads(contents(path(name)))


def table(name: str) -> Dataset:
    return read_table(path(name))


def true_graph(name: str) -> Graph:
    """A 0/1 matrix in a CSV file without header."""
    return Graph.from_adjacency(np.loadtxt(path(name), delimiter=","))
