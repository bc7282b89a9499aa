"""Whether rows that follow each other are alike."""

from __future__ import annotations

import math
from itertools import product as product_of

import numpy as np
from numpy.fft import irfft, rfft  # NumPy loads it on first use, and a fork at that moment would wait for ever
from numpy.typing import ArrayLike, NDArray

from pyknnmi.errors import DataError
from pyknnmi.numbers.checks import check_whole, one_column
from pyknnmi.numbers.ranks import average_ranks
from pyknnmi.numbers.samples import MOST

__all__ = [
    "block_length",
    "common_season",
    "lag_one_correlation",
    "less_means",
    "less_season",
    "runs_test",
    "same_season",
    "season_length",
    "trend_and_rest",
    "variance_inflation",
]

Column = NDArray[np.float64]

_FEWEST_ROWS = 20  # of fewer a season is not to be seen
_MEMORY = 4  # rows before that an autoregression looks at; with 1 waves of an AR(2) pass for a season, 10 gain nothing


def lag_one_correlation(values: ArrayLike) -> float:
    """Return the correlation of each value, shape (n,), with the next; 0 for a constant.

    Examples
    --------
    >>> lag_one_correlation([1, -1, 1, -1, 1, -1])
    -1.0
    """
    column = one_column(values)
    if len(column) < 2:
        return 0.0
    centred = column - column.mean()
    variance = float(centred @ centred) / len(column)
    return float((centred[1:] * centred[:-1]).mean() / variance) if variance > 0 else 0.0


def runs_test(values: ArrayLike) -> float:
    """Return the p-value, two-sided, of the number of runs above and below the median.

    Values at the median are left out. By the normal approximation, which is good from about 20 values on.

    References
    ----------
    Wald and Wolfowitz (1940), "On a test whether two samples are from the same population",
    doi:10.1214/aoms/1177731909.

    Examples
    --------
    >>> round(runs_test([1, 1, 1, 1, 1, 5, 5, 5, 5, 5]), 3)  # 2 runs where 6 are expected
    0.007
    """
    column = one_column(values)
    if not len(column):
        return 1.0
    apart = column[column != np.median(column)]
    above = apart > np.median(column)
    n, high = len(above), int(above.sum())
    if high in (0, n):
        return 1.0
    expected = 1 + 2 * high * (n - high) / n
    variance = (expected - 1) * (expected - 2) / (n - 1)
    runs = 1 + int(np.count_nonzero(above[1:] != above[:-1]))
    return math.erfc(abs(runs - expected) / math.sqrt(2 * variance)) if variance > 0 else 1.0


