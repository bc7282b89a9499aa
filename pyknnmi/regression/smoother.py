"""Smooth regression on a conditioning set, factorised once and used for any number of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Smoothed", "Smoother"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

RIDGES = np.array([1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0])
"""Penalties of the kernel part. The linear part alone is tried too."""

_WIDEST = 1.6  # of a Gaussian kernel on columns of unit variance; each narrower one has half the width
_FLOOR = 1e-3  # of 1 - leverage, or a row that its own value alone fits would decide about a ridge
_RANK = 1e-6  # eigenvalues between landmarks below this share of the largest are rounding
_SPREAD = 1e-7  # mean square over the rows of a direction that the linear part leaves out; below it is rounding

# BLAS and LAPACK share larger products and eigenvalue problems among threads, and then the last digits would depend on
# how many there are. OpenBLAS does so when a product takes more than 64^3 multiplications.
_MOST_LANDMARKS = 64
_ROWS = 32


@dataclass(frozen=True)
class Smoothed:
    """What a smoother made of a column.

    Attributes
    ----------
    residuals : ndarray, shape (n,)
        The column less its fit to the same rows.
    r_squared : float
        1 - mean squared leave-one-out error / variance; negative where the mean predicts better than the fit.
    degrees_of_freedom : float
        Trace of the map from the values to their fit.
    """

    residuals: Vector
    r_squared: float
    degrees_of_freedom: float


class Smoother:
    """Regression on the columns z: an unpenalised linear part, and kernel ridge regression of what that leaves.

    The kernels are Gaussian in all columns of z, additive (the mean of Gaussians in one column each), and of the
    ANOVA kind (the product of (1 + Gaussian) / 2 over the columns), of several widths. They are approximated from
    landmarks, which are rows taken at random (Nyström). Each column that is smoothed has the kernel and the ridge of
    the least leave-one-out error, which has a closed form. All but that choice depends on z alone.

    Parameters
    ----------
    z : ndarray, shape (n, d)
        Columns of unit variance.
    random : numpy Generator
        Draws the landmarks: n/3 rows, 20 + 2 sqrt(n) at most, and never more than 64.

    References
    ----------
    Williams and Seeger (2001), "Using the Nyström method to speed up kernel machines", NIPS; leave-one-out error:
    Craven and Wahba (1979), doi:10.1007/BF01404567; ANOVA kernels: Durrande, Ginsbourger, Roustant and Carraro
    (2013), doi:10.1016/j.jmva.2012.08.016.
    """

    def __init__(self, z: Matrix, random: np.random.Generator) -> None:
        n = self._n = len(z)
        # Rows of zeros fill the last block. They are zero in all that follows, and so change no sum.
        self._filled = -(-n // _ROWS) * _ROWS
        self._linear = _orthonormal(_orthonormal(self._fill(np.column_stack([np.ones(n), z]))))
        self._linear_leverage = (self._linear**2).sum(axis=1)
        most = max(1, min(n // 3, int(20 + 2 * math.sqrt(n)), _MOST_LANDMARKS))
        landmarks = np.sort(random.choice(n, most, replace=False))
        factors = (self._factor(self._fill(kernel), kernel[landmarks]) for kernel in _kernels(z, z[landmarks]))
        self._factors = [factor for factor in factors if factor.basis.shape[1]]

    @property
    def linear_columns(self) -> int:
        """Number of independent columns in the linear part, the constant among them."""
        return int(self._linear.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory that the factorisation takes."""
        return self._linear.nbytes + sum(factor.nbytes for factor in self._factors)

    def smooth(self, column: Vector) -> Smoothed:
        """Return the residuals of a column, shape (n,), with the kernel and the ridge that suit it.

        It takes one column at a time, so that its result does not depend, in the last digit, on the others.
        """
        left = self._without_linear(self._fill(column[:, None]))
        residuals = left[:, 0]
        error = float(self._errors(left, 1 / np.maximum(1 - self._linear_leverage, _FLOOR)[:, None])[0])
        freedom = float(self.linear_columns)
        for factor in self._factors:
            loadings = factor.shrinkage * _cross_product(factor.basis, left)
            found = left - _product(factor.basis, loadings)
            errors = self._errors(found, factor.leave_one_out)
            best = int(errors.argmin())
            if errors[best] < error:
                residuals = found[:, best]
                error = float(errors[best])
                freedom = self.linear_columns + float(factor.shrinkage[:, best].sum())
        variance = float(column.var())
        return Smoothed(residuals[: self._n], 1 - error / variance if variance > 0 else 0.0, freedom)

    def _fill(self, columns: Matrix) -> Matrix:
        filled = np.zeros((self._filled, columns.shape[1]))
        filled[: self._n] = columns
        return filled

    def _errors(self, residuals: Matrix, leave_one_out: Matrix) -> Vector:
        """Return the mean squared leave-one-out errors."""
        errors: Vector = ((residuals * leave_one_out) ** 2).sum(axis=0) / self._n
        return errors

    def _without_linear(self, columns: Matrix) -> Matrix:
        return columns - _product(self._linear, _cross_product(self._linear, columns))

    def _factor(self, kernel: Matrix, between: Matrix) -> _Factor:
        """Return the directions that a kernel adds to the linear part."""
        values, vectors = np.linalg.eigh(between)
        kept = values > _RANK * values[-1]
        features = self._without_linear(_product(kernel, vectors[:, kept] / np.sqrt(values[kept])))
        values, vectors = np.linalg.eigh(_cross_product(features, features))
        kept = values > _SPREAD * self._n
        basis = _product(features, vectors[:, kept] / np.sqrt(values[kept]))
        shrinkage = values[kept, None] / (values[kept, None] + RIDGES)
        leverage = self._linear_leverage[:, None] + _product(basis**2, shrinkage)
        return _Factor(basis, shrinkage, 1 / np.maximum(1 - leverage, _FLOOR))


@dataclass(frozen=True)
class _Factor:
    """What one kernel adds to the linear part.

    The orthonormal directions are of shape (n, r). For each ridge follow how much of each direction stays in the fit,
    shape (r, ridges), and what a residual is to be multiplied by to be the leave-one-out error, shape (n, ridges).
    """

    basis: Matrix
    shrinkage: Matrix
    leave_one_out: Matrix

    @property
    def nbytes(self) -> int:
        return self.basis.nbytes + self.shrinkage.nbytes + self.leave_one_out.nbytes


def _kernels(z: Matrix, landmarks: Matrix) -> Iterator[Matrix]:
    """Yield the kernels between all rows and the landmarks."""
    d = z.shape[1]
    squared = np.zeros((len(z), len(landmarks)))
    for j in range(d):
        squared += (z[:, [j]] - landmarks[:, j]) ** 2
    yield from _halving_widths(np.exp(squared / (-2 * d * _WIDEST**2)), 4 if d == 1 else 3)
    if d > 1:
        additive = [np.zeros_like(squared) for _ in range(3)]
        anova = [np.ones_like(squared) for _ in range(2)]
        for j in range(d):  # one by one: all at once would take d times the memory
            each = _halving_widths(np.exp((z[:, [j]] - landmarks[:, j]) ** 2 / (-2 * _WIDEST**2)), 3)
            additive = [total + gaussian / d for total, gaussian in zip(additive, each, strict=True)]
            anova = [product * (1 + gaussian) / 2 for product, gaussian in zip(anova, each, strict=False)]
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


def _blocks(columns: Matrix) -> NDArray[np.float64]:
    return columns.reshape(len(columns) // _ROWS, _ROWS, columns.shape[1])
