"""The estimators as their formulas say, every pair of points looked at: what the fast ones must equal.

Sources: Kraskov, Stögbauer and Grassberger (2004), Eq. 8 and 20, doi:10.1103/PhysRevE.69.066138; Vejmelka and Paluš
(2008), doi:10.1103/PhysRevE.77.026214.
"""

from __future__ import annotations

import math

import numpy as np

EULER_GAMMA = 0.57721566490153286


def digamma(m: int) -> float:
    """psi(m) of a whole number: minus gamma, plus 1 + 1/2 + ... + 1/(m - 1)."""
    return math.fsum([-EULER_GAMMA, *(1 / i for i in range(1, m))])


def distances(points: np.ndarray) -> np.ndarray:
    """Max-norm distances between all rows of `points`, of shape (n, d); zero when d is 0."""
    result = np.zeros((len(points), len(points)))
    for column in points.T:
        np.maximum(result, np.abs(column[:, None] - column), out=result)
    return result


def kth_distances(joint: np.ndarray, k: int) -> np.ndarray:
    """Distance of each point to its k-th neighbour; the point itself is left out by its index."""
    others = joint.copy()
    np.fill_diagonal(others, np.inf)
    return np.sort(others, axis=1)[:, k - 1]


def neighbor_counts(x, y, z, k):
    """Neighbours of each point in (x, z), (y, z) and z, strictly nearer than the k-th in the joint space.

    Strictly up to a relative 1e-10, for distances that differ in their last bit only.
    """
    dx, dy, dz = distances(x), distances(y), distances(z)
    radius = kth_distances(np.maximum(np.maximum(dx, dy), dz), k)[:, None] * (1 - 1e-10)
    spaces = (np.maximum(dx, dz), np.maximum(dy, dz), dz)
    return tuple((space <= radius).sum(axis=1) - 1 for space in spaces)  # less the point itself


def conditional_mutual_information(x, y, z, k):
    """In nats. With an empty z every point counts there, so psi(n_z + 1) = psi(n): Eq. 8."""
    n_xz, n_yz, n_z = neighbor_counts(x, y, z, k)
    terms = (digamma(a + 1) + digamma(b + 1) - digamma(c + 1) for a, b, c in zip(n_xz, n_yz, n_z, strict=True))
    return digamma(k) - math.fsum(terms) / len(x)


def entropy(x, k):
    """In nats; Eq. 20, where epsilon is twice the distance to the k-th neighbour."""
    n, d = x.shape
    epsilon = 2 * kth_distances(distances(x), k)
    return digamma(n) - digamma(k) + d * math.fsum(map(math.log, epsilon)) / n
