"""Data of the tests: the names of the reference inputs, and made-up data that are hard for a solver."""

from __future__ import annotations

import numpy as np

EXACT = ["nonlin_gaussian", "nonlin_t", "lin_gaussian", "lin_t", "gwg_mixture_p8", "huge_random_d20"]
"""Inputs whose graphs were also computed exactly."""

ALL = [*EXACT, "huge_random_d20_cubed", "nonlin_uniform"]


def hard_data(kind: str, n: int, p: int) -> np.ndarray:
    data = np.random.default_rng(5).normal(size=(n, p))
    if kind == "random walk":
        return data.cumsum(axis=1)
    if kind == "common factor":
        return 3 * data[:, :1] + 0.1 * data
    if kind == "repeated columns":
        data[:, 1] = data[:, 0]
        data[:, 2] = -data[:, 0]
    return data
