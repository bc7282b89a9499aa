"""Tail probabilities of weighted sums of chi-squared variables, and their combination."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["cauchy_combination", "gamma_tail", "weighted_tail"]

_MOST_STEPS = 10_000
_SMALLEST = 1e-300


def weighted_tail(q: float, traces: Sequence[float]) -> float:
    """Return P(Q >= q) for Q = sum_i w_i C_i with independent chi-squared C_i of one degree of freedom, w_i >= 0.

    The approximation of Liu, Tang and Zhang (2009), doi:10.1016/j.csda.2008.11.025. Where no C_i is non-central it is
    the shifted chi-squared variable of the same mean, variance and skewness.

    Parameters
    ----------
    q : float
        The observed sum.
    traces : sequence of three floats
        The sums of w_i, w_i^2 and w_i^3. Where the first is 0 so is Q, and the answer is 1.
    """
    first, second, third = traces
    if not first > 0:
        return 1.0
    freedom = second**3 / third**2
    value = freedom + (q - first) / math.sqrt(2 * second) * math.sqrt(2 * freedom)
    return gamma_tail(freedom / 2, max(value, 0.0) / 2)


def gamma_tail(shape: float, x: float) -> float:
    """Return the regularised upper incomplete gamma function Q(shape, x), at least 1e-300.

    By the series below x = shape + 1 and by Lentz's continued fraction above (Abramowitz and Stegun 6.5.29, 6.5.31).
    """
    if x <= 0:
        return 1.0
    log_front = shape * math.log(x) - x - math.lgamma(shape)
    if x < shape + 1:
        term = total = 1 / shape
        for step in range(1, _MOST_STEPS):
            term *= x / (shape + step)
            total += term
            if term < total * 1e-16:
                break
        return min(max(1 - total * math.exp(log_front), _SMALLEST), 1.0)
    b = x + 1 - shape
    c, d = 1e300, 1 / b
    fraction = d
    for step in range(1, _MOST_STEPS):
        a = -step * (step - shape)
        b += 2
        d = 1 / (a * d + b)
        c = b + a / c
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return math.exp(max(log_front + math.log(fraction), math.log(_SMALLEST)))


def cauchy_combination(p_values: Iterable[tuple[float, float]]) -> float:
    """Return one p-value from (p-value, weight) pairs, nearly right under any dependence where it is small.

    The weights are positive, and are made to add up to 1. Source: Liu and Xie (2020),
    doi:10.1080/01621459.2018.1554485.
    """
    total = mass = 0.0
    for p, weight in p_values:
        # tan(pi (1/2 - p)) is 1 / (pi p) to the last digit where p is tiny.
        total += weight * (1 / (math.pi * p) if p < 1e-15 else math.tan(math.pi * (0.5 - p)))
        mass += weight
    mean = total / mass
    return 1 / (math.pi * mean) if mean > 1e15 else 0.5 - math.atan(mean) / math.pi
