"""Checks of what every generator is given."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from pyknnmi.errors import ParameterError

__all__ = ["Seed", "check_rows", "column_names", "random_state"]

Seed = int | np.random.RandomState


def check_rows(n: int) -> None:
    """Raise unless `n` rows make a data set."""
    if not isinstance(n, Integral):
        raise ParameterError(f"n = {n!r}: give a whole number of rows", "n")
    if n < 2:
        raise ParameterError(f"n = {n}: give at least 2 rows", "n")


def random_state(seed: Seed) -> np.random.RandomState:
    """Return the stream of a seed; one that is given goes on where it is."""
    if isinstance(seed, np.random.RandomState):
        return seed
    if not isinstance(seed, Integral) or not 0 <= seed < 2**32:
        raise ParameterError(f"seed = {seed!r}: give a whole number from 0 to 2**32 - 1", "seed")
    return np.random.RandomState(seed)


def column_names(p: int) -> tuple[str, ...]:
    """Return the names X1 to Xp."""
    return tuple(f"X{i + 1}" for i in range(p))
