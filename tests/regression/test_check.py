from __future__ import annotations

import numpy as np
import pytest

from pyknnmi import Dataset
from pyknnmi.regression.check import direction_p_values, symmetric_p_value
from pyknnmi.regression.chi_squared import cauchy_combination, weighted_tail
from pyknnmi.regression.smooth import SmoothRegressions


def dataset(columns):
    return Dataset(np.column_stack(list(columns.values())), tuple(columns))


def forked(seed, n=200):
    """y and x both follow z; w follows x and z together."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n)
    x = np.sin(2 * z) + 0.5 * rng.standard_normal(n)
    y = z**2 + 0.5 * rng.standard_normal(n)
    w = x * z + 0.5 * rng.standard_normal(n)
    return dataset({"x": x, "y": y, "z": z, "w": w})


def p_values_of(regressions, questions):
    fits = regressions.fits([(response, given, None) for response, _, given in questions])
    with_source = regressions.fits([(response, (*given, source), None) for response, source, given in questions])
    return direction_p_values(regressions, questions, fits, with_source)


def without_means(values, order, bins):
    """Take off the mean of each of so many runs of rows in this order, as long as each other but for one row."""
    left = values.copy()
    for run in range(bins):
        rows = order[-(-run * len(order) // bins) : -(-(run + 1) * len(order) // bins)]
        left[rows] -= values[rows].mean()
    return left


def test_p_value_is_made_of_products_of_residuals():
    data = forked(0)
    regressions = SmoothRegressions(data)
    (found,) = p_values_of(regressions, [(1, 0, (2,))])

    def residual(column, slot):
        (terms,) = regressions.feature_fits([(column, slot, (2,))])
        return regressions.residual(column, slot, terms)

    (fit,) = regressions.fits([(1, (2,), None)])
    e = without_means(regressions.residual(1, 0, fit.terms[0]), np.argsort(data.values[:, 2]), 20)
    phi = [residual(0, slot) for slot in (0, 3, 4, 2, 5, 6)]
    a = [regressions.blocks[2][:, slot] for slot in (0, 3, 4)]
    p_values = []
    for products, weights in (
        (phi[:1], [1.0]),
        (phi, [1 / k for k in (1, 2, 3, 4, 5, 6)]),
        ([f * g for f in phi[:3] for g in a], [1 / (k * m) for k in (1, 2, 3) for m in (1, 2, 3)]),
    ):
        times_e = np.column_stack(products) * e[:, None]
        centred = times_e - times_e.mean(axis=0)
        q = (np.array(weights) * times_e.sum(axis=0) ** 2 / (centred**2).sum(axis=0)).sum()
        values = np.linalg.eigvalsh(
            np.sqrt(np.outer(weights, weights)) * np.corrcoef(centred.T).reshape(len(weights), -1)
        )
        p_values.append(weighted_tail(q, [(values**k).sum() for k in (1, 2, 3)]))
    first, all_, given = (min(p, 0.95) for p in p_values)
    assert found == pytest.approx(cauchy_combination([(first, 0.4), (all_, 0.3), (given, 0.3)]), rel=1e-8)


def test_fast_waves_are_one_more_group():
    rng = np.random.default_rng(5)
    x = rng.standard_normal(300)
    data = dataset({"x": x, "y": np.sin(6 * x) + 0.5 * rng.standard_normal(300), "z": rng.standard_normal(300)})
    regressions = SmoothRegressions(data)
    (found,) = p_values_of(regressions, [(1, 0, ())])
    (fit,) = regressions.fits([(1, (0,), None)])
    (effect,) = regressions.coefficients(1, 0, fit.terms[0])
    slots = [0, 3, 4, 2, 5, 6, *(k for k in (1, *range(7, 16)) if effect[k] != 0)]
    y, phi = regressions.blocks[1][:, 0], regressions.blocks[0][:, slots]

    def tail(products, weights, df=None):
        centred = products - products.mean(axis=0)
        q = (weights * products.sum(axis=0) ** 2 / (centred**2).sum(axis=0)).sum()
        matrix = np.sqrt(np.outer(weights, weights)) * np.corrcoef(centred.T).reshape(len(weights), -1)
        values = np.linalg.eigvalsh(matrix)
        return min(weighted_tail(q, [(values**k).sum() for k in (1, 2, 3)] if df is None else [df] * 3), 0.95)

    products = phi * y[:, None]
    first = tail(products[:, :1], np.ones(1))
    all_ = tail(products, 1 / np.arange(1.0, len(slots) + 1))
    mixture = tail((products @ effect[slots])[:, None], np.ones(1), df=len(slots))
    assert found == pytest.approx(cauchy_combination([(first, 0.4), (all_, 0.3), (mixture, 0.3)]), rel=1e-6)
    assert found < 1e-9 < first


def test_finds_dependence_and_interaction_where_there_is_one():
    regressions = SmoothRegressions(forked(1, n=400))
    independent, interaction = p_values_of(regressions, [(1, 0, (2,)), (3, 0, (2,))])
    assert independent > 0.05
    assert interaction < 1e-6  # w and x are uncorrelated


def steps_and_tails(seed, n=1000):
    """Of each two effects of z both jump at the same place, or both turn where z is rare."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n)
    effects = [np.sign(z), np.sign(z) + z, np.cos(2 * z), 0.5 * z**2, np.cos(2.2 * z)]
    return dataset({"z": z} | {f"x{k}": 1.5 * f + 0.5 * rng.standard_normal(n) for k, f in enumerate(effects)})


@pytest.mark.parametrize("pair", [(1, 2), (3, 4), (3, 5)])
def test_level_under_a_strong_common_cause(pair):
    # 20 p-values: at a true share of .05 the 4th is at most .05 once in 60 times
    found = np.sort([p_values_of(SmoothRegressions(steps_and_tails(seed)), [(*pair, (0,))])[0] for seed in range(20)])
    assert found[3] > 0.05
    assert found[-1] > 0.5


@pytest.mark.slow
def test_level_on_independent_columns_given_a_third():
    # 400 tables: a true share of .05 is seen as .05 with a standard error of .011
    p_values = []
    for seed in range(400):
        regressions = SmoothRegressions(forked(seed + 10))
        p_values.append(symmetric_p_value(*p_values_of(regressions, [(1, 0, (2,)), (0, 1, (2,))])))
    assert np.mean(np.array(p_values) < 0.05) < 0.085


def test_a_column_without_spread_left_is_no_error():
    x = np.random.default_rng(0).standard_normal(60)
    regressions = SmoothRegressions(dataset({"a": x, "b": (x > 0).astype(float), "c": x[::-1].copy()}))
    for p in p_values_of(regressions, [(0, 1, ()), (1, 0, (2,)), (2, 1, (0,))]):
        assert 0 < p <= 1


def test_symmetric_p_value():
    assert symmetric_p_value(0.01, 0.4) == 0.02
    assert symmetric_p_value(0.9, 0.8) == 1.0
