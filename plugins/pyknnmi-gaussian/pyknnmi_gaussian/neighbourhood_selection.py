"""Neighbourhood selection: a lasso regression of each variable on all others."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from pyknnmi.components import check_memory

from .checks import Floats, checked_covariance, checked_penalties
from .errors import ColumnConvergenceError

Rule = Literal["and", "or"]
AutomaticPenalty = Literal["paper", "code"]

# Coordinate descent needs tens of passes over the variables, and many more where columns nearly
# repeat each other. Those cases are better left to least-angle regression; what neither solves has
# columns that are exact functions of others, and there more passes help.
_PASSES = 1000
_PATIENT_PASSES = 100_000

# Least-angle regression follows the solution from corner to corner of its path.
_MAX_CORNERS_PER_VARIABLE = 50

# Largest violation of the optimality conditions in what it returns, in units of correlation.
_OPTIMALITY = 1e-10

# What it leaves of a coefficient that goes back to zero at a corner.
_ROUNDING = 1e-12


def neighbourhood_path(correlation: ArrayLike, penalties: ArrayLike, *, tolerance: float = 1e-12) -> Floats:
    """Return the lasso coefficients of each variable on all others, at each penalty.

    For variable j and penalty l they minimise, with S the correlation matrix without row and
    column j, and s its column j without entry j, ::

        b' S b / 2 - s' b + l * sum |b_k|

    which for standardised data is the mean squared error of the regression, halved, plus the
    penalty. Only the correlation matrix is used, so that the number of rows does not matter.

    Parameters
    ----------
    correlation : array_like, shape (p, p)
        Correlation matrix, positive semidefinite.
    penalties : array_like, shape (m,)
        Positive, strictly decreasing: see `penalty_path`.
    tolerance : float
        Largest duality gap, as a share of the variance of the response.

    Returns
    -------
    ndarray, shape (m, p, p)
        ``[i, k, j]`` is the coefficient of variable k in the regression of variable j at penalty i;
        the diagonals are zero. Use `neighbourhood_graphs` to join them into graphs.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the correlation is not positive semidefinite.
    ConvergenceError
        If the solution of a regression is not found.

    Notes
    -----
    Coordinate descent, in which each solution is the start of the next. Where columns nearly repeat
    each other and it is slow, least-angle regression (Efron, Hastie, Johnstone and Tibshirani 2004),
    which is exact but takes longer for many variables.

    Where one variable is a linear function of others the solution may not be unique, and which of
    them is taken depends on their order.

    References
    ----------
    Meinshausen and Bühlmann (2006), Eq. 3, DOI 10.1214/009053606000000281. Their penalty is twice
    the one here, since their squared error is not halved.
    """
    matrix = checked_covariance(correlation)
    path = checked_penalties(penalties)
    p = len(matrix)
    # lasso_path wants a design although it computes with its Gram matrix: any one will do whose
    # Gram matrix is the correlation matrix, and the smallest has p rows.
    values, vectors = np.linalg.eigh(matrix)
    design = np.sqrt(np.maximum(values, 0))[:, np.newaxis] * vectors.T
    check_memory(8.0 * len(path) * p**2, f"a path of {len(path)} penalties for {p} columns", "give a penalty")
    coefficients = np.zeros((len(path), p, p))
    for response in range(p):
        others = np.delete(np.arange(p), response)
        gram = np.ascontiguousarray(matrix[np.ix_(others, others)])
        products = matrix[others, response]
        descend = partial(
            _coordinate_descent,
            np.asfortranarray(design[:, others]),
            design[:, response],
            gram,
            products,
            path,
            tolerance,
        )
        solution = descend(_PASSES)
        if solution is None:
            solution = _least_angle_regression(gram, products, path)
        if solution is None:
            solution = descend(_PATIENT_PASSES)
        if solution is None:
            raise ColumnConvergenceError(
                response,
                "has a lasso on the others that did not converge: use larger penalties (min_ratio), or "
                "drop one of each pair of columns that nearly repeat each other",
            )
        coefficients[:, others, response] = solution
    return coefficients


def _coordinate_descent(
    design: Floats,
    target: Floats,
    gram: Floats,
    products: Floats,
    path: Floats,
    tolerance: float,
    passes: int,
) -> Floats | None:
    """Return the coefficients, shape (m, p - 1), or None where the tolerance is not met."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lasso_path

    rows = len(target)
    # The gaps show whether it converged. A filter that turns the warning into an error would be
    # one for all threads.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, solution, gaps = lasso_path(
            design,
            target,
            # scikit-learn divides the squared error, and the gap, by the number of rows.
            alphas=path / rows,
            precompute=gram,
            Xy=products,
            tol=tolerance,
            max_iter=passes,
            random_state=0,  # unused, but without it a number is drawn from NumPy's global generator
        )
    return np.asarray(solution.T) if gaps.max() * rows <= tolerance * (target @ target) else None


