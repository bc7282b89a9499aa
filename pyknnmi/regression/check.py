"""Is a column independent of another given others? A test on residuals of smooth regressions.

For i, j and a set S of columns, let e be what the regression of column i on S leaves, and phi_k, k = 1..6, what
regressions on S leave of the features u, c2, c3, u^2, c4 and c5 of column j. Where i and j are independent given S, the
products e phi_k and e phi_k a_l(s), for a_l(s) the features u, c2, c3 of a column s in S, have mean zero; and the error
of either regression counts only times that of the other. Both regressions may err at the same places: where a common
column is rare, or its effects jump. So rows are compared with those next to them: for each column that the regression
of i and one of j use, the means of e over bins of rows are taken off. The bins have ten rows each, times the number of
such columns, so that together they take a tenth of the degrees of freedom. Each product is summed, its square is
divided by the sum of the squares of the centred products, and these are added up with the weights 1/k and 1/(k l) in
the groups {phi_1}, {all phi_k} and, for each s, {phi_k a_l(s), k, l <= 3}. Each group gives a p-value, and these are
joined into one.

Where the regression of i on S and j has far more evidence than that on S, by fast waves of j or by steps, none of the
six features may show it. There the function of j that it found, less what regressions on S explain of that, makes one
more group.

Sources: Shah and Peters (2020), doi:10.1214/19-AOS1857, for products of residuals; Scheidegger, Hörrmann and Bühlmann
(2022), "The weighted generalised covariance measure", JMLR 23, for products with functions of the conditioning set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pyknnmi.regression.chi_squared import cauchy_combination, weighted_tail
from pyknnmi.regression.features import FAST_SLOTS, SOURCE_SLOTS, WIDTH
from pyknnmi.regression.smooth import ColumnFit, SmoothRegressions, Term

__all__ = ["Direction", "direction_p_values", "symmetric_p_value"]

Direction = tuple[int, int, tuple[int, ...]]
"""A question: the response i, the source j, and the columns S."""

_FIRST_WEIGHT, _ALL_WEIGHT, _GIVEN_WEIGHT = 0.4, 0.3, 0.3
_BIN_ROWS = 10  # in a bin, whose mean is taken off
_FIRST, _ALL, _MIXTURE = -1, -2, -3  # how the core numbers groups that belong to no conditioning column
_MIXTURE_WEIGHT = 0.3
_SURE_EFFECT = 10.0  # nats that the source must add to the regression, for its mixture to be looked at
_FAST_SHARE = 0.25  # of the squares of an effect's coefficients
_FAST = list(FAST_SLOTS)
_OTHER_SLOTS = tuple(slot for slot in range(WIDTH) if slot not in SOURCE_SLOTS)
_LARGEST = 0.95  # a p-value near 1 would outweigh a small one in the combination


def direction_p_values(
    regressions: SmoothRegressions,
    questions: Iterable[tuple[int, int, Iterable[int]]],
    fits: Iterable[ColumnFit],
    fits_with_source: Iterable[ColumnFit],
) -> list[float]:
    """Return the p-value of each direction (response, source, given): is the response independent of the source?

    `fits` are those of the responses on the columns given, `fits_with_source` those on the source too.
    """
    directions = [(response, source, tuple(sorted(given))) for response, source, given in questions]
    responses, sources, sets, mixtures = [], [], [], []
    for (response, source, given), fit, full in zip(directions, fits, fits_with_source, strict=True):
        for slot, terms, full_terms in zip(regressions.targets[response], fit.terms, full.terms, strict=True):
            effect = np.zeros(WIDTH)
            if full.gain - fit.gain >= _SURE_EFFECT:
                effect = _fast_effect(regressions, response, slot, source, full_terms)
            slots = [*SOURCE_SLOTS, *(k for k in _OTHER_SLOTS if effect[k] != 0)]
            slots = [k for k in slots if regressions.has_spread(source, k)]
            responses.append(((response, slot), terms))
            sources.append([(source, k, given) for k in slots])
            sets.append(given)
            mixtures.append(effect[slots].tolist() if effect.any() else [])
    needed = sorted({key for keys in sources for key in keys})
    of_sources = dict(zip(needed, regressions.feature_fits(needed), strict=True))
    groups = regressions.products(
        responses,
        [[((source, k), of_sources[source, k, given]) for source, k, given in keys] for keys in sources],
        sets,
        mixtures,
        _BIN_ROWS,
    )
    p_values = iter([_joined(group, len(mixture)) for group, mixture in zip(groups, mixtures, strict=True)])
    return [
        cauchy_combination([(next(p_values), 1.0) for _ in regressions.targets[response]])
        for response, _, _ in directions
    ]


def symmetric_p_value(one: float, other: float) -> float:
    """Return the p-value of a pair from those of its two directions."""
    return min(1.0, 2 * min(one, other))


def _fast_effect(
    regressions: SmoothRegressions, response: int, slot: int, source: int, terms: Sequence[Term]
) -> NDArray[np.float64]:
    """Return the coefficients of the source's main block, shape (16,); zeros where its effect is a slow function."""
    effect = np.zeros(WIDTH)
    for (first, second, _), b in zip(terms, regressions.coefficients(response, slot, terms), strict=True):
        if (first, second) == (source, -1) and (b[_FAST] ** 2).sum() >= _FAST_SHARE * (b**2).sum():
            effect = b
    return effect


def _joined(groups: Iterable[tuple[int, float, tuple[float, float, float]]], mixed: int) -> float:
    """Return one p-value of the groups: the first source, all, a mixture of so many, one for each conditioning column.

    The weights of the mixture come from the same data, so its tail is that of the best of all mixtures.
    """
    known = {_FIRST: _FIRST_WEIGHT, _ALL: _ALL_WEIGHT, _MIXTURE: _MIXTURE_WEIGHT}
    p_values = {group: weighted_tail(q, 3 * [mixed] if group == _MIXTURE else traces) for group, q, traces in groups}
    given = len(p_values.keys() - known.keys())
    return cauchy_combination(
        [(min(p, _LARGEST), known[group] if group in known else _GIVEN_WEIGHT / given) for group, p in p_values.items()]
    )
