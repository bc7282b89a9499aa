from __future__ import annotations

import pytest

from pyknnmi import learn, simulate
from pyknnmi.builtin.standardize import Standardize
from pyknnmi.components import Dataset

DATA, _ = simulate.small_network(150, noise="t", seed=3)


def test_mean_zero_and_population_deviation_one():
    found = Standardize().apply(DATA)
    assert found.values == pytest.approx((DATA.values - DATA.values.mean(axis=0)) / DATA.values.std(axis=0), abs=1e-12)
    assert found.names == DATA.names


def test_scale_and_place_do_not_count():
    moved = Dataset(DATA.values * [2, -1, 1e9, 1, 1e-9, 1, 1] + [0, 1, 0, 1e4, 0, 0, 0], DATA.names)
    signs = [1, -1, 1, 1, 1, 1, 1]
    assert Standardize().apply(moved).values == pytest.approx(Standardize().apply(DATA).values * signs, abs=1e-9)


def test_standardizing_twice_changes_no_graph():
    spec = "iamb+knn-cmi(permutations=39)"
    assert learn(DATA, f"standardize+{spec}", seed=1).graph == learn(DATA, spec, seed=1).graph
