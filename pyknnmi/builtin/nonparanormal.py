"""The nonparanormal transform: every column is given a normal distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pyknnmi.components import Dataset, Transform
from pyknnmi.numbers import average_ranks


@dataclass(frozen=True, kw_only=True)
class Nonparanormal(Transform):
    """Normal quantiles of each column's ranks, scaled to unit variance.

    If some monotone functions of the columns are jointly Gaussian, the result is, nearly.

    Parameters
    ----------
    method : shrunken, truncated
        ``shrunken`` takes the quantile of rank / (n + 1). ``truncated`` takes that of rank / n kept within [t, 1 - t],
        t = 1 / (4 n^(1/4) sqrt(pi log n)). Ties share their average rank.

    Notes
    -----
    All columns are divided by one number: the sample standard deviation (ddof 1) that a column without ties has. R's
    package huge divides by that of the first column, which is the same number when it has no ties.

    References
    ----------
    Liu, Lafferty and Wasserman (2009), "The nonparanormal", Journal of Machine Learning Research 10.
    """

    name: ClassVar[str] = "nonparanormal"

    method: Literal["shrunken", "truncated"] = "shrunken"

    def apply(self, dataset: Dataset) -> Dataset:
        """Return the transformed data."""
        n = dataset.n
        scale = self._quantiles(np.arange(1.0, n + 1)).std(ddof=1)
        columns = [self._quantiles(average_ranks(column)) / scale for column in dataset.values.T]
        return Dataset(np.column_stack(columns), dataset.names)

    def _quantiles(self, ranks: NDArray[np.float64]) -> NDArray[np.float64]:
        n = len(ranks)
        if self.method == "shrunken":
            levels = ranks / (n + 1)
        else:
            margin = 1 / (4 * n**0.25 * math.sqrt(math.pi * math.log(n)))
            levels = np.clip(ranks / n, margin, 1 - margin)
        distinct, place = np.unique(levels, return_inverse=True)
        return np.array([_QUANTILE(level) for level in distinct])[place]


_QUANTILE = NormalDist().inv_cdf
