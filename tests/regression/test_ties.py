import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pyknnmi.regression import spread_ties


def generator():
    return np.random.default_rng(0)


def test_a_column_without_ties_stays_as_it_is():
    column = np.array([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(spread_ties(column, generator()), column)


def test_a_value_of_one_row_stays_where_it_is():
    spread = spread_ties(np.array([1.0, 1.0, 2.0, 5.0]), generator())
    assert spread[2] == 2
    assert spread[3] == 5


def test_whole_numbers_fill_the_line():
    column = np.repeat(np.arange(5.0), 400)
    spread = spread_ties(column, generator())
    np.testing.assert_array_equal(np.round(spread), column)
    # Uniform on [-.5, 4.5]: the distribution function is off by sqrt(-log(.005) / (2 n)) with probability .01.
    levels = (np.arange(2000) + 0.5) / 2000
    assert np.abs((np.sort(spread) + 0.5) / 5 - levels).max() < 0.037


def test_a_limit_that_many_rows_share_is_spread_by_its_share():
    measured = np.maximum(generator().standard_normal(1000), 0)
    at_limit = measured == 0
    spread = spread_ties(measured, generator())
    reach = at_limit.mean() * measured.std()
    np.testing.assert_array_equal(spread[~at_limit], measured[~at_limit])
    assert np.abs(spread[at_limit]).max() <= reach
    assert np.abs(spread[at_limit]).max() > 0.9 * reach


def test_a_constant_column_stays_as_it_is():
    np.testing.assert_array_equal(spread_ties(np.ones(4), generator()), np.ones(4))


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=30).filter(lambda numbers: len(set(numbers)) > 1))
def test_no_value_stays_shared(numbers):
    spread = spread_ties(np.array(numbers, dtype=float), generator())
    assert len(np.unique(spread)) == len(numbers)