def variance_inflation(values: ArrayLike) -> float:
    """Return by what factor memory widens the variance of the correlation of two series like this one, shape (n,).

    The factor is the sum of the products of their autocorrelations at all lags, before and after. Here it is taken from
    the squares at the first n / 4 lags, less what they have by chance. It is 1 for a constant.

    References
    ----------
    Bartlett (1935), "Some aspects of the time-correlation problem in regard to tests of significance", Journal of the
    Royal Statistical Society 98, doi:10.2307/2342284.

    Examples
    --------
    >>> import numpy as np
    >>> variance_inflation(np.ones(8))
    1.0
    >>> round(variance_inflation([1, -1] * 50), 1)
    27.3
    """
    column = one_column(values)
    n = len(column)
    if n < 4 or column.min() == column.max():
        return 1.0
    covariances = _autocovariances(column)
    squares = float(np.sum((covariances[1:] / covariances[0]) ** 2))
    chance = float(np.sum(n - np.arange(1, n // 4 + 1))) / n**2  # of free rows; of others as much more as this factor
    return 1 + 2 * (squares - chance) / (1 + 2 * chance)


def season_length(values: ArrayLike) -> int:
    """Return after how many rows a series, shape (n,), comes back to the same values; 1 if it does not.

    A season comes four times at least. Of the periods that the strongest waves of the ranks and of their differences
    suggest, it is the one whose rows differ most, by the ratio F of an analysis of variance of the ranks less their
    moving mean over a season. It is none where F is below 3 + 9 / (season - 1), or falls below it once the memory of
    the rows is taken out, by an autoregression of order 4. Noise, walks and means over a few rows seldom reach that. In
    100 rows of means over 11 a tenth do.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).standard_normal(120)
    >>> season_length(np.tile([0, 0, 1, 2, 5, 9, 9, 5, 3, 2, 1, 0], 10) + noise), season_length(noise)
    (12, 1)
    """
    ranks = average_ranks(one_column(values))
    longest = len(ranks) // 4
    if len(ranks) < _FEWEST_ROWS or ranks.min() == ranks.max():
        return 1
    tried = {period: _seasonality(ranks, period) for period in _periods(ranks, longest)}
    best = max(tried, key=lambda period: (tried[period], -period), default=1)
    step = best // 20  # of long periods the suggested ones are that far from each other
    while best > 1 and step >= 1:
        near = range(max(best - step, 2), min(best + step, longest) + 1, max(step // 8, 1))
        tried |= {period: _seasonality(ranks, period) for period in near if period not in tried}
        best = max(tried, key=lambda period: (tried[period], -period))
        step //= 8
    if best == 1:
        return 1
    least = 3 + 9 / (best - 1)
    return best if tried[best] >= least and _variance_ratio(_less_memory(ranks, best), best) >= least else 1


def same_season(one: int, other: int, n: int) -> bool:
    """Return whether two lengths of a season may be one, or one a part of the other, as far as n rows tell.

    They may if the longer is a multiple of the shorter, or if so many of the shorter ones get out of step with the
    longer by less than one of them in n rows: a season of 365.25 rows is found as one of 360 or of 365.

    Examples
    --------
    >>> same_season(4, 12, 1000), same_season(360, 365, 1826), same_season(7, 12, 200)
    (True, True, False)
    """
    for name, given in (("one", one), ("other", other), ("n", n)):
        check_whole(name, given, 1, 2**53)
    shorter, longer = sorted((one, other))
    apart = abs(_parts(shorter, longer) * shorter - longer)
    return shorter > 1 and apart * n < shorter * longer


def _parts(shorter: int, longer: int) -> int:
    """Return how many of the shorter seasons make the longer one, about."""
    return (2 * longer + shorter) // (2 * shorter)


def common_season(x: ArrayLike, y: ArrayLike, lengths: tuple[int, int] | None = None) -> int:
    """Return the season that two series, shape (n,) each, have in common, or 1; that of one may be a part of it.

    Where the data do not tell which of the lengths it is, or one between them, it is that by which the rows of a season
    differ most in both: by the sum of the two ratios F of `season_length`.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        The series.
    lengths : pair of int, optional
        What `season_length` says of them, if known.

    Examples
    --------
    >>> import numpy as np
    >>> noise = np.random.default_rng(0).standard_normal((2, 365))
    >>> x, y = np.sin(2 * np.pi * np.arange(365) / 30.44) + 0.7 * noise
    >>> season_length(x), season_length(y), common_season(x, y)
    (30, 31, 30)
    """
    series = _two_columns(x, y)
    shorter, longer = sorted(lengths or (season_length(x), season_length(y)))
    if not same_season(shorter, longer, len(series[0])):
        return 1
    first, last = sorted((_parts(shorter, longer) * shorter, longer))
    if first == last:
        return longer
    ranks = [average_ranks(column) for column in series]
    tried: list[int] = np.linspace(first, last, min(last - first + 1, 25)).round().astype(int).tolist()
    return max(tried, key=lambda season: sum(_seasonality(column, season) for column in ranks))


def _two_columns(x: ArrayLike, y: ArrayLike) -> list[Column]:
    columns = [one_column(column) for column in (x, y)]
    if len(columns[0]) != len(columns[1]):
        raise DataError(f"the series have {len(columns[0])} and {len(columns[1])} rows: give as many of both")
    return columns


def _periods(ranks: Column, longest: int) -> set[int]:
    """Return periods that the strongest waves suggest: theirs, and multiples."""
    periods: set[int] = set()
    for series in (trend_and_rest(ranks)[1], np.diff(ranks)):  # differences show a season that drifting values hide
        waves = np.abs(rfft(series))
        waves[:4] = 0
        strongest = int(waves.argmax())
        for times in range(1, 7 * (strongest > 0)):
            first = max(math.ceil(times * len(ranks) / (strongest + 0.75)), 2)
            last = min(math.floor(times * len(ranks) / (strongest - 0.75)), longest)
            many = min(max(last - first + 1, 0), 15)
            periods.update(np.linspace(first, last, many).round().astype(int).tolist())
    return periods


def _seasonality(ranks: Column, period: int) -> float:
    """Return how much the rows of a season differ, apart from the level of each season."""
    return _variance_ratio(_less_level(ranks, period), period)


def _less_level(ranks: Column, period: int) -> Column:
    """Return what is left without the moving mean over a season."""
    total = np.concatenate([[0.0], ranks.cumsum()])
    level = (total[period:] - total[:-period]) / period
    return np.asarray(ranks[period // 2 :][: len(level)] - level)


def _less_memory(ranks: Column, period: int) -> Column:
    """Return what an autoregression on the rows before leaves, which is fitted to what is neither level nor season."""
    rows = _less_level(ranks, period)
    rest = less_season(rows, period)
    order = min(_MEMORY, len(rest) // 10)
    products = np.array([rest[lag:] @ rest[: len(rest) - lag] for lag in range(order + 1)])
    if order == 0 or products[0] <= 1e-9 * float(rows @ rows):
        return rows  # the season is all there is
    lags = np.arange(order)
    among = products[np.abs(lags[:, None] - lags)] + 1e-6 * products[0] * np.eye(order)
    coefficients = np.linalg.solve(among, products[1:])
    return np.convolve(rows, np.concatenate([[1.0], -coefficients]), "valid")


def _variance_ratio(rows: Column, period: int) -> float:
    """Return the ratio F of an analysis of variance between the rows of a season; 0 of fewer than 2 seasons."""
    seasons = len(rows) // period
    if seasons < 2:
        return 0.0
    rows = rows[: seasons * period].reshape(seasons, period)
    rows = rows - rows.mean()
    between = seasons * float(np.square(rows.mean(axis=0)).sum())
    within = max(float(np.square(rows).sum()) - between, 1e-9 * between)
    return between * (seasons - 1) / within if within > 0 else 0.0


def less_season(values: ArrayLike, season: int) -> Column:
    """Return a series, shape (n,), less the mean of each row of the season; as it is for a season of 1."""
    column = one_column(values)
    if season == 1:
        return column
    return less_means(column, np.arange(len(column)) % season)


def less_means(values: Column, groups: NDArray[np.intp]) -> Column:
    """Return a series, shape (n,), less the mean of each group; `groups` number those of the rows, from 0 on."""
    means = np.bincount(groups, values) / np.bincount(groups)
    return np.asarray(values - means[groups])


def trend_and_rest(values: Column) -> tuple[float, Column]:
    """Return the correlation of a series, shape (n,), with the number of the row, and what is left without it."""
    centred = values - values.mean()
    time = np.arange(len(values)) - (len(values) - 1) / 2
    slope = float(centred @ time / (time @ time))
    spread = math.sqrt(float(centred @ centred))
    return slope * math.sqrt(float(time @ time)) / spread if spread > 0 else 0.0, centred - slope * time


def block_length(x: ArrayLike, y: ArrayLike, season: int = 1) -> int:
    """Return how many rows in a row two series, shape (n,) each, have to keep together when one of them is permuted.

    Two series err together by the products of their autocorrelations: one that has no memory needs no blocks, whatever
    the other has. Blocks have 3 / (1 - r) rows, where r^2 is the product of the lag-1 correlations of the ranks; and
    more if that is needed to keep 88 % of the products at all lags, of the ranks or of their distances from the middle
    one, that are clearly not zero. They have a fifth of the rows at most.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        The series.
    season : int, default 1
        Rows in a season that both have. Its means are subtracted first, and the length is a multiple of it.

    References
    ----------
    Bartlett (1935), as for `variance_inflation`: from his formula it is clear that an autocorrelation is not zero.

    Examples
    --------
    >>> import numpy as np
    >>> steps = np.random.default_rng(0).standard_normal((2, 500))
    >>> block_length(*steps), block_length(*steps.cumsum(axis=1)), block_length(*steps, season=12)
    (4, 100, 12)
    """
    check_whole("season", season, 1, MOST)
    series = [average_ranks(less_season(column, season)) for column in _two_columns(x, y)]
    alike = [abs(lag_one_correlation(ranks)) for ranks in series]
    product = math.sqrt(alike[0] * alike[1])
    longest = max(len(series[0]) // 5 // season, 1) * season
    length = math.ceil(max(3 / (1 - product), _memory(*series))) if product < 1 else longest
    return min(-(-length // season) * season, longest)


def _memory(x: Column, y: Column) -> float:
    """Return how many rows a block needs to keep most of the products of the autocorrelations of two series of ranks.

    A block of b rows keeps 1 - lag / b of the product at a lag.
    """
    lost = 0.12
    lengths = [0.0]
    middle = (len(x) + 1) / 2
    features = [[_clear_autocorrelations(f) for f in (ranks, np.abs(ranks - middle))] for ranks in (x, y)]
    for one, other in product_of(*features):
        products = np.abs(one * other)
        far = float(products @ np.arange(1, len(products) + 1))
        lengths.append(2 * far / (lost * (1 + 2 * float(products.sum()))))
    return max(lengths)


def _clear_autocorrelations(column: Column) -> Column:
    """Return the autocorrelations at lags 1 to n / 4; 0 for those within three standard errors of it."""
    if len(column) < 4 or column.min() == column.max():
        return np.zeros(len(column) // 4)
    found = _autocovariances(column)
    found = found[1:] / found[0] * len(column) / (len(column) - np.arange(1, len(found)))
    before = np.concatenate([[0.0], np.square(found).cumsum()[:-1]])
    return np.where(np.abs(found) > 3 * np.sqrt((1 + 2 * before) / len(column)), found, 0.0)


def _autocovariances(column: Column) -> Column:
    """Return the sums of products at lags 0 to n / 4."""
    n = len(column)
    size = 1 << (2 * n - 1).bit_length()  # no lag meets the other end
    return irfft(np.abs(rfft(column - column.mean(), size)) ** 2, size)[: n // 4 + 1]
