"""DoWhy: its check of a causal graph with our tests, and its tests in our specs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pyknnmi.bridges.p_values import PValueTest, alpha_of, p_value_to_decide
from pyknnmi.bridges.versions import require
from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import ParameterError
from pyknnmi.learning.bind import bind
from pyknnmi.protocols.ci_tests import BoundTest, CITest
from pyknnmi.registry.registry import parse_test
from pyknnmi.run import Run

__all__ = ["DoWhy", "IndependenceTest", "falsify_graph"]


def falsify_graph(
    causal_graph: Any, data: Any, test: str | CITest = "knn-cmi", *, seed: int = 0, threads: int = 1, **options: Any
) -> Any:
    """Return what DoWhy's ``gcm.falsify.falsify_graph`` finds with a test of ours.

    Parameters
    ----------
    causal_graph : networkx.DiGraph
        A directed acyclic graph of the columns.
    data : pandas.DataFrame
    test : str or CITest
        A CI test's spec, such as ``knn-cmi(k=5)``. Its alpha is DoWhy's ``significance_ci``.
    seed, threads
        As in `pyknnmi.ci_test`; DoWhy works on several tests side by side.
    **options
        Further arguments of DoWhy's function.
    """
    require("dowhy")
    from dowhy.gcm.falsify import falsify_graph

    if "significance_ci" in options:
        raise ParameterError(
            "significance_ci is the alpha of the test, so write it there, such as knn-cmi(alpha=0.01)",
            "significance_ci",
        )
    component = parse_test(test) if isinstance(test, str) else test
    ours = IndependenceTest(component, seed, threads)
    return falsify_graph(
        causal_graph,
        data,
        independence_test=ours,
        conditional_independence_test=ours,
        significance_ci=alpha_of(component),
        **{"show_progress_bar": False, **options},
    )


@dataclass(frozen=True)
class IndependenceTest:
    """A test of ours as DoWhy knows them: arrays in, a p-value back.

    Attributes
    ----------
    component : CITest
    seed, threads : int
        As in `pyknnmi.ci_test`.
    """

    component: CITest
    seed: int = 0
    threads: int = 1

    def __call__(self, x: Any, y: Any, z: Any = None) -> float:
        """Return the p-value for arrays x and y of n rows given z; text makes a column of categories."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for name, values in (("x", x), ("y", y), ("z", z)):
            if values is not None:
                matrix = np.asarray(values).reshape(len(values), -1)
                columns |= {f"{name}{i}": matrix[:, i] for i in range(matrix.shape[1])}
        frame = pd.DataFrame(columns).infer_objects()
        groups = [[column for column in columns if column[0] == name] for name in "xyz"]
        table = bind(frame, self.component, seed=self.seed, threads=self.threads)
        return p_value_to_decide(table.test(*groups), alpha_of(self.component))


@dataclass(frozen=True, kw_only=True)
class DoWhy(CITest):
    """A test of the package DoWhy.

    The statistic is minus the logarithm of the p-value; where p-values are zero in floating point, candidates tie.

    Parameters
    ----------
    test : kernel, approx-kernel, regression, gcm
        As DoWhy calls it, ``-`` for ``_``. ``kernel`` takes time that grows with the cube of the rows.
    alpha : float, in (0, 1)
        Dependent when p < alpha.

    References
    ----------
    Blöbaum et al. (2024), "DoWhy-GCM", Journal of Machine Learning Research 25(147).
    """

    name: ClassVar[str] = "dowhy"
    needs_seed: ClassVar[bool] = True
    distributions: ClassVar[tuple[str, ...]] = ("dowhy",)

    test: Literal["kernel", "approx-kernel", "regression", "gcm"] = "kernel"
    alpha: float = 0.05

    def check(self) -> None:
        """Check the range."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        return _BoundDoWhy(self, dataset, run)


class _BoundDoWhy(PValueTest):
    def __init__(self, component: DoWhy, dataset: Dataset, run: Run) -> None:
        super().__init__(component, dataset, run)
        require("dowhy")
        self._method = component.test.replace("-", "_")
        # Or it would start processes of its own for a single question.
        kernel = component.test in ("kernel", "approx-kernel")
        self._alone = {"bootstrap_n_jobs": 1} if kernel else {"n_jobs": 1} if component.test == "regression" else {}

    def p_value(self, x: int, y: int, z: tuple[int, ...]) -> float:
        from dowhy.gcm.independence_test import independence_test

        values = self._dataset.values
        given = values[:, list(z)] if z else None
        return float(independence_test(values[:, x], values[:, y], given, method=self._method, **self._alone))
