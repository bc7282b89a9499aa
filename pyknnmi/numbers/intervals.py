"""Intervals of confidence for shares."""

from __future__ import annotations

import math

__all__ = ["wilson_interval"]

_QUANTILE = 1.959963984540054  # of the standard normal, for 95 %


def wilson_interval(count: float, total: int) -> tuple[float, float]:
    """Return the 95 % interval of Wilson (1927) for the probability of what happened `count` times of `total`.

    References
    ----------
    Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> low, high = wilson_interval(10, 100)
    >>> round(low, 4), round(high, 4)
    (0.0552, 0.1744)
    """
    share, unit = count / total, _QUANTILE**2 / total
    center = (share + unit / 2) / (1 + unit)
    half = math.sqrt(unit * share * (1 - share) + unit**2 / 4) / (1 + unit)
    return max(center - half, 0.0), min(center + half, 1.0)
