"""Whether rows that follow each other are alike."""

from __future__ import annotations

import math

import numpy as np
from numpy.fft import irfft, rfft  # NumPy loads it on first use, and a fork at that moment would wait for ever
from numpy.typing import ArrayLike

from pyknnmi.numbers.checks import one_column
from pyknnmi.numbers.ranks import average_ranks

__all__ = ["block_length", "lag_one_correlation", "runs_test", "variance_inflation"]


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
    centred = column - column.mean()
    size = 1 << (2 * n - 1).bit_length()  # no lag meets the other end
    covariances = irfft(np.abs(rfft(centred, size)) ** 2, size)[: n // 4 + 1]
    squares = float(np.sum((covariances[1:] / covariances[0]) ** 2))
    chance = float(np.sum(n - np.arange(1, n // 4 + 1))) / n**2  # of free rows; of others as much more as this factor
    return 1 + 2 * (squares - chance) / (1 + 2 * chance)


def block_length(x: ArrayLike, y: ArrayLike) -> int:
    """Return how many rows in a row two series, shape (n,) each, have to keep together when one of them is permuted.

    3 / (1 - r), where r^2 is the product of the lag-1 correlations of their ranks; at most a fifth of the rows. Two
    series err together by as much as this product says: one that has no memory needs no blocks, whatever the other has.

    Examples
    --------
    >>> import numpy as np
    >>> steps = np.random.default_rng(0).standard_normal((2, 500))
    >>> block_length(*steps), block_length(*steps.cumsum(axis=1))
    (4, 100)
    """
    alike = [abs(lag_one_correlation(average_ranks(series))) for series in (x, y)]
    product = math.sqrt(alike[0] * alike[1])
    longest = max(len(np.asarray(x)) // 5, 1)
    return min(math.ceil(3 / (1 - product)), longest) if product < 1 else longest
