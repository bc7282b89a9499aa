from __future__ import annotations

import numpy as np

from pyknnmi import Dataset
from pyknnmi.regression.repeats import without_copies


def test_copied_rows_are_left_out_in_order():
    x = np.random.default_rng(0).standard_normal((50, 3))
    found, copies = without_copies(Dataset(np.vstack([x, x[10:30]]), ("a", "b", "c")))
    assert copies == 20
    assert np.array_equal(found.values, x)


def test_equal_rows_of_counts_and_categories_are_no_copies():
    rng = np.random.default_rng(1)
    counts = Dataset(rng.poisson(2, (300, 3)).astype(float), ("a", "b", "c"))
    codes = Dataset(rng.integers(0, 2, (300, 2)).astype(float), ("a", "b"), ("discrete", "discrete"))
    for data in (counts, codes):
        assert without_copies(data) == (data, 0)
