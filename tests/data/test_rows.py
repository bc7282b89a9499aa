"""Rows that repeat, and rows that belong together."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from pyknnmi import DataError, Dataset, ParameterError, learn

NAMES = ("a", "b", "c")


def table(values, **options):
    return Dataset(np.asarray(values, dtype=float), NAMES, **options)


def test_the_first_of_equal_rows_is_kept():
    data = table([[1, 2, 3], [0.0, 5, 6], [1, 2, 3], [-0.0, 5, 6], [1, 2, 4]]).without_repeats()
    assert data.values.tolist() == [[1, 2, 3], [0, 5, 6], [1, 2, 4]]
    assert (data.repeats_left_out, data.rows_left_out) == (2, 0)
    assert data.without_repeats() is data


def test_rows_that_miss_the_same_values_are_equal():
    data = table([[1, np.nan, 3], [1, np.nan, 3], [1, 2, 3]], has_missing=True).without_repeats()
    assert data.n == 2


def test_one_row_is_nothing_to_learn_from():
    with pytest.raises(DataError, match="all 3 rows are equal"):
        table([[1, 2, 3]] * 3).without_repeats()


def test_groups():
    data = table([[1, 2, 30], [3, 4, 10], [5, 6, 30], [7, 8, 10]]).grouped("c")
    assert (data.names, data.groups.tolist()) == (("a", "b"), [1, 0, 1, 0])
    assert data.select([1]).groups.tolist() == [1, 0, 1, 0]
    assert data.rows([0, 3]).groups.tolist() == [1, 0]
    assert pickle.loads(pickle.dumps(data)).groups.tolist() == [1, 0, 1, 0]
    assert data.sha256 != Dataset(data.values, data.names).sha256


def test_equal_rows_of_two_groups_are_both_kept():
    data = table([[1, 2, 0], [1, 2, 0], [1, 2, 1], [3, 4, 1]]).grouped("c").without_repeats()
    assert (data.values.tolist(), data.groups.tolist()) == ([[1, 2], [1, 2], [3, 4]], [0, 1, 1])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1, 1, 1], "column 'c' has the same value in all rows"),
        ([1, 2, 3], "column 'c' has another value in each row"),
        ([1, 1, np.nan], "column 'c' misses values"),
    ],
)
def test_columns_that_tell_no_groups(column, message):
    values = np.column_stack([np.arange(6.0).reshape(3, 2), column])
    with pytest.raises(DataError, match=message):
        table(values, has_missing=True).grouped("c")


def test_learning_from_each_row_once():
    rows = np.random.default_rng(5).standard_normal((100, 3))
    repeated, once = np.repeat(rows, 2, axis=0), learn(rows, "iamb+knn-cmi(permutations=39)")
    result = learn(repeated, "iamb+knn-cmi(permutations=39)", repeats="one")
    assert (result.graph, result.evidence) == (once.graph, once.evidence)
    assert (result.repeats_left_out, result.shape) == (100, (100, 3))
    with pytest.raises(ParameterError, match="repeats = 'once' must be one of keep, one"):
        learn(rows, "iamb+fisher-z", repeats="once")
