from __future__ import annotations

import numpy as np
import pytest

from pyknnmi import Dataset
from pyknnmi.regression.effects import partial_effects, partners, shape_of
from pyknnmi.regression.smooth import SmoothRegressions


def fitted(function, n=600, columns=2):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, columns))
    y = function(x.T)
    data = Dataset(np.column_stack([x, y + 0.2 * y.std() * rng.standard_normal(n)]), (*"ab"[:columns], "y"))
    regressions = SmoothRegressions(data)
    (fit,) = regressions.fits([(columns, range(columns), None)])
    return data, regressions, fit


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x[0], "linear"),
        (lambda x: x[0] ** 2, "spread"),
        (lambda x: np.sin(4 * x[0]), "oscillating"),
        (lambda x: np.floor(x[0]) % 2, "steps"),
        (lambda x: np.maximum(x[0], 0), "smooth"),
    ],
)
def test_shape_of_one_column(function, shape):
    _, regressions, fit = fitted(function)
    assert shape_of(regressions, fit, 0) == shape
    assert shape_of(regressions, regressions.empty(2), 0) == "none"


def test_interaction_and_its_partner():
    _, regressions, fit = fitted(lambda x: x[0] * x[1])
    assert [shape_of(regressions, fit, j) for j in (0, 1)] == ["interaction", "interaction"]
    assert partners(fit, 0) == [1]
    assert partners(fit, 1) == [0]


def test_effects_add_up_to_the_fit():
    data, regressions, fit = fitted(lambda x: x[0] ** 2 + x[0] * x[1], n=11)  # as many rows as places
    (terms,) = fit.terms
    explained = regressions.blocks[2][:, 0] - regressions.residual(2, 0, terms)
    total = np.zeros(11)
    for row in partial_effects(regressions, fit, data):
        rows = [
            [row["at"][place].index(v) for v in data.values[:, data.column(name)]]
            for place, name in enumerate(row["on"])
        ]
        total += np.array(row["effect"])[tuple(rows)]
    assert np.allclose(total, explained, atol=1e-10)


def test_effects_are_given_at_increasing_values():
    data, regressions, fit = fitted(lambda x: np.sin(x[0]) + x[0] * x[1])
    rows = partial_effects(regressions, fit, data)
    assert {tuple(row["on"]) for row in rows} >= {("a",), ("a", "b")}
    for row in rows:
        for at in row["at"]:
            assert at == sorted(set(at))
        assert np.shape(row["effect"]) == tuple(map(len, row["at"]))


def test_pairs_are_given_where_rows_are():
    data, regressions, fit = fitted(lambda x: x[0] * x[1], n=110)
    (row,) = [row for row in partial_effects(regressions, fit, data) if len(row["on"]) == 2]
    for name, at in zip(row["on"], row["at"], strict=True):
        # the sixth of each ten rows in order
        assert at == np.sort(data.values[:, data.column(name)])[5::10].tolist()
