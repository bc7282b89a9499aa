"""A CI test on data with missing values: each question is answered from the rows that are complete in its columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset, listing
from pyknnmi.errors import DataError
from pyknnmi.protocols.ci_tests import BoundTest, CIResult, CITest
from pyknnmi.run import Run
from pyknnmi.search.contract import CheckedTest

__all__ = ["CompleteCases"]


class CompleteCases(BoundTest):
    """Binds a test anew to the complete rows of every question.

    An answer is the one that the test gives for the table of these columns and rows alone, and says how many rows. A
    column that is constant on them depends on nothing.
    """

    def __init__(self, test: CITest, dataset: Dataset, run: Run) -> None:
        self._test = test
        self._dataset = dataset
        self._run = run

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        return self._answer(x, y, z, None)

    def test_at(self, x: int, y: int, z: tuple[int, ...], level: float) -> CIResult:
        """Return the answer at a level of its own."""
        return self._answer(x, y, z, level)

    def _answer(self, x: int, y: int, z: tuple[int, ...], level: float | None) -> CIResult:
        rows = self._dataset.complete_rows((x, y, *z))
        constant = rows.constant_columns()
        if 0 in constant or 1 in constant:
            return CIResult.of_constant(rows.n)
        varying = [i for i in range(rows.p) if i not in constant]
        bound, given = self._bind(rows, varying), tuple(range(2, len(varying)))
        return bound.test(0, 1, given) if level is None else bound.test_at(0, 1, given, level)

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the associations, 0 for a constant. Candidates that miss values in the same rows share a call."""
        missing = np.isnan(self._dataset.values[:, list(candidates)])
        groups: dict[bytes, list[int]] = {}
        for place in range(len(candidates)):
            groups.setdefault(missing[:, place].tobytes(), []).append(place)
        scores = np.zeros(len(candidates))
        for places in groups.values():
            rows = self._dataset.complete_rows((x, *z, *(candidates[place] for place in places)))
            constant = rows.constant_columns()
            varying = [place for i, place in enumerate(places, start=1 + len(z)) if i not in constant]
            if 0 in constant or not varying:
                continue
            kept = [i for i in range(rows.p) if i not in constant]
            first = len(kept) - len(varying)
            bound = self._bind(rows, kept)
            scores[varying] = bound.associations(0, range(first, len(kept)), tuple(range(1, first)))
        return scores

    def _bind(self, rows: Dataset, columns: Sequence[int]) -> CheckedTest:
        try:
            return CheckedTest(self._test, rows.select(columns), self._run)
        except DataError as error:
            raise DataError(
                f"{rows.n} of {self._dataset.n} rows are complete in {listing(rows.names)}: {error}, leave out the "
                "column that misses most values, or impute them"
            ) from None
