"""The graphical lasso: sparse precision matrices along a path of penalties."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi.components import check_memory

from . import orthant_newton
from .checks import Floats, checked_covariance, checked_penalties
from .errors import ConvergenceError

# A step along the path is halved at most so many times: 2^-20 of a step changes next to nothing.
_MAX_HALVINGS = 20


def graphical_lasso_path(
    covariance: ArrayLike,
    penalties: ArrayLike,
    *,
    penalize_diagonal: bool = True,
    tolerance: float = 1e-9,
) -> Floats:
    """Return the precision matrix that the graphical lasso gives at each penalty.

    The matrix T at penalty l minimises, over positive definite matrices, ::

        -log det T + sum(covariance * T) + l * sum |T_ij|

    where the last sum is over all i and j, or over i != j without `penalize_diagonal`. Variables i
    and j are joined in the graph when T_ij is not zero.

    Variables that fall into different connected components of the graph with edges
    ``|covariance_ij| > l`` are never joined, and each component is solved alone (Witten, Friedman
    and Simon 2011; Mazumder and Hastie 2012). Each solution is the start of the next; where that
    is too far away, penalties between the two are put in.

    Parameters
    ----------
    covariance : array_like, shape (p, p)
        Covariance or correlation matrix, positive semidefinite; n may be smaller than p.
    penalties : array_like, shape (m,)
        Positive, strictly decreasing, in the unit of `covariance`: see `penalty_path`.
    penalize_diagonal : bool
        Whether the diagonal is penalised too: so in R's huge, and in R's glasso by default, not so
        in scikit-learn. It changes the precisions and, at small penalties, the graphs.
    tolerance : float
        Largest violation of the optimality conditions ``inverse(T) - covariance = l * sign(T)``,
        in the unit of `covariance`.

    Returns
    -------
    ndarray, shape (m, p, p)
        Symmetric and positive definite, with exact zeros.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the covariance is not positive semidefinite.
    ConvergenceError
        If the tolerance is not met at a penalty. A matrix that is not a solution is never returned.

    Notes
    -----
    The cost is a few dozen products of p x p matrices for each penalty, more where n is smaller
    than p and the penalty is small. The estimate is of a Gaussian precision matrix: other
    dependence than linear is not seen.

    References
    ----------
    Friedman, Hastie and Tibshirani (2008), Eq. 2.1, DOI 10.1093/biostatistics/kxm045.
    Witten, Friedman and Simon (2011), DOI 10.1198/jcgs.2011.11051a.
    Mazumder and Hastie (2012), Theorem 1, Journal of Machine Learning Research 13, 781-794.

    Examples
    --------
    With two variables the covariance that belongs to the solution is the given one with each entry
    moved by the penalty: off the diagonal towards zero, on it upwards.

    >>> import numpy as np
    >>> precision = graphical_lasso_path([[1.0, 0.5], [0.5, 1.0]], [0.2])[0]
    >>> np.linalg.inv(precision).round(6)
    array([[1.2, 0.3],
           [0.3, 1.2]])
    """
    matrix = checked_covariance(covariance)
    path = checked_penalties(penalties)
    variances = matrix.diagonal()
    strengths = np.abs(matrix - np.diag(variances))
    # At this penalty every component is a single variable, so the start is a solution.
    previous_penalty = max(float(strengths.max()), float(path[0]))
    share = float(penalize_diagonal)
    precision = np.diag(1 / (variances + share * previous_penalty))
    check_memory(
        8.0 * len(path) * matrix.size, f"a path of {len(path)} penalties for {len(matrix)} columns", "give a penalty"
    )
    precisions = np.empty((len(path), *matrix.shape))
    for position, penalty in enumerate(path):
        following = np.diag(1 / (variances + share * penalty))
        for component in _components(strengths > penalty):
            block = np.ix_(component, component)
            following[block] = _follow(
                matrix[block], share, previous_penalty, float(penalty), precision[block], tolerance
            )
        precision = precisions[position] = following
        previous_penalty = float(penalty)
    return precisions


def graphical_lasso(
    covariance: ArrayLike,
    penalty: float,
    *,
    penalize_diagonal: bool = True,
    tolerance: float = 1e-9,
) -> Floats:
    """Return the precision matrix of the graphical lasso at one penalty, of shape (p, p).

    See `graphical_lasso_path`, whose arguments it takes.
    """
    path = graphical_lasso_path(covariance, [penalty], penalize_diagonal=penalize_diagonal, tolerance=tolerance)
    return np.asarray(path[0])


def precision_graphs(precisions: ArrayLike) -> NDArray[np.bool_]:
    """Return the graphs of precision matrices: an edge where an entry is not zero.

    Parameters
    ----------
    precisions : array_like, shape (m, p, p)

    Returns
    -------
    ndarray of bool, shape (m, p, p)
        Adjacency matrices, symmetric, with an empty diagonal.
    """
    graphs: NDArray[np.bool_] = np.asarray(precisions) != 0
    graphs[:, np.arange(graphs.shape[1]), np.arange(graphs.shape[1])] = False
    return graphs


def _components(adjacency: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Return the members of each connected component of two or more.

    SciPy's `connected_components` spends more time on making a small matrix sparse than the rest of
    a step takes.
    """
    p = len(adjacency)
    reaches = adjacency | np.eye(p, dtype=bool)
    labels = np.arange(p)
    while True:
        # Each takes the least label among its neighbours, and then that one's label.
        smaller = np.where(reaches, labels, p).min(axis=1)
        smaller = smaller[smaller]
        if (smaller == labels).all():
            break
        labels = smaller
    sizes = np.bincount(labels, minlength=p)
    return [np.flatnonzero(labels == label) for label in np.flatnonzero(sizes > 1)]


def _follow(
    covariance: Floats, share: float, start_penalty: float, penalty: float, start: Floats, tolerance: float
) -> Floats:
    """Return the solution at `penalty`, reached from the one at `start_penalty`.

    A step that the solver cannot make is halved, on the logarithmic scale.
    """
    # Targets still to be reached, the nearest last.
    targets = [penalty]
    while True:
        target = targets[-1]
        shifted = covariance + share * target * np.eye(len(covariance))
        try:
            start = orthant_newton.minimize(shifted, target, start, tolerance)
        except orthant_newton.StalledError:
            if len(targets) > _MAX_HALVINGS:
                raise ConvergenceError(
                    f"the graphical lasso did not converge at penalty {penalty:.6g}: use larger "
                    "penalties (min_ratio), or drop one of each pair of columns that nearly repeat "
                    "each other"
                ) from None
            targets.append(float(np.sqrt(start_penalty * target)))
        else:
            start_penalty = targets.pop()
            if not targets:
                return start
