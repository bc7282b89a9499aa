"""Against R's huge: `test_reference.py`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pyknnmi import simulate
from pyknnmi.builtin.nonparanormal import Nonparanormal
from pyknnmi.components import Dataset
from pyknnmi.numbers import average_ranks

DATA, _ = simulate.small_network(60, noise="t", seed=3)


def quantiles(column, method):
    n = len(column)
    ranks = average_ranks(column)
    if method == "shrunken":
        return stats.norm.ppf(ranks / (n + 1))
    t = 1 / (4 * n**0.25 * math.sqrt(math.pi * math.log(n)))
    return stats.norm.ppf(np.clip(ranks / n, t, 1 - t))


@pytest.mark.parametrize("method", ["shrunken", "truncated"])
def test_formula(method):
    found = Nonparanormal(method=method).apply(DATA)
    scale = quantiles(np.arange(60.0), method).std(ddof=1)
    for column, result in zip(DATA.values.T, found.values.T, strict=True):
        assert result == pytest.approx(quantiles(column, method) / scale, abs=1e-13)
        assert result.std(ddof=1) == pytest.approx(1, abs=1e-12)
    assert found.names == DATA.names


@pytest.mark.parametrize("method", ["shrunken", "truncated"])
def test_monotone_maps_do_not_count(method):
    transform = Nonparanormal(method=method)
    bent = Dataset(np.arctan(DATA.values), DATA.names)
    assert np.array_equal(transform.apply(bent).values, transform.apply(DATA).values)


def test_ties_share_their_rank():
    tied = Dataset.of(np.column_stack([[1.0, 1, 2, 3], [1.0, 2, 3, 4]]))
    column, _ = Nonparanormal().apply(tied).values.T
    scale = stats.norm.ppf([0.2, 0.4, 0.6, 0.8]).std(ddof=1)
    assert column == pytest.approx(stats.norm.ppf([0.3, 0.3, 0.6, 0.8]) / scale)  # ranks 1.5, 3, 4 of 5


def test_two_rows():
    values = Nonparanormal().apply(Dataset.of([[1.0], [5.0]])).values[:, 0]
    assert values == pytest.approx([-math.sqrt(0.5), math.sqrt(0.5)])
