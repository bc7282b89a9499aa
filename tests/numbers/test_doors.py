"""Every function of `pyknnmi.numbers` takes what NumPy makes an array of, and refuses the rest by errors of our own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pyknnmi import DataError, PyknnmiError, numbers

X, Y = np.random.default_rng(0).standard_normal((2, 30)).tolist()
TABLE = list(zip(X, Y, strict=True))
CORRELATIONS = numbers.PartialCorrelations.of(TABLE)

NO_COLUMNS = [
    *(None, "x", ["a", "b"], [[1, 2], [3]], [1j] * 30, {}, object(), [object()] * 30, [None] * 30, [10**400] * 30),
    *([math.nan] * 30, np.zeros((30, 2, 2))),
]
NO_NUMBERS = [None, "x", [1, 2], math.nan, math.inf, 1j, {}, object(), True, -2, 2.5, 10**400]
NO_INDEX = [["a"], [[1, 2], [3]], [math.nan], [1.0], [-1], [2], 1.0, 1j, object()]

COLUMNS = {
    "entropy": numbers.entropy,
    "mutual_information": lambda given: numbers.mutual_information(X, given),
    "conditional_mutual_information": lambda given: numbers.conditional_mutual_information(X, given, Y),
    "conditional_mutual_informations": lambda given: numbers.conditional_mutual_informations(X, given, Y),
    "neighbor_counts": lambda given: numbers.neighbor_counts(given, Y, X),
    "permutation_test": lambda given: numbers.permutation_test(X, given, Y),
    "permuted_statistics": lambda given: numbers.permuted_statistics(X, given, Y),
    "permuted_rows": numbers.permuted_rows,
    "swapped_rows": numbers.swapped_rows,
    "average_ranks": numbers.average_ranks,
    "indicators": numbers.indicators,
    "block_length": lambda given: numbers.block_length(X, given),
    "common_season": lambda given: numbers.common_season(X, given),
    "season_length": numbers.season_length,
    "tied_share": numbers.tied_share,
}
TABLES = {
    "standardized": numbers.standardized,
    "correlation_matrix": numbers.correlation_matrix,
    "PartialCorrelations": numbers.PartialCorrelations,
    "PartialCorrelations.of": numbers.PartialCorrelations.of,
}
COUNTS = {"estimate_of_counts": lambda given: numbers.estimate_of_counts(given, given, given)}
NUMBERS = {
    "k": lambda given: numbers.conditional_mutual_information(X, Y, None, given),
    "threads": lambda given: numbers.mutual_information(X, Y, threads=given),
    "seed": lambda given: numbers.permutation_test(X, Y, None, seed=given),
    "permutations": lambda given: numbers.permuted_statistics(X, Y, None, permutations=given),
    "alpha": lambda given: numbers.permutation_test(X, Y, None, alpha=given),
    "season": lambda given: numbers.block_length(X, Y, given),
    "same_season": lambda given: numbers.same_season(given, 12, 100),
    "r": lambda given: numbers.fisher_z(given, 5),
    "degrees_of_freedom": lambda given: numbers.fisher_z(0.5, given),
}
INDICES = {
    "among": lambda given: CORRELATIONS.among(0, given, []),
    "given": lambda given: CORRELATIONS.between(0, 1, given),
}


@pytest.mark.parametrize(
    ("calls", "refused"),
    [
        (COLUMNS, NO_COLUMNS),
        (TABLES, [*NO_COLUMNS, [], [[]], X]),
        (COUNTS, [*NO_COLUMNS, [], X, [0, 1, 2, 5, 5]]),
        (NUMBERS, NO_NUMBERS),
        (INDICES, NO_INDEX),
    ],
    ids=["columns", "tables", "counts", "numbers", "indices"],
)
def test_what_is_refused_is_refused_by_an_error_of_our_own(calls, refused):
    for name, call in calls.items():
        for given in refused:
            with pytest.raises(PyknnmiError):
                pytest.fail(f"{name} took {given!r} and returned {call(given)!r}")


def test_every_function_is_tried():
    tried = {*COLUMNS, *TABLES, *COUNTS, "fisher_z", "cells_suit", "same_season"}
    assert {name for name in numbers.__all__ if callable(getattr(numbers, name)) and name.islower()} <= tried


@pytest.mark.parametrize("call", [numbers.block_length, numbers.common_season])
def test_series_have_as_many_rows(call):
    with pytest.raises(DataError, match=r"^the series have 30 and 20 rows: give as many of both$"):
        call(X, Y[:20])


@pytest.mark.parametrize("call", COLUMNS.values(), ids=COLUMNS)
def test_lists_arrays_of_any_number_and_columns_give_the_same(call):
    expected = repr(call([round(x * 8) / 8 for x in X]))
    for given in (np.array([round(x * 8) / 8 for x in X], dtype=np.float32), tuple(round(x * 8) / 8 for x in X)):
        assert repr(call(given)) == expected


def test_a_poll_is_a_function():
    with pytest.raises(PyknnmiError, match=r"poll = 3: give a function"):
        numbers.permutation_test(X, Y, None, poll=3)
