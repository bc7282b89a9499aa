"""The same work, done by each library: every function returns a call without arguments, or None where it cannot."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

import pyknnmi

Call = Callable[[], object]
K = 3


def available(library: str) -> bool:
    module = {"causal-learn": "causallearn"}.get(library, library)
    return find_spec(module) is not None


def estimate(library: str, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Call | None:
    """One estimate of the mutual information of x and y given z."""
    conditions = z if z.shape[1] else None
    if library == "pyknnmi":
        return lambda: pyknnmi.conditional_mutual_information(x, y, z, K, threads=1)
    if library == "npeet_plus":
        from npeet_plus import mi

        return lambda: mi(x, y, conditions, k=K, base=np.e)
    if library == "ennemi":
        from ennemi import estimate_mi

        return lambda: estimate_mi(y[:, 0], x[:, 0], cond=conditions, k=K, preprocess=False, max_threads=1)
    if library == "tigramite":
        test, array, parts = _tigramite(x, y, z, permutations=1)
        return lambda: test.get_dependence_measure(array.copy(), parts)
    raise ValueError(library)


def permutations(library: str, x: np.ndarray, y: np.ndarray, z: np.ndarray, count: int) -> Call | None:
    """A permutation test with `count` permutations."""
    conditions = z if z.shape[1] else None
    if library == "pyknnmi":
        return lambda: pyknnmi.numbers.permutation_test(x, y, z, K, permutations=count, threads=1)
    if library == "npeet_plus":
        from npeet_plus import mi_pvalue

        return lambda: mi_pvalue(x, y, conditions, k=K, n_permutations=count, random_state=0)
    if library == "tigramite":
        test, array, parts = _tigramite(x, y, z, permutations=count)

        def run() -> object:
            value = test.get_dependence_measure(array.copy(), parts)
            return test.get_shuffle_significance(array.copy(), parts, value)

        return run
    raise ValueError(library)


def candidates(library: str, x: np.ndarray, ys: np.ndarray, z: np.ndarray) -> Call | None:
    """One estimate for each column of `ys`."""
    if library == "pyknnmi":
        return lambda: pyknnmi.numbers.conditional_mutual_informations(x, ys, z, K, threads=1)
    calls = [estimate(library, x, ys[:, [j]], z) for j in range(ys.shape[1])]
    return lambda: [call() for call in calls if call]


def _tigramite(x: np.ndarray, y: np.ndarray, z: np.ndarray, permutations: int) -> tuple:
    from tigramite.independence_tests.cmiknn import CMIknn

    test = CMIknn(knn=K, transform="none", workers=1, seed=1, sig_blocklength=1, sig_samples=permutations)
    array = np.hstack([x, y, z]).T
    return test, array, np.array([0, 1] + [2] * z.shape[1])


class NpeetBound(pyknnmi.components.BoundTest):
    """npeet_plus as a CI test of ours, so that the same learner can use it."""

    def __init__(self, dataset: pyknnmi.Dataset, count: int) -> None:
        self._values = pyknnmi.numbers.standardized(dataset.values)
        self._count = count

    def associations(self, x: int, candidates: list[int], z: tuple[int, ...]) -> np.ndarray:
        from npeet_plus import mi

        conditions = self._values[:, list(z)] if z else None
        return np.array(
            [mi(self._values[:, [x]], self._values[:, [y]], conditions, k=K, base=np.e) for y in candidates]
        )

    def test(self, x: int, y: int, z: tuple[int, ...]) -> pyknnmi.CIResult:
        from npeet_plus import mi_pvalue

        conditions = self._values[:, list(z)] if z else None
        found = mi_pvalue(
            self._values[:, [x]], self._values[:, [y]], conditions, k=K, n_permutations=self._count, random_state=0
        )
        value, p_value = found[0], found[1]
        return pyknnmi.CIResult(
            statistic=float(value),
            p_value=float(p_value),
            independent=bool(p_value >= 0.05),
            n=len(self._values),
            decided_by="permutations",
            permutations=self._count,
        )
