"""What the estimators share: a spec whose parameters scikit-learn can set, and the data door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import ParameterError, PyknnmiError
from pyknnmi.learning.pipeline import Pipeline
from pyknnmi.protocols.component import Component
from pyknnmi.run import Run

__all__ = ["SpecEstimator"]


class SpecEstimator(BaseEstimator):
    """Base of estimators with the parameter `spec`.

    The parameters of its components are parameters of the estimator too: ``learner__rule``, ``test__k``,
    ``transform__method``, ``wrapper__runs`` (with several of a kind ``transform1__method`` and so on). Setting one
    rewrites the spec.
    """

    spec: str
    random_state: Any
    threads: int
    n_jobs: int | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, those of the spec's components too."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if not deep or not isinstance(self.spec, str):
            return params
        try:
            pipeline = Pipeline.parse(self.spec)
        except PyknnmiError:  # `fit` says what is wrong with it
            return params
        for role, component in _roles(pipeline).items():
            params |= {f"{role}__{p.name}": getattr(component, p.name) for p in component.parameters()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the spec's components; `spec` itself comes first."""
        of_components = {key: value for key, value in params.items() if "__" in key}
        super().set_params(**{key: value for key, value in params.items() if key not in of_components})
        for key, value in of_components.items():
            self.spec = _with_parameter(self.spec, key, value)
        return self

    def _run(self) -> Run:
        seed = self.random_state
        if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
            seed = check_random_state(seed).randint(2**31)
        return Run(int(seed), self.threads, 1 if self.n_jobs is None else self.n_jobs)

    def _dataset(self, X: Any, **checks: Any) -> Dataset:
        """Return the features: a data frame keeps the kinds of its columns, all else becomes numbers."""
        if hasattr(X, "columns") and hasattr(X, "to_numpy"):
            validate_data(self, X, skip_check_array=True)
            return Dataset.of(X)
        values = validate_data(self, X, dtype=np.float64, ensure_min_samples=2, **checks)
        return Dataset.of(values, [f"x{i}" for i in range(values.shape[1])])


def _roles(pipeline: Pipeline) -> dict[str, Component]:
    """Return the components by kind, numbered where there are several of one kind, in the order of the spec."""
    components = pipeline.components()
    kinds = [component.kind for component in components]
    roles = {}
    for i, (kind, component) in enumerate(zip(kinds, components, strict=True)):
        roles[f"{kind}{kinds[:i].count(kind) + 1}" if kinds.count(kind) > 1 else kind] = component
    return roles


def _with_parameter(spec: str, key: str, value: Any) -> str:
    """Return a spec with one parameter of a component set."""
    role, _, name = key.partition("__")
    pipeline = Pipeline.parse(spec)
    roles = _roles(pipeline)
    component = roles.get(role)
    if component is None or name not in {parameter.name for parameter in component.parameters()}:
        known = [f"{role}__{p.name}" for role, component in roles.items() for p in component.parameters()]
        raise ParameterError(f"{spec} has no parameter '{key}' (it has {', '.join(known)})", key)
    change: Callable[..., Component] = replace
    roles[role] = change(component, **{name: value.item() if isinstance(value, np.generic) else value})
    return "+".join(map(str, roles.values()))
