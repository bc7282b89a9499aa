"""Correlation matrices: Pearson's, and the rank-based "skeptic" of the nonparanormal model."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pyknnmi.numbers import average_ranks, correlation_matrix

from .checks import RELATIVE_ROUNDING, Floats, checked_data

RankCorrelation = Literal["spearman", "kendall"]


def standardize(data: ArrayLike) -> Floats:
    """Return the data with mean 0 and sample standard deviation 1 (divisor n - 1) in each column.

    Parameters
    ----------
    data : array_like, shape (n, p)

    Returns
    -------
    ndarray, shape (n, p)

    Raises
    ------
    ValueError
        If a column is constant or holds a value that is not finite.
    """
    array = checked_data(data)
    _, exponent = np.frexp(np.abs(array).max(axis=0))
    array = np.ldexp(array, -exponent)  # exact, and squares then neither over- nor underflow
    centred = array - array.mean(axis=0)
    return np.asarray(centred / centred.std(axis=0, ddof=1))


def pearson_correlation(data: ArrayLike) -> Floats:
    """Return the Pearson correlation matrix, with ones on the diagonal.

    Parameters
    ----------
    data : array_like, shape (n, p)

    Returns
    -------
    ndarray, shape (p, p)
        Positive semidefinite, of rank n - 1 at most.

    Raises
    ------
    ValueError
        If a column is constant or holds a value that is not finite.
    """
    scaled = standardize(data)
    correlation = scaled.T @ scaled / (len(scaled) - 1)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def skeptic_correlation(data: ArrayLike, *, statistic: RankCorrelation = "spearman") -> Floats:
    """Return the correlation matrix of the latent Gaussian variables, estimated from ranks.

    In the nonparanormal model every variable is an unknown increasing function of one of several
    jointly Gaussian variables. Ranks do not see that function, and the correlation r of two
    Gaussian variables follows from Spearman's rho as ``2 sin(pi rho / 6)`` and from Kendall's tau
    as ``sin(pi tau / 2)``. Spearman's is the default, as in R's huge (``npn.func = "skeptic"``);
    Kendall's is less moved by outliers and takes about p^2 n log(n) steps.

    The matrix can have negative eigenvalues, mostly when n is small compared with p:
    see `positive_semidefinite_correlation`. With many ties both statistics fall towards zero and
    the estimate is too small.

    Parameters
    ----------
    data : array_like, shape (n, p)
    statistic : {"spearman", "kendall"}
        Average ranks for ties; tau-b for Kendall's.

    Returns
    -------
    ndarray, shape (p, p)

    Raises
    ------
    ValueError
        If a column is constant or holds a value that is not finite, or the statistic is unknown.

    References
    ----------
    Liu, Han, Yuan, Lafferty and Wasserman (2012), section 3, DOI 10.1214/12-AOS1037.
    """
    array = checked_data(data)
    if statistic == "spearman":
        correlation = 2 * np.sin(np.pi / 6 * pearson_correlation(np.apply_along_axis(average_ranks, 0, array)))
    elif statistic == "kendall":
        correlation = correlation_matrix(array, "kendall")
    else:
        raise ValueError(f"statistic is {statistic!r}: choose 'spearman' or 'kendall'")
    np.fill_diagonal(correlation, 1.0)
    return correlation


def positive_semidefinite_correlation(correlation: ArrayLike) -> Floats:
    """Return a positive semidefinite correlation matrix close to the one given.

    A matrix that is positive semidefinite already is returned as it is. Of any other the negative
    eigenvalues are set to zero and the diagonal is scaled back to one, and a `UserWarning` says so
    with the smallest eigenvalue and the largest change of an entry.

    Parameters
    ----------
    correlation : array_like, shape (p, p)
        Symmetric, with ones on the diagonal.

    Returns
    -------
    ndarray, shape (p, p)
    """
    matrix = np.asarray(correlation, dtype=np.float64)
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= -RELATIVE_ROUNDING * len(matrix):
        return matrix
    clipped = (vectors * np.maximum(values, 0)) @ vectors.T
    scale = np.sqrt(clipped.diagonal())
    repaired: Floats = clipped / np.outer(scale, scale)
    repaired = (repaired + repaired.T) / 2
    np.fill_diagonal(repaired, 1.0)
    change = np.abs(repaired - matrix).max()
    warnings.warn(
        f"the correlation matrix had a negative eigenvalue ({values[0]:.3g}); it was replaced by a "
        f"positive semidefinite one, which moved no entry by more than {change:.3g}",
        UserWarning,
        stacklevel=2,
    )
    return repaired
