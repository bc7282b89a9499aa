"""Whether the order of the rows means something: memory, a trend, a season."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.data.dataset import Dataset
from pyknnmi.numbers.serial import (
    lag_one_correlation,
    less_means,
    less_season,
    runs_test,
    season_length,
    trend_and_rest,
    variance_inflation,
)

__all__ = ["serial_dependence"]

Column = NDArray[np.float64]

_FEWEST_ROWS = 20
_ALIKE = 0.4  # lag-1 correlation from which tests reject too often, where two columns have it
_INFLATED = 1.5  # variance from which they do whatever the lag: a level of .05 becomes .11
_CLEAR = 0.1  # share of the variance of a trend that is worth its name

_SORTED = "If the rows were only sorted, do nothing"
_FOLLOWS = "if the order of the rows is time or place, two columns of this kind look dependent although they are not"


def serial_dependence(dataset: Dataset, ranks: NDArray[np.float64]) -> Iterator[AuditFinding]:
    """Yield the columns in which the order of the rows shows: of all rows, or within groups that are sorted."""
    if dataset.n < _FEWEST_ROWS:
        return
    groups = _groups_of_sorted_rows(dataset)
    within = f" within the groups of column '{dataset.names[groups[0]]}'" if groups else ""
    found = []
    for i in range(dataset.p):
        column = less_means(ranks[i], groups[1]) if groups else ranks[i]
        correlation, inflation = lag_one_correlation(column), variance_inflation(column)
        if _is_no_accident(correlation, inflation, dataset.n, dataset.p):
            found.append((i, column, correlation, inflation))
    harmful = {i for i, _, correlation, inflation in found if inflation >= _INFLATED or correlation >= _ALIKE}
    for i, column, correlation, inflation in found:
        kind, figure, what, advice = _kind(column, correlation, inflation)
        serious = len(harmful) > 1 and i in harmful
        yield AuditFinding(
            kind,
            (dataset.names[i],),
            figure,
            f"in column '{dataset.names[i]}' {what}{within}",
            _FOLLOWS,
            advice,
            serious,
        )


def _is_no_accident(correlation: float, inflation: float, n: int, p: int) -> bool:
    """Return whether independent rows would show it in less than one of a hundred tables."""
    chance = 0.005 / p  # for each of two signs
    if correlation > 0 and math.erfc(correlation * math.sqrt(n / 2)) < chance:
        return True
    # Of free rows the squared correlations are about chi-squared (Box and Pierce), here by Wilson and Hilferty. At two
    # thirds of their number this holds far out, too.
    lags = n / 6
    excess = 3.2 * (inflation - 1)
    normal = (math.cbrt(max(1 + excess, 0.0)) - 1 + 2 / (9 * lags)) / math.sqrt(2 / (9 * lags))
    return inflation >= _INFLATED and math.erfc(normal / math.sqrt(2)) < chance


def _kind(column: Column, correlation: float, inflation: float) -> tuple[str, float, str, str]:
    """Return the kind of finding, its figure, what was found and what to do."""
    season = season_length(column)
    rest = less_season(column, season)
    trend = _clear_trend(rest) if inflation >= _INFLATED else 0.0
    measures = f"lag-1 correlation of the ranks {correlation:.2f}, runs test p = {runs_test(column):.2g}"
    if _is_like_a_walk(rest, trend):
        what = f"values drift as those of a random walk do ({measures})"
        advice = "take the differences from row to row first; blocks do not undo it"
        return "drift", correlation, what, f"{advice}. {_SORTED}"
    if trend:
        what = f"values go {'up' if trend > 0 else 'down'} with the rows (correlation of the ranks {trend:.2f})"
        return "trend", trend, what, "subtract the trend first; blocks do not undo it"
    if season > 1 and inflation >= _INFLATED:
        share = 1 - float(rest @ rest / (column @ column))
        what = f"{share:.0%} of the variance of the ranks comes back every {season} rows"
        advice = "take knn-cmi(null=block), which exchanges whole seasons, or subtract the mean of each season first"
        return "season", season, what, advice
    what = f"rows next to each other are {'alike' if correlation > 0 else 'unlike'} ({measures})"
    return (
        "serial-dependence",
        correlation,
        what,
        f"take knn-cmi(null=block), or blocks for repeated measures. {_SORTED}",
    )


def _clear_trend(column: Column) -> float:
    """Return the correlation with the number of the row, or 0 where a series without a trend may have it, too."""
    trend, rest = trend_and_rest(column)
    alike = max(lag_one_correlation(rest), 0.0)
    rows = len(column) * (1 - alike) / (1 + alike)  # independent ones, of which the trend would be as sure
    return trend if trend**2 > _CLEAR and trend**2 * rows > 16 * (1 - trend**2) else 0.0


def _is_like_a_walk(column: Column, trend: float) -> bool:
    """Return whether a series may be a random walk, by the test of Dickey and Fuller (1979) at a level of 0.05.

    References
    ----------
    "Distribution of the estimators for autoregressive time series with a unit root", doi:10.2307/2286348.
    """
    series, least = (trend_and_rest(column)[1], 21) if trend else (column, 14)
    return len(column) * (1 - lag_one_correlation(series)) < least


def _groups_of_sorted_rows(dataset: Dataset) -> tuple[int, NDArray[np.intp]] | None:
    """Return a column of few values by which the rows are sorted, and the number of each row's group."""
    for i in range(dataset.p):
        column = dataset.values[:, i]
        starts = np.concatenate([[True], column[1:] != column[:-1]])
        groups = int(starts.sum())
        if 1 < groups <= dataset.n / 10 and len(np.unique(column)) == groups:
            return i, np.cumsum(starts) - 1
    return None
