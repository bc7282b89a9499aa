"""Smooth regression on a conditioning set, factorised once and used for any number of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyknnmi.run import check_memory

__all__ = ["Fit", "Smoothed", "Smoother", "smooth_scale"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

RIDGES = np.array([1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0])
"""Penalties of the kernel part. The linear part alone is tried too."""

_WIDEST = 1.6  # of a Gaussian kernel on columns of unit variance; each narrower one has half the width
_RANK = 1e-6  # of the trace: added to the kernel between landmarks, which has directions that are rounding
_SMALLEST = 1e-3  # smallest residual in a regression of logarithms, in standard deviations
_SPREAD = 1e-7  # mean square over the rows of a direction that the linear part leaves out; below it is rounding

# BLAS and LAPACK share larger products and eigenvalue problems among threads, and then the last digits would depend on
# how many there are. OpenBLAS does so when a product of matrices takes more than 64^3 multiplications, and one with a
# vector more than 9 * 2^10.
_MOST_LANDMARKS = 64
_ROWS = 32


@dataclass(frozen=True)
class Kernel:
    """What one kernel adds to the linear part.

    Its values at the m landmarks, shape (n, m), times the directions, shape (m, r), are orthonormal once the linear
    part is taken from them. For each ridge follow how much of each direction stays in the fit, and by how much the
    square of a loading lowers the sum of squares, both of shape (ridges, r), and the degrees of freedom.
    """

    values: Matrix
    directions: Matrix
    shrinkage: Matrix
    explained: Matrix
    freedom: Vector

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + self.directions.nbytes + 2 * self.shrinkage.nbytes


@dataclass(frozen=True)
class Fit:
    """A kernel, and how much of each of its directions stays in the fit, shape (r,)."""

    kernel: Kernel
    shrinkage: Vector


@dataclass(frozen=True)
class Smoothed:
    """What a smoother made of a column.

    Attributes
    ----------
    residuals : ndarray, shape (n,)
        The column less its fit to the same rows.
    r_squared : float
        1 - mean squared error by generalized cross-validation / variance; negative where the mean predicts better than
        the fit.
    degrees_of_freedom : float
        Trace of the map from the values to their fit.
    fit : Fit, optional
        The kernel and how much of its directions stays in the fit; None for the linear part alone.
    """

    residuals: Vector
    r_squared: float
    degrees_of_freedom: float
    fit: Fit | None = None


class Smoother:
    """Regression on the columns z: an unpenalised linear part, and kernel ridge regression of what that leaves.

    The kernels are Gaussian in all columns of z, additive (the mean of Gaussians in one column each), and of the
    ANOVA kind (the product of (1 + Gaussian) / 2 over the columns), of several widths. One more, for effects with
    steps, is the mean of ``exp(-distance)`` in one column each. Kernels are approximated from landmarks, which are
    rows taken at random (Nyström). Each column that is smoothed has the kernel and the ridge of the least error by
    generalized cross-validation, (RSS / n) / (1 - degrees of freedom / n)^2. All but that choice depends on z alone.

    Parameters
    ----------
    z : ndarray, shape (n, d)
        Columns of unit variance.
    random : numpy Generator
        Draws the landmarks: n/3 rows, 20 + 2 sqrt(n) at most, and never more than 64.

    References
    ----------
    Williams and Seeger (2001), "Using the Nyström method to speed up kernel machines", NIPS; cross-validation:
    Craven and Wahba (1979), doi:10.1007/BF01404567; ANOVA kernels: Durrande, Ginsbourger, Roustant and Carraro
    (2013), doi:10.1016/j.jmva.2012.08.016.
    """

    def __init__(self, z: Matrix, random: np.random.Generator) -> None:
        n = self._n = len(z)
        columns, kernels = z.shape[1] + 1, 5 if z.shape[1] == 1 else 9
        check_memory(
            8.0 * (n * (4 * columns + 2 * kernels * min(n // 3, _MOST_LANDMARKS)) + 3 * columns**2),
            f"a regression of {n} rows on {z.shape[1]} columns, with one for each category,",
            "take fewer rows, join rare categories, or condition on fewer columns",
        )
        # Rows of zeros fill the last block. They are zero in all that follows, and so change no sum.
        self._filled = -(-n // _ROWS) * _ROWS
        self._linear = _orthonormal(_orthonormal(self._fill(np.column_stack([np.ones(n), z]))))
        most = max(1, min(n // 3, int(20 + 2 * math.sqrt(n)), _MOST_LANDMARKS))
        landmarks = np.sort(random.choice(n, most, replace=False))
        self._values = np.zeros((kernels, self._filled, most))
        for values, kernel in zip(self._values, _kernels(z, z[landmarks]), strict=True):
            values[:n] = kernel
        self._kernels = self._factorised(landmarks)
        self._freedom = self.linear_columns + np.array([kernel.freedom for kernel in self._kernels])

    @property
    def linear_columns(self) -> int:
        """Number of independent columns in the linear part, the constant among them."""
        return int(self._linear.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory that the factorisation takes."""
        return self._linear.nbytes + sum(kernel.nbytes for kernel in self._kernels)

    def smooth(self, column: Vector) -> Smoothed:
        """Return the residuals of a column, shape (n,), with the kernel and the ridge that suit it.

        It takes one column at a time, so that its result does not depend, in the last digit, on the others.
        """
        left = self._without_linear(self._fill(column[:, None]))
        squares = float(left[:, 0] @ left[:, 0])
        freedom = float(self.linear_columns)
        error = self._error(squares, freedom)
        fit = None
        at_landmarks = (_blocks(self._values).transpose(0, 1, 3, 2) @ _blocks(left)).sum(axis=1)
        explained = [
            kernel.explained @ (kernel.directions.T @ loadings) ** 2
            for kernel, loadings in zip(self._kernels, at_landmarks[:, :, 0], strict=True)
        ]
        errors = self._error(squares - np.array(explained), self._freedom)
        which, ridge = np.unravel_index(int(errors.argmin()), errors.shape)
        if errors[which, ridge] < error:
            error = float(errors[which, ridge])
            freedom = float(self._freedom[which, ridge])
            fit = Fit(self._kernels[which], self._kernels[which].shrinkage[ridge])
        variance = float(column.var())
        return Smoothed(
            self._residuals(left, fit)[: self._n, 0], 1 - error / variance if variance > 0 else 0.0, freedom, fit
        )

    def residuals(self, columns: Matrix, fits: Sequence[Fit | None]) -> list[Matrix]:
        """Return what the kernel and the ridge of each of some other columns leave of these, shape (n, columns)."""
        left = self._without_linear(self._fill(columns))
        return [self._residuals(left, fit)[: self._n] for fit in fits]

    def _residuals(self, left: Matrix, fit: Fit | None) -> Matrix:
        """Return what is left of columns without their linear part."""
        if fit is None:
            return left
        kernel = fit.kernel
        loadings = kernel.directions.T @ _cross_product(kernel.values, left)
        fitted = _product(kernel.values, kernel.directions @ (fit.shrinkage[:, None] * loadings))
        return left - self._without_linear(fitted)

    def _fill(self, columns: Matrix) -> Matrix:
        filled = np.zeros((self._filled, columns.shape[1]))
        filled[: self._n] = columns
        return filled

    def _error(self, squares: Any, freedom: Any) -> Any:
        """Return the mean squared error by generalized cross-validation, of the sums of squares of residuals."""
        return np.maximum(squares, 0.0) / self._n / (1 - freedom / self._n) ** 2

    def _without_linear(self, columns: Matrix) -> Matrix:
        return columns - _product(self._linear, _cross_product(self._linear, columns))

    def _factorised(self, landmarks: NDArray[np.intp]) -> list[Kernel]:
        """Return what each kernel adds to the linear part."""
        m = len(landmarks)
        roots = np.linalg.inv(np.linalg.cholesky(self._values[:, landmarks] + _RANK * m * np.eye(m)))
        products = np.empty_like(roots)
        for values, product in zip(self._values, products, strict=True):
            linear = _cross_product(self._linear, values)
            product[:] = _cross_product(values, values) - linear.T @ linear
        factors = np.linalg.eigh(roots @ products @ roots.transpose(0, 2, 1))
        return [self._kernel(*each) for each in zip(self._values, roots, *factors, strict=True)]

    def _kernel(self, values: Matrix, root: Matrix, squares: Vector, vectors: Matrix) -> Kernel:
        kept = squares > _SPREAD * self._n
        directions = root.T @ (vectors[:, kept] / np.sqrt(squares[kept]))
        shrinkage = squares[kept] / (squares[kept] + RIDGES[:, None])
        return Kernel(values, directions, shrinkage, 1 - (1 - shrinkage) ** 2, shrinkage.sum(axis=1))


