"""Columns like those of a data set, drawn so that they are independent of each other given a conditioning set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset
from pyknnmi.numbers.correlation import standardized
from pyknnmi.numbers.indicators import indicators
from pyknnmi.regression import Smoothed, Smoother, smooth_scale, spread_ties

__all__ = ["SyntheticNull"]

Vector = NDArray[np.float64]


class SyntheticNull:
    """Draws columns that depend on z much as those of the data do, and on nothing else.

    A numeric column is drawn as m(z) + s(z) e: m is a smooth regression on z, s the exponential of one of the logarithm
    of its absolute residuals, and e the residuals divided by s, in random order. Where the column has tied values the
    draw is moved to the nearest of its values. A category, or a number that takes two values, is drawn from
    probabilities that are the regressions of its indicators. Two columns, drawn one after the other, are independent
    given z; what a test finds between them is an error.

    Parameters
    ----------
    dataset : Dataset
        Complete, without constant columns.
    z : sequence of int
        The conditioning set.
    random : numpy Generator
        Draws the landmarks of the regressions, and spreads ties.
    """

    def __init__(self, dataset: Dataset, z: Sequence[int], random: np.random.Generator) -> None:
        self.dataset = dataset
        self._random = random
        given = np.hstack([np.empty((dataset.n, 0)), *(_given(dataset, i) for i in z)])
        self._smoother = Smoother(given, random) if given.shape[1] else None
        self._models: dict[int, _Numbers | _Categories] = {}

    def draw(self, column: int, random: np.random.Generator) -> Vector:
        """Return a new column, shape (n,), in the place of the given one."""
        return self._model(column).draw(random)

    def r_squared(self, column: int) -> float:
        """Return how much of a column's variance z predicts in rows left out (for a category: the mean)."""
        return self._model(column).r_squared

    def _model(self, column: int) -> _Numbers | _Categories:
        if column not in self._models:
            values = self.dataset.values[:, column]
            categorical = self.dataset.kinds[column] == "discrete" or len(np.unique(values)) == 2
            self._models[column] = (
                _Categories(values, self._smooth) if categorical else _Numbers(values, self._smooth, self._random)
            )
        return self._models[column]

    def _smooth(self, column: Vector) -> Smoothed:
        if self._smoother is None:
            return Smoothed(column - column.mean(), 0.0, 1.0)
        return self._smoother.smooth(column)


class _Numbers:
    """A model of a numeric column: regressions of its mean and its scale."""

    def __init__(self, values: Vector, smooth: Callable[[Vector], Smoothed], random: np.random.Generator) -> None:
        distinct = np.unique(values)
        self._values = distinct if len(distinct) < len(values) else None
        column = spread_ties(values, random)
        fitted = smooth(column)
        residuals = fitted.residuals
        self.r_squared = fitted.r_squared
        self._mean = column - residuals
        self._scale = smooth_scale(residuals, smooth)
        # Residuals are smaller than the noise, since the fit has taken up a part of it.
        inflation = math.sqrt(len(column) / max(len(column) - fitted.degrees_of_freedom, 1))
        self._noise = inflation * residuals / self._scale

    def draw(self, random: np.random.Generator) -> Vector:
        drawn: Vector = self._mean + self._scale * random.permutation(self._noise)
        if self._values is not None:
            between = (self._values[1:] + self._values[:-1]) / 2
            drawn = self._values[np.searchsorted(between, drawn)]
        return drawn


class _Categories:
    """A model of a categorical column: a regression of each level's indicator."""

    def __init__(self, values: Vector, smooth: Callable[[Vector], Smoothed]) -> None:
        self._levels = np.unique(values)
        fits = [(indicator, smooth(indicator)) for indicator in np.ascontiguousarray(indicators(values).T)]
        self.r_squared = float(np.mean([fit.r_squared for _, fit in fits]))
        probabilities = np.clip(np.column_stack([level - fit.residuals for level, fit in fits]), 1e-9, 1)
        self._cumulative = probabilities.cumsum(axis=1)

    def draw(self, random: np.random.Generator) -> Vector:
        level = random.uniform(0, self._cumulative[:, -1])
        place = (level[:, None] >= self._cumulative).sum(axis=1)
        drawn: Vector = self._levels[np.minimum(place, len(self._levels) - 1)]
        return drawn


def _given(dataset: Dataset, column: int) -> NDArray[np.float64]:
    """Return a column of the conditioning set as the smoother takes it: categories as indicators."""
    values = dataset.values[:, [column]]
    if dataset.kinds[column] == "discrete":
        values = indicators(values[:, 0])
    return standardized(values)
