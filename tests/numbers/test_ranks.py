from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pyknnmi import DataError
from pyknnmi.numbers import average_ranks


@given(arrays(np.float64, st.integers(1, 30), elements=st.integers(-3, 3).map(float)))
def test_average_ranks(values):
    # the definition: values below, plus the middle of those that are equal
    expected = [(values < v).sum() + ((values == v).sum() + 1) / 2 for v in values]
    assert average_ranks(values).tolist() == expected


def test_zeros_of_both_signs_are_equal():
    assert average_ranks(np.array([0.0, -0.0, 1.0])).tolist() == [1.5, 1.5, 3.0]


@pytest.mark.parametrize("shape", [(), (3, 2)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(DataError, match=r"the values have shape \(.*\): give one column, shape \(n,\)"):
        average_ranks(np.ones(shape))
