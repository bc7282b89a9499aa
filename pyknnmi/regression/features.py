"""Features of columns, from which regressions are made.

Every column becomes a block of 16 features. Those of a column of numbers are, with r the average rank, u the standard
normal quantile of r/(n + 1), and v the standard normal distribution function of u/2, moved and stretched to [0, 1]:

- slot 0: u, standardised;
- slot 1: the values, less their median and divided by the distance between their quartiles, clipped to [-30, 30];
- slot 2: the square of u;
- slots 3 to 15: sqrt(2) cos(k pi v) for k = 2 to 14, less their projection on u.

With v = r/n the cosines would be too slow in the tails: there few ranks lie between values that are far apart, and what
a common cause does there would be left over in all of its effects. With u itself they would be slow in the middle.

Those of a column of categories are orthonormal contrasts of their indicators. Where effects of a column of numbers
jump, steps take the place of its fastest cosines. All are centred and of variance 1; a feature that is a linear
function of those before it, such as the square of a column of two values, is zero.
"""

from __future__ import annotations

import functools
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import DataError
from pyknnmi.numbers.ranks import average_ranks
from pyknnmi.run import check_memory

__all__ = [
    "CATEGORIES",
    "FAST_SLOTS",
    "NUMBERS",
    "PRODUCT_SLOTS",
    "SOURCE_SLOTS",
    "WIDTH",
    "blocks_of",
    "put_steps",
    "step_at",
]

Values = NDArray[np.float64]

WIDTH = 16
FREQUENCIES = range(2, 15)
PRODUCT_SLOTS = (0, 3, 4, 5)
"""u and the cosines of k = 2, 3, 4: pair blocks are products of these features."""
SOURCE_SLOTS = (0, 3, 4, 2, 5, 6)
"""The features of a column whose residuals the check multiplies with those of another column."""
FAST_SLOTS = tuple(range(7, WIDTH))
"""Cosines of more than two periods, and steps."""
_CONTRAST_SLOTS = (0, 3, 4, 5, 6, 1, 2, *range(7, WIDTH))  # those that products and the check take come first
NUMBERS, CATEGORIES = 0, 1
"""Which of the tables of priors a column has."""
_CLIP = 30.0
_STRETCH = 2.0
_NO_SPREAD = 1e-9  # of the variance: what rounding leaves of a feature that others determine


def blocks_of(dataset: Dataset) -> Values:
    """Return the features of all columns, shape (p, n, 16)."""
    check_memory(
        8.0
        * WIDTH
        * dataset.p
        * (2 * dataset.n + WIDTH * (dataset.p + 1) / 2),  # here, in the core, all products there
        f"the regressions of {dataset.p} columns and {dataset.n} rows",
        "leave columns out, or choose some of them by a learner with adjust=candidates before",
    )
    blocks = np.empty((dataset.p, dataset.n, WIDTH))
    for column, (name, kind) in enumerate(zip(dataset.names, dataset.kinds, strict=True)):
        values = dataset.values[:, column]
        blocks[column] = contrasts_of(values, name) if kind == "discrete" else block_of(values)
    return blocks


def block_of(values: Values) -> Values:
    """Return the features of a column of numbers, shape (n, 16)."""
    n = len(values)
    half_ranks = np.rint(2 * average_ranks(values)).astype(int) - 2
    normal = _standardized(normal_quantiles(n)[half_ranks])
    block = np.zeros((n, WIDTH))
    block[:, 0] = normal
    block[:, 1] = _standardized(_scaled(values))
    block[:, 2] = _standardized(normal**2)
    place = _places(n)[half_ranks]
    place = (place - place.min()) / np.ptp(place)
    for slot, frequency in enumerate(FREQUENCIES, start=3):
        cosine = np.sqrt(2) * np.cos(np.pi * frequency * place)
        cosine -= cosine.mean()
        block[:, slot] = _standardized(cosine - normal * (normal * cosine).mean())
    return block


def put_steps(block: Values, column: Values, places: Values) -> None:
    """Put a step at each of these values of the column in the place of a fast cosine, the first into the last slot."""
    for slot, place in zip(range(WIDTH - 1, 0, -1), places, strict=False):
        block[:, slot] = step_at(column, place)


def step_at(column: Values, place: float) -> Values:
    """Return the feature that has one level in the rows below this value of the column, and another in the others."""
    return _standardized((column >= place).astype(float))


def contrasts_of(codes: Values, name: str) -> Values:
    """Return orthonormal contrasts of the indicators of a column of categories, shape (n, 16)."""
    _, first, place, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    if len(counts) > WIDTH + 1:
        raise DataError(
            f"column '{name}' has {len(counts)} categories, and at most {WIDTH + 1} can be used: join rare ones, or "
            "leave the column out"
        )
    # The first contrast is the most frequent category against the others. Codes have no order: of two that are as
    # frequent the one that comes first in the data goes first.
    order = np.lexsort((first, -counts))
    block = np.zeros((len(codes), WIDTH))
    rest = np.ones(len(codes))
    for slot, category in zip(_CONTRAST_SLOTS, order[:-1], strict=False):
        chosen = (place == category).astype(float)
        # Those that are left, the chosen against the others: zero where a category came before.
        block[:, slot] = _standardized(np.where(rest > 0, chosen - chosen.sum() / rest.sum(), 0.0))
        rest -= chosen
    return block


@functools.lru_cache(maxsize=1)
def normal_quantiles(n: int) -> Values:
    """Return the standard normal quantiles of 1, 3/2, 2, ..., n over n + 1: of all average ranks."""
    normal = NormalDist()
    half = np.array([normal.inv_cdf(rank / (2 * n + 2)) for rank in range(2, n + 2)])
    return np.concatenate([half, -half[-2::-1]])


@functools.lru_cache(maxsize=1)
def _places(n: int) -> Values:
    """Return the distribution function of half the normal quantiles of all average ranks."""
    return np.array([NormalDist().cdf(quantile / _STRETCH) for quantile in normal_quantiles(n)])


def _scaled(values: Values) -> Values:
    """Return the values on a scale that outliers do not set, clipped."""
    scaled = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))  # exact, so that no difference overflows
    low, middle, high = np.quantile(scaled, [0.25, 0.5, 0.75])
    spread = (high - low) / 1.349 or scaled.std()
    clipped: Values = np.clip((scaled - middle) / spread, -_CLIP, _CLIP)
    return clipped


def _standardized(feature: Values) -> Values:
    """Return the feature with mean 0 and variance 1, or zeros if it has no spread."""
    centred = feature - feature.mean()
    variance = (centred**2).mean()
    if not variance > _NO_SPREAD:
        return np.zeros_like(centred)
    standardised: Values = centred / np.sqrt(variance)
    return standardised
