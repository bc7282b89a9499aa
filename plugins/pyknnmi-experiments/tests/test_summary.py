from __future__ import annotations

import pytest
from paper_comparison import stored_lines
from pyknnmi_experiments import summarize
from result_rows import row, stored_rows


def test_averages_of_the_stored_graphs_are_those_of_the_paper():
    # means and standard errors that were computed from the authors' own pickles
    published = stored_lines()
    summaries = summarize(stored_rows())
    assert len(summaries) == 6 * 7 * 5
    for found in summaries:
        line = published["k5", found.method, found.experiment, found.n]
        assert found.repetitions == 25
        assert found.hamming_distance == pytest.approx(float(line["mean_hd"]))
        assert found.standard_error == pytest.approx(float(line["se_hd"]), rel=1e-4, abs=1e-6)
        assert found.false_positives == pytest.approx(float(line["mean_fp"]))
        assert found.false_negatives == pytest.approx(float(line["mean_fn"]))


def test_order_and_means():
    rows = [row(500, method="b"), row(125, 0, "b", seconds=1.0), row(125, method="a"), row(125, 1, "b", seconds=2.0)]
    summaries = summarize(rows)
    assert [(s.method, s.n, s.repetitions) for s in summaries] == [("b", 125, 2), ("b", 500, 1), ("a", 125, 1)]
    assert (summaries[0].seconds, summaries[0].tests, summaries[0].standard_error) == (1.5, 100, 0)
