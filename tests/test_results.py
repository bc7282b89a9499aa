"""The results in docs/results are what the product gives, and the tables beside them are made of these."""

from __future__ import annotations

import paper_comparison
import pytest
from pyknnmi_experiments import EXPERIMENTS, summarize
from result_rows import assert_learned

ROWS = paper_comparison.committed_rows()
CELLS = paper_comparison.compare(summarize(ROWS))


SAMPLE = [
    row
    for row in ROWS
    if row.repetition == 0 and (row.method == "fisherZ_AND" or (row.method.startswith("knnMI") and row.n <= 250))
]
EVERY_DAY = SAMPLE[:: len(SAMPLE) // 10]


def marks(row):
    if row in EVERY_DAY:
        return ()
    return pytest.mark.long if row.method.startswith("knnMI") and row.n > 125 else pytest.mark.slow


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=marks(row)) for row in SAMPLE],
    ids=[f"{row.experiment}-{row.method}-{row.n}" for row in SAMPLE],
)
def test_rows_can_be_had_again(row):
    assert_learned(row)


def test_every_cell_has_25_repetitions():
    assert {cell.ours.repetitions for cell in CELLS} == {25}
    main = [cell for cell in CELLS if cell.ours.method in {"knnMI_AND", "knnMI_AND_k5", "fisherZ_AND", "mb_auto"}]
    assert len(main) == 4 * len(EXPERIMENTS) * 5


def test_the_comparison_is_of_these_rows():
    assert (paper_comparison.HERE / "comparison.md").read_text(encoding="utf-8") == paper_comparison.report(CELLS)


@pytest.mark.parametrize("method", ["knnMI_AND_k5", "mb_auto"])
def test_small_networks_are_as_in_the_paper(method):
    """By the stored means and standard errors. In 30 cells one or two may be two errors away by chance."""
    deviations = [abs(cell.deviation) for cell in CELLS if cell.ours.method == method and cell.kind == "small-network"]
    assert len(deviations) == 30
    assert max(deviations) < 2.5
    assert sum(deviation < 2 for deviation in deviations) >= 28
