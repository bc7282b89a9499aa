import numpy as np
import pytest
from scipy import stats

from pyknnmi import Dataset, Run


def common_cause(n, columns, seed, effect=0.0):
    """Columns x and y that depend on the z columns, and on each other only through `effect`."""
    random = np.random.default_rng([n, columns, seed])
    z = random.standard_normal((n, columns))
    signal = z.sum(axis=1) / np.sqrt(columns)
    x = signal + random.standard_normal(n)
    y = signal + random.standard_normal(n) + effect * np.cos(2 * (x - signal))
    names = ("x", "y", *(f"z{i}" for i in range(columns)))
    return Dataset.of(np.column_stack([x, y, z]), names)


def rejections(test, n, columns, effect=0.0, repeats=200):
    count = 0
    for seed in range(repeats):
        bound = test.bind(common_cause(n, columns, seed, effect), Run(seed=seed))
        count += not bound.test(0, 1, tuple(range(2, 2 + columns))).independent
    return count


@pytest.fixture(name="common_cause")
def _common_cause():
    return common_cause


@pytest.fixture(name="rejections")
def _rejections():
    return rejections


@pytest.fixture
def usual():
    """The smallest and largest number of rejections at alpha = 0.05 that a right test shows in 999 of 1000 suites."""
    return tuple(int(count) for count in stats.binom.ppf([0.0005, 0.9995], 200, 0.05))
