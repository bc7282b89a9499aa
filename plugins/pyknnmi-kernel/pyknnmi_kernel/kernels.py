"""Gaussian kernels as feature matrices: K = G G'."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf
from scipy.spatial.distance import cdist, pdist

from pyknnmi.components import check_memory
from pyknnmi.numbers import standardized

Matrix = NDArray[np.float64]


def unit_variance(values: Matrix) -> Matrix:
    """Return the columns with mean 0 and sample standard deviation 1 (ddof 1), as the published programs do."""
    scaled: Matrix = standardized(values) * np.sqrt((len(values) - 1) / len(values))
    return scaled


def centred_features(points: Matrix, width: float) -> Matrix:
    """Return G of shape (n, m) whose products G G' are the centred Gaussian kernel matrix of the points.

    The kernel is exp(-|a - b|^2 / (2 width^2)), and centring means H K H with H = I - 1/n. G comes from the pivoted
    Cholesky factor of K, which ends when what is left is rounding error: m is about 50 for one column of any
    length, and grows to n with the number of columns.
    """
    rows = len(points)
    check_memory(
        4 * 8.0 * rows**2, f"the kernel matrix of {rows} rows", "take fewer rows, or rcit or a test without kernels"
    )
    kernel = np.exp(-0.5 / width**2 * cdist(points, points, "sqeuclidean"))
    factor, pivots, rank, _ = dpstrf(kernel, lower=1, overwrite_a=1)
    features = np.empty((len(points), rank))
    features[pivots - 1] = np.tril(factor)[:, :rank]
    features -= features.mean(axis=0)
    return features


def median_distance(points: Matrix, most: int) -> float:
    """Return the median of the Euclidean distances above zero among the points, or 1 if there is none.

    Of more than `most` points, so many are taken at equal steps.
    """
    rows = np.linspace(0, len(points) - 1, min(len(points), most)).round().astype(int)
    distances = pdist(points[rows])
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0
