"""Regressors by name."""

from __future__ import annotations

import importlib
import re
from typing import Any

from pyknnmi.components import ParameterError

WORDS = ("kernel-ridge", "gradient-boosting", "linear")
_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def is_regressor_name(name: str) -> bool:
    """Return whether `name` is one of the words, or reads like a dotted path. Nothing is imported."""
    return name in WORDS or bool(_PATH.fullmatch(name))


def make_regressor(name: str, columns: int) -> Any:
    """Return an unfitted scikit-learn regressor for so many standardised columns.

    Raises
    ------
    ParameterError
        A dotted path that leads to no regressor.
    """
    if name == "kernel-ridge":
        from sklearn.kernel_ridge import KernelRidge

        # The kernel's standard deviation is the root mean square distance of two rows, sqrt(2 columns): wide enough
        # not to fit noise when there are many columns.
        return KernelRidge(kernel="rbf", gamma=1 / (4 * columns), alpha=0.1)
    if name == "gradient-boosting":
        from sklearn.ensemble import GradientBoostingRegressor

        return GradientBoostingRegressor()
    if name == "linear":
        from sklearn.linear_model import LinearRegression

        return LinearRegression()
    return _by_path(name)


def _by_path(path: str) -> Any:
    from sklearn.base import is_regressor

    module, _, attribute = path.rpartition(".")
    try:
        regressor = getattr(importlib.import_module(module), attribute)()
    except Exception as error:
        raise ParameterError(
            f"the regressor '{path}' cannot be made: {type(error).__name__}: {error}", "regressor"
        ) from error
    if not is_regressor(regressor):
        raise ParameterError(f"'{path}' is no scikit-learn regressor", "regressor")
    return regressor