def smooth_scale(residuals: Vector, smooth: Callable[[Vector], Smoothed]) -> Vector:
    """Return how large residuals are as a smooth function of z, shape (n,): the exponential of their mean logarithm.

    Parameters
    ----------
    residuals : ndarray, shape (n,)
        What is left of a column.
    smooth : callable
        Smooths a column on z, as `Smoother.smooth`.
    """
    least = _SMALLEST * max(residuals.std(), np.finfo(float).tiny)
    logarithms = np.log(np.maximum(np.abs(residuals), least))
    scale: Vector = np.exp(logarithms - smooth(logarithms).residuals)
    return scale


def _kernels(z: Matrix, landmarks: Matrix) -> Iterator[Matrix]:
    """Yield the kernels between all rows and the landmarks."""
    d = z.shape[1]
    squared = np.zeros((len(z), len(landmarks)))
    for j in range(d):
        squared += (z[:, [j]] - landmarks[:, j]) ** 2
    yield from _halving_widths(np.exp(squared / (-2 * d * _WIDEST**2)), 4 if d == 1 else 3)
    rough = np.zeros_like(squared)
    for j in range(d):
        rough += np.exp(-np.abs(z[:, [j]] - landmarks[:, j])) / d
    yield rough
    if d > 1:
        additive = [np.zeros_like(squared) for _ in range(3)]
        anova = [np.full_like(squared, 0.5**d) for _ in range(2)]
        for j in range(d):  # one by one: all at once would take d times the memory
            each = _halving_widths(np.exp((z[:, [j]] - landmarks[:, j]) ** 2 / (-2 * _WIDEST**2)), 3)
            for width, gaussian in enumerate(each):
                additive[width] += gaussian / d
            for width in range(2):
                anova[width] *= 1 + each[width]
        yield from additive
        yield from anova


def _halving_widths(gaussian: Matrix, count: int) -> list[Matrix]:
    """Return the Gaussian kernel and those of 1/2, 1/4, ... of its width: each the fourth power of the one before."""
    kernels = [gaussian]
    while len(kernels) < count:
        square = kernels[-1] * kernels[-1]
        kernels.append(square * square)
    return kernels


def _orthonormal(columns: Matrix) -> Matrix:
    """Return a basis of the columns, without directions that are rounding: orthonormal but for the error of squares."""
    values, vectors = np.linalg.eigh(_cross_product(columns, columns))
    kept = values > 1e-12 * values[-1]
    return _product(columns, vectors[:, kept] / np.sqrt(values[kept]))


def _product(a: Matrix, b: Matrix) -> Matrix:
    """Return a @ b."""
    product: Matrix = (_blocks(a) @ b).reshape(len(a), b.shape[1])
    return product


def _cross_product(a: Matrix, b: Matrix) -> Matrix:
    """Return a.T @ b."""
    product: Matrix = (_blocks(a).transpose(0, 2, 1) @ _blocks(b)).sum(axis=0)
    return product


def _blocks(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    *before, rows, width = columns.shape
    return columns.reshape(*before, rows // _ROWS, _ROWS, width)
