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

Sources: Shah and Peters (2020), doi:10.1214/19-AOS1857, for products of residuals; Scheidegger, Hörrmann and Bühlmann
(2022), "The weighted generalised covariance measure", JMLR 23, for products with functions of the conditioning set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyknnmi.regression.chi_squared import cauchy_combination, weighted_tail
from pyknnmi.regression.features import SOURCE_SLOTS
from pyknnmi.regression.smooth import ColumnFit, SmoothRegressions

__all__ = ["Direction", "direction_p_values", "symmetric_p_value"]

Direction = tuple[int, int, tuple[int, ...]]
"""A question: the response i, the source j, and the columns S."""

_FIRST_WEIGHT, _ALL_WEIGHT, _GIVEN_WEIGHT = 0.4, 0.3, 0.3
_BIN_ROWS = 10  # in a bin, whose mean is taken off
_LARGEST = 0.95  # a p-value near 1 would outweigh a small one in the combination


def direction_p_values(
    regressions: SmoothRegressions,
    questions: Iterable[tuple[int, int, Iterable[int]]],
    fits: Iterable[ColumnFit],
) -> list[float]:
    """Return the p-value of each direction (response, source, given): is the response independent of the source?

    `fits` are those of the responses on the columns given.
    """
    directions = [(response, source, tuple(sorted(given))) for response, source, given in questions]
    needed = sorted({(source, k, given) for _, source, given in directions for k in _sources(regressions, source)})
    of_sources = dict(zip(needed, regressions.feature_fits(needed), strict=True))
    responses, sources, sets = [], [], []
    for (response, source, given), fit in zip(directions, fits, strict=True):
        for slot, terms in zip(regressions.targets[response], fit.terms, strict=True):
            responses.append(((response, slot), terms))
            sources.append([((source, k), of_sources[source, k, given]) for k in _sources(regressions, source)])
            sets.append(given)
    groups = regressions.products(responses, sources, sets, _BIN_ROWS)
    p_values = iter([_joined([weighted_tail(q, traces) for _, q, traces in group]) for group in groups])
    return [
        cauchy_combination([(next(p_values), 1.0) for _ in regressions.targets[response]])
        for response, _, _ in directions
    ]


def symmetric_p_value(one: float, other: float) -> float:
    """Return the p-value of a pair from those of its two directions."""
    return min(1.0, 2 * min(one, other))


def _sources(regressions: SmoothRegressions, column: int) -> list[int]:
    return [slot for slot in SOURCE_SLOTS if regressions.has_spread(column, slot)]


def _joined(p_values: Sequence[float]) -> float:
    """Return one p-value of the groups {phi_1}, {all}, and one for each conditioning column."""
    first, all_, *given = (min(p, _LARGEST) for p in p_values)
    return cauchy_combination(
        [(first, _FIRST_WEIGHT), (all_, _ALL_WEIGHT), *((p, _GIVEN_WEIGHT / len(given)) for p in given)]
    )
