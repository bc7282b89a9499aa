"""Partial correlations that survive collinear columns, and Fisher's z-test of them.

Source: Fisher (1924); the sample partial correlation of order q has the distribution of a plain correlation
with q fewer rows (Anderson 2003, Theorem 4.3.5).
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyknnmi.data.dataset import as_array
from pyknnmi.errors import DataError, ParameterError, check_choice
from pyknnmi.numbers.checks import check_real, check_whole
from pyknnmi.numbers.ranks import average_ranks
from pyknnmi.run import check_memory

__all__ = [
    "CorrelationKind",
    "FisherZResult",
    "PartialCorrelation",
    "PartialCorrelations",
    "correlation_matrix",
    "fisher_z",
    "standardized",
]

CorrelationKind = Literal["pearson", "spearman", "kendall"]

# A column is explained by others when less than this share of its variance is left: rounding leaves about
# 1e-15, and real measurements more.
_EXPLAINED = 1e-12

_MATRIX = 2_000  # columns; of more, the correlations are computed row by row when a question needs them
_KEPT = 2**26  # bytes of such rows that are kept for further questions


def standardized(values: ArrayLike) -> NDArray[np.float64]:
    """Return the columns with mean 0 and population standard deviation 1 (ddof 0).

    Columns are first scaled by a power of two, which is exact, so no finite column over- or underflows.
    Constant columns become zero.

    Raises
    ------
    DataError
        Anything but a table of numbers, shape (n, p).
    """
    values = _table(values)
    _, exponent = np.frexp(np.abs(values).max(axis=0))
    scaled = np.ldexp(values, -exponent)
    centred = scaled - scaled.mean(axis=0)
    centred -= centred.mean(axis=0)  # again: rounding leaves a rest where the mean is far above the deviation
    deviation = np.sqrt((centred**2).mean(axis=0))
    deviation[values.min(axis=0) == values.max(axis=0)] = np.inf
    return np.ascontiguousarray(centred / deviation)


_MATRICES = {"pearson": 2, "spearman": 3, "kendall": 3}
"""How many matrices of shape (p, p) are there at a time."""


def correlation_matrix(values: ArrayLike, kind: CorrelationKind = "pearson") -> NDArray[np.float64]:
    """Return the correlations between the columns of a table.

    Parameters
    ----------
    values : array_like, shape (n, p)
        A constant column gets the correlation 0 with every other.
    kind : {"pearson", "spearman", "kendall"}
        The two rank correlations come transformed to the scale of Pearson's: 2 sin(pi/6 rho) and sin(pi/2 tau) are
        what it is if some monotone functions of the columns are jointly Gaussian. Kendall's needs SciPy and time that
        grows with p^2 n log n.

    Returns
    -------
    ndarray, shape (p, p)
        Symmetric with a unit diagonal. From ranks it may be not quite positive definite.

    Raises
    ------
    ParameterError
        Another word for `kind`; Kendall's without SciPy.
    DataError
        Anything but a table of numbers.

    References
    ----------
    Liu, Han, Yuan, Lafferty and Wasserman (2012), "High-dimensional semiparametric Gaussian copula graphical models",
    Annals of Statistics 40, doi:10.1214/12-AOS1037, Eq. 3.2.
    """
    check_choice("kind", kind, get_args(CorrelationKind))
    values = _table(values)
    rows, p = values.shape
    check_memory(
        8.0 * p * (_MATRICES[kind] * p + rows),
        f"the correlation matrix of {p} columns",
        "leave columns out, or take a test that needs no such matrix, such as knn-cmi",
    )
    if kind == "kendall":
        matrix = np.eye(p)
        for i in range(p):
            matrix[i, :i] = matrix[:i, i] = _kendall(values[:, i], values[:, :i])
        return matrix
    columns = _compared(values, kind)
    matrix = _on_the_scale(columns.T @ columns / rows, kind)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _compared(values: NDArray[np.float64], kind: CorrelationKind) -> NDArray[np.float64]:
    """Return the columns whose mean products are the correlations."""
    ranked = np.column_stack([average_ranks(column) for column in values.T]) if kind == "spearman" else values
    return standardized(ranked)


def _on_the_scale(correlations: NDArray[np.float64], kind: CorrelationKind) -> NDArray[np.float64]:
    """Return what Pearson's correlations are where the columns are monotone functions of Gaussian ones."""
    return 2 * np.sin(np.pi / 6 * correlations) if kind == "spearman" else correlations


