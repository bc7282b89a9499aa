from __future__ import annotations

import numpy as np
import pytest

from pyknnmi import Dataset
from pyknnmi.calibration.synthetic import SyntheticNull


def generator(seed=0):
    return np.random.default_rng(seed)


def test_a_column_keeps_its_dependence_on_z_and_loses_all_other():
    random = generator()
    z, shared = random.standard_normal((2, 500))
    x, y = np.sin(2 * z) + 0.5 * (shared + 0.5 * random.standard_normal((2, 500)))
    null = SyntheticNull(Dataset.of(np.column_stack([x, y, z])), [2], generator(1))
    drawn = [null.draw(0, generator(2)), null.draw(1, generator(3))]
    left = [column - np.sin(2 * z) for column in drawn]
    for before, after in zip((x, y), drawn, strict=True):
        assert after.std() == pytest.approx(before.std(), rel=0.15)
        assert np.corrcoef(after, np.sin(2 * z))[0, 1] > 0.7
    assert abs(np.corrcoef(*left)[0, 1]) < 4 / np.sqrt(500)  # four standard errors; in the data it is .8


def test_the_scale_may_depend_on_z():
    random = generator()
    z = random.uniform(-2, 2, 1000)
    x = np.exp(z) * random.standard_normal(1000)
    drawn = SyntheticNull(Dataset.of(np.column_stack([x, x, z])), [2], generator(1)).draw(0, generator(2))
    low, high = drawn[z < -1].std(), drawn[z > 1].std()
    # Of the data the ratio is the root of that of the means of exp(2 z) over [1, 2] and [-2, -1]: e^3.
    assert high / low == pytest.approx(np.exp(3), rel=0.3)


def test_without_z_the_values_are_shuffled():
    x = generator().standard_normal(50)
    drawn = SyntheticNull(Dataset.of(np.column_stack([x, x])), [], generator(1)).draw(0, generator(2))
    # A residual has n - 1 degrees of freedom, and the noise is scaled accordingly.
    np.testing.assert_allclose(np.sort(drawn), np.sort((x - x.mean()) * np.sqrt(50 / 49) + x.mean()), rtol=1e-9)


def test_tied_values_stay_the_values_of_the_column():
    random = generator()
    z = random.standard_normal(300)
    counts = random.poisson(np.exp(z)).astype(float)
    drawn = SyntheticNull(Dataset.of(np.column_stack([counts, z])), [1], generator(1)).draw(0, generator(2))
    assert set(drawn) <= set(counts)
    assert np.corrcoef(drawn, z)[0, 1] > 0.5


def test_categories_follow_their_probabilities():
    random = generator()
    z = random.standard_normal(900)
    kind = np.where(random.uniform(size=900) < 1 / (1 + np.exp(-3 * z)), 2.0, random.integers(0, 2, 900))
    dataset = Dataset(np.column_stack([kind, z]), ("kind", "z"), ("discrete", "continuous"))
    drawn = SyntheticNull(dataset, [1], generator(1)).draw(0, generator(2))
    for low, high in ((-3, -1), (-1, 1), (1, 3)):
        rows = (z > low) & (z < high)
        for value in range(3):
            assert np.mean(drawn[rows] == value) == pytest.approx(np.mean(kind[rows] == value), abs=0.12)
