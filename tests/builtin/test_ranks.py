from __future__ import annotations

import numpy as np
from scipy import stats

from pyknnmi import simulate
from pyknnmi.builtin.ranks import Ranks
from pyknnmi.components import Dataset

DATA, _ = simulate.small_network(60, noise="t", seed=3)


def test_ranks_by_scipy():
    values = DATA.values.round(1)  # with ties
    found = Ranks().apply(Dataset(values, DATA.names))
    assert np.array_equal(found.values, stats.rankdata(values, axis=0) / 60)
    assert found.names == DATA.names


def test_monotone_maps_do_not_count():
    bent = Dataset(np.exp(DATA.values / 10), DATA.names)
    assert np.array_equal(Ranks().apply(bent).values, Ranks().apply(DATA).values)