def _least_angle_regression(gram: Floats, products: Floats, path: Floats) -> Floats | None:
    """Return the coefficients, shape (m, p - 1), or None where they are not the solution.

    They are not where columns repeat each other exactly, which coordinate descent does not mind.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lars_path_gram

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        corners, _, at_corners = lars_path_gram(
            products,
            gram,
            n_samples=1,
            method="lasso",
            alpha_min=path[-1],
            max_iter=_MAX_CORNERS_PER_VARIABLE * len(gram),
        )
    # Between two corners the coefficients are straight lines, and those that are zero stay so.
    solution = np.stack([np.interp(path, corners[::-1], values[::-1]) for values in at_corners], axis=1)
    solution[np.abs(solution) < _ROUNDING] = 0.0
    gradient = products - solution @ gram
    penalties = path[:, np.newaxis]
    violation = np.where(
        solution == 0,
        np.abs(gradient) - penalties,
        np.abs(gradient - penalties * np.sign(solution)),
    )
    return solution if violation.max() <= _OPTIMALITY else None


def neighbourhood_graphs(coefficients: ArrayLike, rule: Rule = "and") -> NDArray[np.bool_]:
    """Return the graphs that join the neighbourhoods.

    Parameters
    ----------
    coefficients : array_like, shape (m, p, p)
        As `neighbourhood_path` returns them.
    rule : {"and", "or"}
        Join two variables when each is in the other's neighbourhood, or when one of them is.

    Returns
    -------
    ndarray of bool, shape (m, p, p)
        Adjacency matrices, symmetric, with an empty diagonal.

    Raises
    ------
    ValueError
        If the rule is unknown.
    """
    neighbours: NDArray[np.bool_] = np.asarray(coefficients) != 0
    if rule == "and":
        return neighbours & neighbours.swapaxes(1, 2)
    if rule == "or":
        return neighbours | neighbours.swapaxes(1, 2)
    raise ValueError(f"rule is {rule!r}: choose 'and' or 'or'")


def automatic_penalty(n: int, p: int, *, alpha: float = 0.05, formula: AutomaticPenalty = "paper") -> float:
    """Return the penalty that bounds the probability of joining separate components.

    With it, the probability that any two variables are joined that lie in different connected
    components of the true graph is asymptotically at most `alpha`, for Gaussian data::

        paper:  l = norm.ppf(1 - alpha / (2 p^2)) / sqrt(n)
        code:   l = 2 * norm.ppf(1 - alpha / (2 p^2)) / sqrt(n)

    "paper" is the formula that Leppä-aho et al. (2018) print, and the one that keeps the promise
    here: Meinshausen and Bühlmann derive the factor 2 for a squared error that is not halved, and
    the objective of `neighbourhood_path` (and of R's huge) halves it, which halves the penalty.
    "code" keeps the factor, as the program of that paper did when its results were computed;
    its graphs are sparser than in theory.

    Parameters
    ----------
    n, p : int
        Numbers of rows and of variables.
    alpha : float, in (0, 1)
    formula : {"paper", "code"}

    Returns
    -------
    float
        For standardised data, that is, for the correlation matrix.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Meinshausen and Bühlmann (2006), Eq. 9 and Theorem 3, DOI 10.1214/009053606000000281.
    Leppä-aho, Räisänen, Yang and Roos (2018), Proceedings of Machine Learning Research 72, 213-224.
    """
    if n < 2 or p < 2:
        raise ValueError(f"n is {n} and p is {p}: both must be at least 2")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}: it must lie between 0 and 1")
    if formula not in ("paper", "code"):
        raise ValueError(f"formula is {formula!r}: choose 'paper' or 'code'")
    factor = 2 if formula == "code" else 1
    # isf(x) is ppf(1 - x) without the loss of digits for small x.
    return float(-factor * ndtri(alpha / (2 * p**2)) / np.sqrt(n))
