from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pyknnmi import DataError, ParameterError
from pyknnmi.numbers import (
    conditional_mutual_information,
    mutual_information,
    permutation_test,
    permuted_rows,
    swapped_rows,
)


def normals(n, *shape, seed=0):
    return np.random.default_rng(seed).standard_normal((n, *shape))


@pytest.fixture
def xyz():
    e = normals(300, 4, seed=8)
    z = e[:, 2:]
    return e[:, 0] + z[:, 0], e[:, 1] + z[:, 0], z


def test_permutation_counts_under_the_null_are_uniform():
    # x and y independent: K is uniform on 0 ... T; chi-square of 4 cells, 0.1 % point 16.3 (3 degrees of freedom)
    none = np.empty((40, 0))
    cells = np.zeros(4)
    for seed in range(400):
        x, y = normals(40, 2, 1, seed=seed).swapaxes(0, 1)
        cells[permutation_test(x, y, none, 3, permutations=39, seed=seed, threads=1).at_least // 10] += 1
    assert cells.sum() == 400
    assert ((cells - 100) ** 2 / 100).sum() < 16.3


def test_permutation_test_of_a_function(xyz):
    x, _, _ = xyz
    none = np.empty((len(x), 0))
    found = permutation_test(x[:, None], x[:, None], none, 3, permutations=19)
    assert (found.at_least, found.permutations, found.p_value) == (0, 19, 1 / 20)
    assert found.statistic == mutual_information(x, x)


def test_ties_count(xyz):
    x, _, z = xyz
    constant = np.zeros((len(x), 1))
    found = permutation_test(x[:, None], constant, z, 3, permutations=19)
    assert (found.at_least, found.p_value) == (19, 1.0)


def test_seed_and_stream_choose_the_permutations():
    x, y = normals(100, 2, 1).swapaxes(0, 1)
    none = np.empty((100, 0))

    def count(**choice):
        return permutation_test(x, y, none, 3, permutations=200, **choice).at_least

    assert count(seed=1, stream=2) == count(seed=1, stream=2)
    # standard deviation of a count is about 7, so six equal ones would be no accident
    assert len({count(seed=s) for s in range(6)}) > 1
    assert len({count(stream=s) for s in range(6)}) > 1
    assert count(seed=2**64 - 1, stream=2**64 - 1) >= 0


def test_permutation_count_equals_estimates_of_permuted_data(xyz):
    x, y, z = (v.reshape(len(v), -1).round(1) for v in xyz)
    observed = conditional_mutual_information(x, y, z)
    permuted = [
        conditional_mutual_information(x, y[rows], z) for rows in permuted_rows(z, permutations=50, seed=7, stream=9)
    ]
    found = permutation_test(x, y, z, 3, permutations=50, seed=7, stream=9)
    assert found.statistic == observed
    assert found.at_least == sum(value >= observed for value in permuted)


def test_permutations_are_permutations_and_differ():
    drawn = [tuple(rows) for rows in permuted_rows(np.empty((50, 0)), permutations=100).tolist()]
    assert all(sorted(permutation) == list(range(50)) for permutation in drawn)
    assert len(set(drawn)) == 100


def test_permutations_are_uniform():
    # 24 permutations of 4 rows: chi-square with 23 degrees of freedom, 0.1 % point 49.7
    drawn = [tuple(rows) for rows in permuted_rows(np.empty((4, 0)), permutations=24 * 200, seed=1, stream=2).tolist()]
    cells = np.array(list(Counter(drawn).values()))
    assert len(cells) == 24
    assert ((cells - 200) ** 2 / 200).sum() < 49.7


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_stopping_early_decides_as_all_permutations_do(alpha):
    stopped = 0
    for seed in range(12):
        x, y = normals(40, 2, 1, seed=seed).swapaxes(0, 1)
        y = y + 0.5 * x * (seed % 2)
        none = np.empty((40, 0))
        full = permutation_test(x, y, none, 3, permutations=99, seed=seed)
        early = permutation_test(x, y, none, 3, permutations=99, seed=seed, stop="certain", alpha=alpha)
        smallest = (early.at_least + 1) / 100
        largest = (early.at_least + 99 - early.permutations + 1) / 100
        assert smallest <= full.p_value <= largest
        assert (full.p_value < alpha) == (smallest < alpha) == (largest < alpha)
        stopped += early.permutations < 99
    assert stopped


def test_sequential_stops_count_what_the_fixed_test_does():
    x = normals(60, 1)
    ends = set()
    for seed in range(40):
        y = normals(60, 1, seed=100 + seed) + 0.05 * seed * x
        found = permutation_test(x, y, None, 3, permutations=200, seed=seed, stop="sequential")
        every = permutation_test(x, y, None, 3, permutations=found.permutations, seed=seed)
        assert (found.statistic, found.at_least) == (every.statistic, every.at_least)
        assert found.permutations in (79, 143, 200)
        assert 0.03 <= found.anytime_p_value <= 1
        assert found.anytime_p_value < 0.05 or found.p_value >= 0.05 or found.permutations > 150
        ends.add((found.p_value < 0.05, found.permutations < 100))
    assert ends >= {(True, True), (False, True)}


def test_the_order_of_the_data_is_to_a_permutation_what_the_permutations_are_to_each_other():
    z = np.random.default_rng(0).standard_normal((200, 2))
    rows = swapped_rows(z, permutations=200, seed=1)
    assert all(sorted(order) == list(range(200)) for order in rows.tolist())
    in_place = (rows == np.arange(200)).mean()
    shared = (rows[1:] == rows[:-1]).mean()
    assert in_place == pytest.approx(shared, abs=0.01)  # of about .1
    # A row moves to a neighbor of a neighbor at the farthest.
    distance = np.abs(z[:, None] - z).max(axis=2)
    near = distance <= np.sort(distance, axis=1)[:, [9]]
    near |= near.T
    assert (near.astype(int) @ near.astype(int))[np.arange(200), rows].all()


def test_swaps_are_the_same_in_parts_and_with_threads():
    z = np.random.default_rng(0).standard_normal((60, 1))
    rows = swapped_rows(z, permutations=9, seed=1, stream=4, threads=1)
    np.testing.assert_array_equal(rows[5:], swapped_rows(z, permutations=4, seed=1, stream=4, first=5, threads=2))


@pytest.mark.parametrize("make", [permuted_rows, swapped_rows])
def test_more_rows_than_memory_holds_are_refused(monkeypatch, make):
    monkeypatch.setattr("pyknnmi.run._free_memory", lambda: 10**7)
    with pytest.raises(DataError, match=r"100000 permutations of 200 rows needs 0\.08 GB.*: make them in parts"):
        make(np.empty((200, 0)), permutations=100_000)


def test_swaps_need_a_neighbor_where_z_has_columns():
    z = np.random.default_rng(0).standard_normal((60, 1))
    with pytest.raises(ParameterError, match="neighbors = 0"):
        swapped_rows(z, permutations=2, neighbors=0)
    np.testing.assert_array_equal(swapped_rows(z, permutations=1, neighbors=1), [np.arange(60)])
    assert swapped_rows(z[:, :0], permutations=2, neighbors=0).shape == (2, 60)
