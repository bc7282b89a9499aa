"""Averages over repetitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pyknnmi_experiments.results import ResultRow

__all__ = ["Summary", "summarize"]


@dataclass(frozen=True)
class Summary:
    """One experiment, method and n, over its repetitions.

    Attributes
    ----------
    experiment, method : str
    n, repetitions : int
    hamming_distance, standard_error : float
        Mean, and standard deviation (ddof 0, as in the paper) divided by the root of the repetitions.
    false_positives, false_negatives, true_edges, tests, seconds : float
        Means.
    """

    experiment: str
    method: str
    n: int
    repetitions: int
    hamming_distance: float
    standard_error: float
    false_positives: float
    false_negatives: float
    true_edges: float
    tests: float
    seconds: float


def summarize(rows: Iterable[ResultRow]) -> list[Summary]:
    """Return the averages, in the order in which experiments and methods come first, then by n."""
    rows = list(rows)
    cells: dict[tuple[str, str], dict[int, list[ResultRow]]] = {}
    for row in rows:
        cells.setdefault((row.experiment, row.method), {}).setdefault(row.n, []).append(row)
    return [_average(sizes[n]) for sizes in cells.values() for n in sorted(sizes)]


def _average(rows: list[ResultRow]) -> Summary:
    def mean(quantity: str) -> float:
        return float(np.mean([getattr(row, quantity) for row in rows]))

    distances = [row.hamming_distance for row in rows]
    return Summary(
        experiment=rows[0].experiment,
        method=rows[0].method,
        n=rows[0].n,
        repetitions=len(rows),
        hamming_distance=mean("hamming_distance"),
        standard_error=float(np.std(distances) / np.sqrt(len(rows))),
        false_positives=mean("false_positives"),
        false_negatives=mean("false_negatives"),
        true_edges=mean("true_edges"),
        tests=mean("tests"),
        seconds=mean("seconds"),
    )
