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


def test_rows_at_the_limits_of_detection_are_no_copies():
    x = np.random.default_rng(2).standard_normal((200, 3))
    data = Dataset(np.maximum(x, 0.5), ("a", "b", "c"))
    assert (data.values == 0.5).all(axis=1).sum() > 30
    assert without_copies(data) == (data, 0)
    # one row that is nowhere at the limit is there three times more
    top = np.argmax(x.min(axis=1))
    found, copies = without_copies(Dataset(np.vstack([data.values, *[data.values[[top]]] * 3]), data.names))
    assert copies == 3
    assert np.array_equal(found.values, data.values)