class _Rows:
    """The rows of a correlation matrix, each computed when it is needed; the latest are kept.

    A copy that is sent to another process starts with none.
    """

    def __init__(self, values: NDArray[np.float64], kind: CorrelationKind) -> None:
        self._values = values
        self._kind = kind
        self._columns = None if kind == "kendall" else np.ascontiguousarray(_compared(values, kind).T)
        kept = max(1, _KEPT // (8 * len(self)))
        self._row: Callable[[int], NDArray[np.float64]] = functools.lru_cache(maxsize=kept)(self._computed)

    def __reduce__(self) -> tuple[type[_Rows], tuple[NDArray[np.float64], CorrelationKind]]:
        return _Rows, (self._values, self._kind)

    def __len__(self) -> int:
        return int(self._values.shape[1])

    def __getitem__(self, i: int) -> NDArray[np.float64]:
        return self._row(i)

    def _computed(self, i: int) -> NDArray[np.float64]:
        if self._columns is None:
            row = _kendall(self._values[:, i], self._values)
        else:
            # Not by BLAS: it shares so large a product among threads, and the last digits would depend on how many.
            products = np.einsum("ij,j->i", self._columns, self._columns[i])
            row = _on_the_scale(products / len(self._values), self._kind)
        row[i] = 1.0
        row.flags.writeable = False
        return row


def _table(values: ArrayLike) -> NDArray[np.float64]:
    table = as_array(values, "the values")
    if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "fiub":
        raise DataError(f"the values have shape {table.shape} and type {table.dtype}: give a table of numbers (n, p)")
    if not np.isfinite(table).all():
        raise DataError("the values hold NaN or infinite values: drop or replace those rows")
    return table.astype(np.float64, copy=False)


def _square(correlation: ArrayLike) -> NDArray[np.float64]:
    matrix = _table(correlation)
    rows, columns = matrix.shape
    if rows != columns:
        raise DataError(f"a correlation matrix is square, and this one has shape ({rows}, {columns})")
    return matrix


def _kendall(column: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sin(pi/2 tau) of a column and each of the others; 0 with a constant."""
    try:
        from scipy.stats import kendalltau
    except ImportError:
        raise ParameterError("Kendall's correlation needs SciPy: pip install scipy, or take spearman") from None
    tau = np.zeros(others.shape[1])
    if column.min() < column.max():
        for j in np.flatnonzero(others.min(axis=0) < others.max(axis=0)):
            tau[j] = kendalltau(column, others[:, j]).statistic
    return np.asarray(np.sin(np.pi / 2 * tau))


@dataclass(frozen=True)
class PartialCorrelation:
    """A partial correlation with the conditioning columns that counted.

    Attributes
    ----------
    r : float
        In [-1, 1]; 0 when one of the two columns is explained by the conditioning set.
    rank : int
        Number of conditioning columns that add anything.
    redundant : tuple of int
        The conditioning columns that add nothing to those before them.
    """

    r: float
    rank: int
    redundant: tuple[int, ...]


class PartialCorrelations:
    """Partial correlations between columns, from their correlation matrix.

    Of a table of more than 2000 columns, `of` computes the rows of the matrix that the questions need, and keeps some.

    Parameters
    ----------
    correlation : array_like, shape (p, p)
        A correlation matrix.

    Raises
    ------
    DataError
        Anything but a square table of finite numbers.
    ParameterError
        From the methods: columns that are not given by their numbers from 0.
    """

    def __init__(self, correlation: ArrayLike | _Rows) -> None:
        self._correlation = correlation if isinstance(correlation, _Rows) else _square(correlation)

    @classmethod
    def of(cls, values: ArrayLike, kind: CorrelationKind = "pearson") -> PartialCorrelations:
        """Return the partial correlations of the columns of a table; see `correlation_matrix`."""
        check_choice("kind", kind, get_args(CorrelationKind))
        values = _table(values)
        if values.shape[1] <= _MATRIX:
            return cls(correlation_matrix(values, kind))
        return cls(_Rows(values, kind))

    def between(self, x: int, y: int, z: Sequence[int]) -> PartialCorrelation:
        """Return the partial correlation of columns x and y given the columns z."""
        r, redundant = self._partial(x, [y], z)
        return PartialCorrelation(float(r[0]), len(z) - len(redundant), redundant)

    def among(self, x: int, candidates: Sequence[int], z: Sequence[int]) -> NDArray[np.float64]:
        """Return the partial correlation of column x with each candidate given the columns z."""
        return self._partial(x, candidates, z)[0]

    def _partial(self, x: int, others: Sequence[int], z: Sequence[int]) -> tuple[NDArray[np.float64], tuple[int, ...]]:
        """Regress x and the others on z, one z after another, in the metric of the correlation matrix."""
        columns = self._numbers_of(x, others, z)
        left = np.array([self._correlation[i][columns] for i in columns[: len(z) + 1]])
        variance = np.ones(len(others))
        redundant = []
        for place, column in enumerate(z):
            pivot = left[place, place]
            if pivot <= _EXPLAINED:
                redundant.append(column)
                continue
            direction = left[place] / np.sqrt(pivot)
            left[place + 1 :] -= np.outer(left[place + 1 :, place] / np.sqrt(pivot), direction)
            variance -= direction[len(z) + 1 :] ** 2
        own, covariance = left[-1, len(z)], left[-1, len(z) + 1 :]
        free = (variance > _EXPLAINED) & (own > _EXPLAINED)
        scale = np.sqrt(np.where(free, own * variance, 1.0))
        return np.clip(np.where(free, covariance / scale, 0.0), -1.0, 1.0), tuple(redundant)

    def _numbers_of(self, x: int, others: Sequence[int], z: Sequence[int]) -> list[int]:
        try:
            columns = [operator.index(column) for column in (*z, x, *others)]
        except TypeError:
            columns = [-1]
        last = len(self._correlation) - 1
        if min(columns) < 0 or max(columns) > last:
            raise ParameterError(f"columns {x!r}, {others!r} and {z!r}: give whole numbers from 0 to {last}")
        return columns


@dataclass(frozen=True)
class FisherZResult:
    """Fisher's z-test of a partial correlation.

    Attributes
    ----------
    statistic : float
        sqrt(degrees of freedom) times atanh of the correlation; finite, with its sign.
    p_value : float
        Two-sided, in (0, 1]; not below the smallest normal double.
    log_p_value : float
        Its natural logarithm, exact also where `p_value` is at that limit.
    """

    statistic: float
    p_value: float
    log_p_value: float


def fisher_z(r: float, degrees_of_freedom: int) -> FisherZResult:
    """Return Fisher's z-test of a correlation.

    Parameters
    ----------
    r : float
        In [-1, 1]. Values that round to -1 or 1 are taken as the nearest number inside, so that the statistic stays
        finite.
    degrees_of_freedom : int
        n - 3 less the rank of the conditioning set, at least 1.

    Raises
    ------
    ParameterError
        Another number, or none.
    """
    check_real("r", r, -1.0, 1.0, rounding=1e-9)
    check_whole("degrees_of_freedom", degrees_of_freedom, 1, sys.maxsize)
    limit = 1.0 - sys.float_info.epsilon
    statistic = math.sqrt(degrees_of_freedom) * math.atanh(min(max(r, -limit), limit))
    log_p = _log_two_sided_normal(abs(statistic))
    return FisherZResult(statistic, max(math.exp(log_p), sys.float_info.min), log_p)


def _log_two_sided_normal(z: float) -> float:
    """Return log P(|Z| >= z); beyond z = 37 by the asymptotic series (Abramowitz and Stegun 26.2.12).

    There the series is off by 105 / z^8 = 3e-11, and up to there erfc is a normal double.
    """
    if z < 37.0:
        return math.log(math.erfc(z / math.sqrt(2.0)))
    series = 1.0 - 1.0 / z**2 + 3.0 / z**4 - 15.0 / z**6
    return math.log(2.0) - 0.5 * z * z - math.log(z * math.sqrt(2.0 * math.pi)) + math.log(series)
