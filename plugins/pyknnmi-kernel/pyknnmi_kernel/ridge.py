"""What a ridge regression on features leaves over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Matrix = NDArray[np.float64]


class RidgeResiduals:
    """Residuals R F after ridge regression on centred features G of shape (n, m).

    R = I - G (G'G + penalty I)^-1 G', which equals penalty (G G' + penalty I)^-1. `between` is how often R stands
    between the features of x and of y in the statistic: once in RCIT, twice in KCI.
    """

    def __init__(self, features: Matrix, penalty: float, between: int) -> None:
        self._features = features
        self._penalty = penalty
        self._between = between
        self._normal = features.T @ features
        self._factor = cho_factor(self._normal + penalty * np.eye(len(self._normal)))
        self._inflation: float | None = None

    def of(self, features: Matrix) -> Matrix:
        """Return R F of shape (n, q) for centred features F of that shape."""
        residuals: Matrix = features - self._features @ cho_solve(self._factor, self._features.T @ features)
        return residuals

    @property
    def inflation(self) -> float:
        """How much too large a kernel test's statistic is on average under independence; at least 1.

        Let F and H be independent noise. The statistic is the sum of the squares of F' S H, where S is R to the power
        `between`, and has the expectation tr(S S) for unit variances. Its distribution is estimated from products of
        residuals row by row, as the sum of (R F)_t^2 (R H)_t^2, with the expectation sum_t (R R)_tt^2. That is less,
        for residuals are smaller than the noise, the more so the more the regression can fit. (In S and R the
        constant direction is left out: all features are centred.)
        """
        # Not a cached_property: before Python 3.12 that holds a lock meanwhile, which a child made by fork inherits.
        if self._inflation is None:
            self._inflation = self._computed_inflation()
        return self._inflation

    def _computed_inflation(self) -> float:
        n, m = self._features.shape
        eigenvalues = np.linalg.eigvalsh(self._normal)[max(0, m - (n - 1)) :]
        left = self._penalty / (eigenvalues + self._penalty)
        trace = max(n - 1 - m, 0) + (left ** (2 * self._between)).sum()
        inverse = cho_solve(self._factor, np.eye(m))
        fitted = self._features @ (inverse + self._penalty * inverse @ inverse)
        diagonal = 1 - 1 / n - (fitted * self._features).sum(axis=1)
        return float(trace / (diagonal**2).sum())
