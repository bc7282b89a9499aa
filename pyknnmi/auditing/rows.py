"""What the rows show: too few of them, repeats, and an order that means something."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.auditing.ranks import centred_ranks
from pyknnmi.auditing.repeats import repeated_rows
from pyknnmi.auditing.serial import serial_dependence
from pyknnmi.data.dataset import Dataset

__all__ = ["row_findings"]

_FEW = 100


def row_findings(dataset: Dataset, ranks: NDArray[np.float64], numbering: Sequence[int]) -> Iterator[AuditFinding]:
    """Yield what the rows show; `ranks` are those of `centred_ranks`, `numbering` those of `numbering_columns`."""
    yield from _few_rows(dataset)
    numbers = [dataset.names[i] for i in numbering]  # rows that differ in their number only are repeats
    if numbering:
        kept = [i for i in range(dataset.p) if i not in numbering]
        dataset, ranks = dataset.select(kept), ranks[kept]
    if len(dataset.constant_columns()) == dataset.p:
        return
    repeats = list(repeated_rows(dataset, numbers))
    yield from repeats
    if dataset.groups is None:  # which say already that rows belong together
        if repeats:
            dataset = dataset.without_repeats()
            ranks = centred_ranks(dataset)
        yield from serial_dependence(dataset, ranks)


def _few_rows(dataset: Dataset) -> Iterator[AuditFinding]:
    if dataset.n < max(_FEW, dataset.p):
        seen = math.tanh(2.8 / math.sqrt(max(dataset.n - 3, 1)))  # 1.96 + 0.84: a level of .05 and a power of .8
        yield AuditFinding(
            "few-rows",
            (),
            dataset.n,
            f"the table has {dataset.n} rows and {dataset.p} columns",
            f"of two columns with a correlation of {seen:.2f} even Fisher's z-test misses a fifth, and knn-cmi more",
            "take fewer columns; where dependence is linear, fisher-z finds more",
        )
