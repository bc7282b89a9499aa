"""EBIC: the extended Bayesian information criterion along a path."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .checks import RELATIVE_ROUNDING, Floats
from .errors import ColumnError


def log_likelihood(covariance: ArrayLike, precisions: ArrayLike, *, shrink_isolated: bool = False) -> Floats:
    """Return ``log det T - sum(S * T)`` for each precision matrix T.

    This is twice the Gaussian log-likelihood of one row, without its constant ``-p log(2 pi)``, and
    the value that R's huge calls ``loglik``.

    Parameters
    ----------
    covariance : array_like, shape (p, p)
        The matrix S.
    precisions : array_like, shape (m, p, p)
        Positive definite.
    shrink_isolated : bool
        Whether to take the precision of a variable without neighbours as it is. By default it is
        taken to be ``1 / S_ii``, as R's huge does: where the diagonal is penalised, the likelihood
        of the variables without neighbours would otherwise rise as the penalty falls, and favour
        small penalties for a reason that has nothing to do with the graph.

    Returns
    -------
    ndarray, shape (m,)
    """
    matrix = np.asarray(covariance, dtype=np.float64)
    matrices = np.array(precisions, dtype=np.float64)
    if not shrink_isolated:
        position, variable = np.nonzero(np.count_nonzero(matrices, axis=2) == 1)
        matrices[position, variable, variable] = 1 / matrix[variable, variable]
    _, log_determinants = np.linalg.slogdet(matrices)
    traces = np.einsum("ij,mij->m", matrix, matrices)
    return np.asarray(log_determinants - traces)


def ebic_scores(log_likelihoods: ArrayLike, edges: ArrayLike, *, n: int, p: int, gamma: float = 0.5) -> Floats:
    """Return the EBIC of each graph; the smallest is the best.

    ``-n * log_likelihood + edges * (log(n) + 4 * gamma * log(p))``

    With the penalised precision matrix in the place of the maximum-likelihood one, as in R's huge,
    the score is comparable within a path only.

    Parameters
    ----------
    log_likelihoods : array_like, shape (m,)
        As `log_likelihood` returns them.
    edges : array_like of int, shape (m,)
        Number of edges of each graph.
    n, p : int
        Numbers of rows and of variables.
    gamma : float, in [0, 1]
        Weight of the number of possible graphs: 0 is the ordinary BIC, 0.5 the default of R's huge.

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    ValueError
        If gamma is out of its range.

    References
    ----------
    Foygel and Drton (2010), "Extended Bayesian information criteria for Gaussian graphical
    models", NIPS 23.
    """
    _check_gamma(gamma)
    price = np.log(n) + 4 * gamma * np.log(p)
    return np.asarray(-n * np.asarray(log_likelihoods) + np.asarray(edges) * price)


def neighbourhood_ebic_scores(correlation: ArrayLike, coefficients: ArrayLike, *, n: int, gamma: float = 0.5) -> Floats:
    """Return the sum over all variables of the EBIC of their regressions; the smallest is the best.

    For each variable, with k neighbours and r the residual variance of its least-squares regression
    on them, ``n log(r) + k (log(n) + 2 gamma log(p - 1))``. Least squares and not the lasso, whose
    shrinkage would be paid back for each neighbour too many.

    R's huge offers no EBIC for neighbourhood selection. The sum is that of a pseudo-likelihood, in
    which an edge found from both sides counts twice.

    Parameters
    ----------
    correlation : array_like, shape (p, p)
    coefficients : array_like, shape (m, p, p)
        As `neighbourhood_path` returns them; only which of them are zero is used.
    n : int
        Number of rows.
    gamma : float, in [0, 1]

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    ValueError
        If gamma is out of its range, or a variable is a linear function of its neighbours.

    References
    ----------
    Chen and Chen (2008), DOI 10.1093/biomet/asn034.
    """
    _check_gamma(gamma)
    matrix = np.asarray(correlation, dtype=np.float64)
    neighbourhoods = np.asarray(coefficients) != 0
    price = np.log(n) + 2 * gamma * np.log(len(matrix) - 1)
    scores = price * neighbourhoods.sum(axis=(1, 2))
    for position, response in np.ndindex(len(neighbourhoods), len(matrix)):
        neighbours = neighbourhoods[position, :, response]
        gram, products = matrix[np.ix_(neighbours, neighbours)], matrix[neighbours, response]
        fitted = products @ np.linalg.lstsq(gram, products)[0]
        variance = matrix[response, response] - fitted
        if variance <= RELATIVE_ROUNDING * matrix[response, response]:
            raise ColumnError(response, "is a linear function of its neighbours: drop it, or use larger penalties")
        scores[position] += n * np.log(variance)
    return np.asarray(scores)


def _check_gamma(gamma: float) -> None:
    if not 0 <= gamma <= 1:
        raise ValueError(f"gamma is {gamma}: it must lie between 0 and 1")
