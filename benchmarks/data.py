"""Data for the benchmarks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pyknnmi


def gaussian(n: int, conditions: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x (n, 1), y (n, 1) and z (n, conditions): Gaussian, x and y dependent given z."""
    random = np.random.default_rng(seed)
    z = random.standard_normal((n, conditions))
    shared = z.sum(axis=1) / np.sqrt(conditions) if conditions else np.zeros(n)
    x = 0.6 * shared + random.standard_normal(n)
    y = 0.6 * shared + 0.5 * x + random.standard_normal(n)
    return x[:, None], y[:, None], z


def candidates(n: int, conditions: int, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x (n, 1), y (n, count) and z (n, conditions); each y depends on x to its own degree."""
    x, _, z = gaussian(n, conditions, seed)
    random = np.random.default_rng(seed + 1)
    weights = np.linspace(0, 1, count)
    return x, x * weights + random.standard_normal((n, count)), z


def sparse_network(n: int, p: int, seed: int = 1) -> np.ndarray:
    """Return an (n, p) table in which each column depends, not linearly, on about one before it."""
    random = np.random.default_rng(seed)
    table = random.standard_normal((n, p))
    for j in range(1, p):
        parent = random.integers(j)
        table[:, j] += np.cos(2 * table[:, parent]) + 0.5 * table[:, parent]
    return table


def real_tables() -> dict[str, pyknnmi.Dataset]:
    """Return two tables that scikit-learn ships, as numbers, and the cells of Sachs (2005) in the documentation."""
    from sklearn import datasets

    sachs = Path(__file__).parents[1] / "docs" / "data" / "sachs.csv"
    return {
        "diabetes": pyknnmi.Dataset.of(datasets.load_diabetes(as_frame=True).frame),
        "Sachs": pyknnmi.read_table(sachs),
        "breast cancer": pyknnmi.Dataset.of(datasets.load_breast_cancer(as_frame=True).frame),
    }
