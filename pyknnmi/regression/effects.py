"""What a fit says about how one column depends on others: shapes, and partial effects to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset
from pyknnmi.regression.features import FAST_SLOTS, PRODUCT_SLOTS
from pyknnmi.regression.smooth import ColumnFit, SmoothRegressions

__all__ = ["partial_effects", "partners", "shape_of"]

Values = NDArray[np.float64]

_POINTS, _PAIR_POINTS = 25, 11
"""Places at which an effect of one column, and of two, is given."""
_LINEAR = 0.9  # share of an effect's variance that a line, or any even function, explains
_EVEN = 0.8
_FAST = 0.25  # share of the variance of the cosines that those of more than two periods have
_STEPS = 0.5  # share of the variance of an effect that its steps have
_LINE_SLOTS, _EVEN_SLOTS = (0, 1), (2, 3, 5, 7, 9, 11, 13, 15)


def shape_of(regressions: SmoothRegressions, fit: ColumnFit, on: int) -> str:
    """Return in a word how a fit depends on a column.

    Returns
    -------
    str
        ``none``; ``linear``: in the values or in their normal scores; ``spread``: on the distance from the middle
        alone; ``oscillating``: with more than two turns; ``steps``: mostly by jumps; ``smooth``: any other function of
        the column; ``interaction``: only together with others; ``categories``: the column holds categories.
    """
    block = regressions.blocks[on]
    weights = np.zeros(block.shape[1])
    alone = together = 0.0
    for slot, terms in zip(regressions.targets[fit.column], fit.terms, strict=True):
        for (first, second, _), b in zip(terms, regressions.coefficients(fit.column, slot, terms), strict=True):
            if second < 0 and first == on:
                weights += b
                alone += float(np.var(block @ b))
            elif second >= 0 and on in (first, second):
                together = max(together, float(np.var(_pair_effect(regressions, first, second, b))))
    if alone == together == 0.0:
        return "none"
    if together > alone:
        return "interaction"
    return _shape_of_curve(regressions, on, weights)


def _shape_of_curve(regressions: SmoothRegressions, column: int, weights: Values) -> str:
    """Return the shape of a function of one column, from its coefficients."""
    if regressions.is_category(column):
        return "categories"
    block = regressions.blocks[column]
    effect = block @ weights
    steps = slice(len(weights) - regressions.steps[column], None)
    if np.var(block[:, steps] @ weights[steps]) > _STEPS * np.var(effect):
        return "steps"
    if _share(block[:, _LINE_SLOTS], effect) >= _LINEAR:
        return "linear"
    if _share(block[:, _EVEN_SLOTS], effect) >= _EVEN:
        return "spread"
    cosines = weights[3:] ** 2
    if (weights[list(FAST_SLOTS)] ** 2).sum() >= _FAST * cosines.sum() > 0:
        return "oscillating"
    return "smooth"


def _pair_effect(regressions: SmoothRegressions, first: int, second: int, weights: Values) -> Values:
    """Return the effect of a pair in each row, up to a constant."""
    one, other = (regressions.blocks[j][:, PRODUCT_SLOTS] for j in (first, second))
    effect: Values = np.einsum("ia,ib,ab->i", one, other, weights.reshape(4, 4))
    return effect


def partners(fit: ColumnFit, on: int) -> list[int]:
    """Return the columns that a column acts together with in a fit."""
    pairs = {(first, second) for terms in fit.terms for first, second, _ in terms if second >= 0}
    return sorted(sum(pair) - on for pair in pairs if on in pair)


def partial_effects(regressions: SmoothRegressions, fit: ColumnFit, dataset: Dataset) -> list[dict[str, Any]]:
    """Return the effects of all blocks of a fit, as rows of plain values.

    Each row has ``column``, ``on`` (one column or two), ``shape``, ``at`` (for each column of ``on`` the values at
    which the effect is given, increasing) and ``effect``, in standard deviations of the normal scores of ``column``,
    with mean 0 over the rows. An effect of two columns is what the pair adds to the effects of each; it is given at
    the middles of equal parts of the rows. For a column of
    categories there is a row for each contrast of its indicators.
    """
    rows = []
    for slot, terms in zip(regressions.targets[fit.column], fit.terms, strict=True):
        for (first, second, _), weights in zip(terms, regressions.coefficients(fit.column, slot, terms), strict=True):
            on = [first] if second < 0 else [first, second]
            pair = second >= 0
            places = [_places(dataset.values[:, j], _PAIR_POINTS if pair else _POINTS, inner=pair) for j in on]
            if not pair:
                effect = regressions.blocks[first][places[0]] @ weights
                shape = _shape_of_curve(regressions, first, weights)
            else:
                one, other = (regressions.blocks[j][:, PRODUCT_SLOTS] for j in on)
                mean = np.einsum("ia,ib->ab", one, other) / dataset.n
                grid = np.einsum("ia,jb,ab->ij", one[places[0]], other[places[1]], weights.reshape(4, 4))
                effect = grid - (mean * weights.reshape(4, 4)).sum()
                shape = "interaction"
            rows.append(
                {
                    "column": dataset.names[fit.column],
                    "on": [dataset.names[j] for j in on],
                    "shape": shape,
                    "at": [dataset.values[place, j].tolist() for place, j in zip(places, on, strict=True)],
                    "effect": effect.tolist(),
                }
            )
    return rows


def _places(values: Values, most: int, inner: bool = False) -> NDArray[np.intp]:
    """Return rows with different values of a column, in increasing order, evenly spread over its quantiles.

    These begin and end with the extremes. For `inner` they are the middles of equal parts of the rows: where both of
    two columns have their most extreme values there may be no row, and their effect is a guess.
    """
    _, rows = np.unique(values, return_index=True)
    if len(rows) > most:
        n = len(values)
        ranks = (2 * np.arange(most) + 1) * n // (2 * most) if inner else np.linspace(0, n - 1, most).round()
        order = np.argsort(values, kind="stable")[ranks.astype(int)]
        _, different = np.unique(values[order], return_index=True)
        rows = order[different]
    return rows


def _share(features: Values, effect: Values) -> float:
    """Return the share of an effect's variance that features explain."""
    total = float(((effect - effect.mean()) ** 2).sum())
    if not total > 0:
        return 1.0
    centred = features - features.mean(axis=0)
    fitted = centred @ np.linalg.lstsq(centred, effect, rcond=None)[0]
    return 1.0 - float(((effect - effect.mean() - fitted) ** 2).sum()) / total
