"""The variances of coefficients that evidence chooses from: every constant of the regressions stands here.

The variances are in units of the noise's. Those of cosines fall with the frequency k as (k/2)^(-2 s): the larger the
smoothness s, the smoother the function.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyknnmi.regression.features import FREQUENCIES, WIDTH

__all__ = [
    "CATEGORY_PRIORS",
    "MAIN_COST",
    "MOST_BLOCKS",
    "MOST_BLOCKS_OF_CHECK",
    "NUMBER_PRIORS",
    "PAIR_COST",
    "PAIR_PRIORS",
    "PASSES",
    "PASSES_OF_CHECK",
]

MAIN_COST, PAIR_COST = 0.5, 1.5
"""What is taken off the evidence for each main block and each pair block, in nats."""
MOST_BLOCKS, MOST_BLOCKS_OF_CHECK = 20, 10
"""Blocks in a fit at most."""
PASSES, PASSES_OF_CHECK = 4, 1
"""So often at most are all blocks of a fit tried again."""

_NEGLIGIBLE, _NEGLIGIBLE_PAIR = 1e-5, 1e-3
_FREQUENCIES = np.array(FREQUENCIES)


def _number_priors() -> NDArray[np.float64]:
    """Return the standard deviations of the coefficients of a column of numbers, shape (43, 16)."""
    variances = []

    def prior(
        normal: float = 0.0, raw: float = 0.0, square: float = 0.0, cosines: float = 0.0, smoothness: float = 2.0
    ) -> None:
        weights = (_FREQUENCIES / 2.0) ** (-2 * smoothness)
        weights /= weights.sum()
        weights[cosines * weights < _NEGLIGIBLE] = 0.0
        variances.append([normal, raw, square, *(cosines * weights)])

    sizes = (0.01, 0.04, 0.15, 0.6)
    for size in sizes:
        prior(normal=size)
    for normal, cosines in ((0.01, 0.01), (0.04, 0.04), (0.15, 0.15), (0.15, 0.6), (0.6, 2.0)):
        prior(normal=normal, cosines=cosines, smoothness=2.0)
    for normal, cosines in ((0.04, 0.04), (0.15, 0.15), (0.6, 0.6), (0.6, 2.0), (0.6, 8.0)):
        prior(normal=normal, cosines=cosines, smoothness=0.75)
    for cosines, smoothness in ((0.03, 3.0), (0.1, 2.0), (0.4, 2.0), (0.15, 0.75), (0.6, 0.75), (0.04, 5.0)):
        prior(cosines=cosines, smoothness=smoothness)
    for size in sizes:
        prior(raw=size)
    for size in sizes:
        prior(square=size)
    for size in (0.04, 0.15):
        prior(normal=size, square=size)
    for raw, cosines, smoothness in ((0.04, 0.04, 2.0), (0.15, 0.15, 1.0), (0.6, 0.6, 2.0)):
        prior(raw=raw, cosines=cosines, smoothness=smoothness)
    return np.sqrt(variances)


def _pair_priors() -> NDArray[np.float64]:
    """Return the standard deviations of the coefficients of a pair block, shape (10, 16)."""
    order = np.arange(4)
    distance = (order[:, None] + order + 2) / 2
    variances = []
    for smoothness, sizes in ((9.0, (0.02, 0.1, 0.5)), (2.0, (0.02, 0.1, 0.5, 2.0)), (1.0, (0.1, 0.5, 2.0))):
        weights = distance ** (-2 * smoothness)
        weights[weights < _NEGLIGIBLE_PAIR * weights.max()] = 0.0
        weights /= weights.sum()
        variances += [size * weights.ravel() for size in sizes]
    return np.sqrt(variances)


NUMBER_PRIORS = _number_priors()
CATEGORY_PRIORS = np.sqrt([np.full(WIDTH, size) for size in (0.01, 0.04, 0.15, 0.6, 2.0)])
PAIR_PRIORS = _pair_priors()
