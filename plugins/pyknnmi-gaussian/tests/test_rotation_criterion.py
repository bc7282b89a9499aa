from __future__ import annotations

import numpy as np
import pytest
from inputs import ALL
from pyknnmi_gaussian import random_rotations, rotation_penalty, standardize


def test_closed_form():
    # Rotated by 1, as a ring, the columns are (4, 1, 2, 3) and (2, 0, 1, 0).
    data = np.array([[1.0, 0], [2, 1], [3, 0], [4, 2]])
    first_rotated = 4 * 0 + 1 * 1 + 2 * 0 + 3 * 2
    second_rotated = 2 * 1 + 0 * 2 + 1 * 3 + 0 * 4
    assert rotation_penalty(data, [1]) == max(first_rotated, second_rotated) / 4


def test_least_of_the_rotations():
    data = standardize(np.random.default_rng(1).normal(size=(50, 4)))
    assert rotation_penalty(data, [3, 8, 20]) == min(rotation_penalty(data, [rotation]) for rotation in (3, 8, 20))


@pytest.mark.parametrize("transform", ["npn", "raw"])
@pytest.mark.parametrize("name", ALL)
def test_penalty_equals_huge(reference, r_generator, name, transform):
    data = reference.raw(name) if transform == "raw" else reference.normal_scores(name)
    penalty = rotation_penalty(data, r_generator(1002).sample(500, 20))
    for method in ("glasso", "mb_or", "mb_and"):
        wanted = reference.huge(name)[transform][method]["ric"]["opt_lambda"]
        assert penalty == pytest.approx(wanted, rel=1e-9)


def test_rotations_are_distinct_and_move_something():
    rotations = random_rotations(100, 20, seed=1)
    assert len(set(rotations.tolist())) == 20
    assert rotations.min() >= 1
    assert rotations.max() <= 99
    np.testing.assert_array_equal(rotations, random_rotations(100, 20, seed=1))


def test_few_rows_use_every_rotation():
    assert sorted(random_rotations(10, 20).tolist()) == list(range(1, 10))


@pytest.mark.parametrize(("n", "count"), [(1, 5), (10, 0)])
def test_out_of_range(n, count):
    with pytest.raises(ValueError, match="give at least 2 rows and 1 rotation"):
        random_rotations(n, count)
