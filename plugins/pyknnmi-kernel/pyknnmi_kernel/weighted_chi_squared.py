"""Tail probabilities of Q = sum_i w_i C_i, where the C_i are independent chi-squared with one degree of freedom.

Under independence the statistics of the kernel tests are such sums. Bodenham and Adams (2016),
doi:10.1007/s11222-015-9583-4, compare the approximations below and call them SW, HBE and LPB4.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hankel, solve_triangular
from scipy.optimize import brentq
from scipy.special import gammaincc

Vector = NDArray[np.float64]

# A determinant relative to the product of its diagonal that counts as zero.
_ROUNDING = 1e-14


def gamma_tail(q: float, mean: float, variance: float) -> float:
    """Return P(Q >= q) from the gamma distribution with this mean and variance; 1 if Q is always zero."""
    if not (mean > 0 and variance > 0):
        return 1.0
    return float(gammaincc(mean**2 / variance, max(q, 0.0) * mean / variance))


def sw_tail(q: float, weights: Vector) -> float:
    """Return P(Q >= q) from the gamma distribution with the mean and variance of Q.

    Source: Satterthwaite (1946); Welch (1938).
    """
    mean, variance = _cumulants(weights, 2)
    return gamma_tail(q, mean, variance)


def hbe_tail(q: float, weights: Vector) -> float:
    """Return P(Q >= q) from the shifted gamma distribution with the first three cumulants of Q.

    Source: Hall (1983); Buckley and Eagleson (1988).
    """
    if not weights.sum() > 0:
        return 1.0
    mean, variance, third = _cumulants(weights, 3)
    freedom = 8 * variance**3 / third**2
    chi_squared = freedom + (q - mean) * math.sqrt(2 * freedom / variance)
    return float(gammaincc(freedom / 2, max(chi_squared, 0.0) / 2))


def lpb_tail(q: float, weights: Vector, components: int = 4) -> float:
    """Return P(Q >= q) from the mixture of gamma distributions with the first 2 `components` moments of Q.

    All components have the shape 1/lambda. What is left of the moments when the gamma's share is taken out, r_i =
    E[Q^i] / ((1 + lambda) ... (1 + (i-1) lambda)), are the moments of the components' means; lambda is such that so
    many means suffice, which makes the Hankel matrix of r_0 ... r_2p singular. The means and their weights are then
    the nodes and weights of Gauss quadrature (Golub and Welsch 1969). Where rounding leaves no such lambda, as for
    nearly equal weights, fewer components are taken.

    Source: Lindsay, Pilla and Basak (2000), doi:10.1023/A:1004105603806.
    """
    if not weights.sum() > 0:
        return 1.0
    scale = weights.sum()
    moments = _moments(weights / scale, 2 * components)
    shape_inverse, used = moments[2] - 1.0, 1
    for p in range(2, components + 1):

        def determinant(trial: float, p: int = p) -> float:
            left = _without_gamma(moments[: 2 * p + 1], trial)
            matrix = hankel(left[: p + 1], left[p:])
            return float(np.linalg.det(matrix) / np.diag(matrix).prod())

        if not determinant(0.0) > _ROUNDING > -_ROUNDING > determinant(shape_inverse):
            break
        shape_inverse, used = brentq(determinant, 0.0, shape_inverse, xtol=1e-14), p
    means, shares = _gauss_quadrature(_without_gamma(moments[: 2 * used], shape_inverse))
    tail = float(shares @ gammaincc(1 / shape_inverse, max(q, 0.0) / scale / (shape_inverse * means)))
    return min(tail, 1.0)  # the shares add up to 1 but for rounding


TAILS = {"lpb": lpb_tail, "hbe": hbe_tail, "gamma": sw_tail}


def normal_score(q: float, mean: float, variance: float) -> float:
    """Return the normal deviate that ranks as the tail of the gamma distribution does, and never underflows.

    Source: the cube-root transformation of Wilson and Hilferty (1931), doi:10.1073/pnas.17.12.684.
    """
    if not (mean > 0 and variance > 0):
        return 0.0
    spread = variance / (9 * mean**2)
    return (math.cbrt(max(q, 0.0) / mean) - 1 + spread) / math.sqrt(spread)


def _cumulants(weights: Vector, most: int) -> list[float]:
    return [float(2 ** (r - 1) * math.factorial(r - 1) * (weights**r).sum()) for r in range(1, most + 1)]


def _moments(weights: Vector, most: int) -> Vector:
    """Return the moments of order 0 to `most` of Q."""
    cumulants = _cumulants(weights, most)
    moments = [1.0]
    for r in range(1, most + 1):
        moments.append(sum(math.comb(r - 1, i) * cumulants[r - 1 - i] * moments[i] for i in range(r)))
    return np.array(moments)


def _without_gamma(moments: Vector, shape_inverse: float) -> Vector:
    factors = 1 + shape_inverse * np.arange(len(moments) - 1)
    left: Vector = moments / np.concatenate([[1.0], np.cumprod(factors)])
    return left


def _gauss_quadrature(moments: Vector) -> tuple[Vector, Vector]:
    """Return the p nodes and weights of a distribution with these moments, of order 0 to 2p - 1."""
    p = len(moments) // 2
    lower = np.linalg.cholesky(hankel(moments[:p], moments[p - 1 : -1]))
    upper = np.column_stack([lower.T, solve_triangular(lower, moments[p:], lower=True)])
    ratios = np.diag(upper, 1) / np.diag(upper)
    beside = np.diag(upper)[1:] / np.diag(upper)[:-1]
    jacobi = np.diag(np.diff(ratios, prepend=0.0)) + np.diag(beside, 1) + np.diag(beside, -1)
    nodes, vectors = np.linalg.eigh(jacobi)
    return nodes, vectors[0] ** 2
