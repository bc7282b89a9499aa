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
    "MOST_STEPS",
    "NUMBER_PRIORS",
    "PAIR_COST",
    "PAIR_PRIORS",
    "PASSES",
    "PASSES_OF_CHECK",
    "STEP_BACKGROUNDS",
    "STEP_PRIORS",
    "STEP_SIZES",
]

MAIN_COST, PAIR_COST = 0.5, 1.5
"""What is taken off the evidence for each main block and each pair block, in nats."""
MOST_BLOCKS, MOST_BLOCKS_OF_CHECK = 20, 10
"""Blocks in a fit at most."""
PASSES, PASSES_OF_CHECK = 4, 1
"""So often at most are all blocks of a fit tried again."""

MOST_STEPS = 6
"""Steps of one column at most."""
STEP_SIZES = (0.6, 6.0)
"""Variances of the coefficients of steps."""

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


def _step_priors(steps: int) -> NDArray[np.float64]:
    """Return the standard deviations for a column of numbers whose last features are steps, shape (priors, 16).

    The first are those of other columns. Then follow one of the steps, and all of them, with a smooth function.
    """
    without = NUMBER_PRIORS.copy()
    without[:, WIDTH - steps :] = 0.0
    priors = list(without)
    for chosen in np.unique([*np.eye(steps), np.ones(steps)], axis=0):
        for background in without[_BACKGROUNDS]:
            for size in STEP_SIZES:
                prior = background.copy()
                prior[WIDTH - steps :] = np.sqrt(size * chosen)
                priors.append(prior)
    return np.array(priors)


NUMBER_PRIORS = _number_priors()
_BACKGROUNDS = [0, 3, 6, 8, 12, 18]
STEP_BACKGROUNDS = NUMBER_PRIORS[_BACKGROUNDS]
"""What a step may come on top of: lines, smooth functions and rough ones."""
STEP_PRIORS = tuple(_step_priors(steps) for steps in range(1, MOST_STEPS + 1))
CATEGORY_PRIORS = np.sqrt([np.full(WIDTH, size) for size in (0.01, 0.04, 0.15, 0.6, 2.0)])
PAIR_PRIORS = _pair_priors()
