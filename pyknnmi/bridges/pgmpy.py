"""pgmpy: its PC with our tests, and its tests in our specs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from pyknnmi.bridges.p_values import PValueTest, alpha_of
from pyknnmi.bridges.versions import require
from pyknnmi.data.columns import Kind
from pyknnmi.data.dataset import Dataset, Missing
from pyknnmi.errors import DataError, ParameterError
from pyknnmi.graphs.graph import Graph
from pyknnmi.learning.bind import TableTest, bind
from pyknnmi.learning.preparation import to_dataset
from pyknnmi.protocols.ci_tests import BoundTest, CITest
from pyknnmi.run import Run

__all__ = ["Pgmpy", "ci_test", "pc", "skeleton"]


def pc(
    data: Any,
    test: str | CITest = "knn-cmi",
    *,
    seed: int = 0,
    threads: int = 0,
    missing: Missing = "raise",
    **options: Any,
) -> Any:
    """Return pgmpy's PC estimator, fitted with a test of ours.

    Parameters
    ----------
    data, test, seed, threads, missing
        As in `pyknnmi.bind`. PC decides at the alpha of the test.
    **options
        Further arguments of ``pgmpy.causal_discovery.PC``. Left out, the conditioning sets are not limited, and the
        variant is ``stable``, in this process.

    Returns
    -------
    pgmpy.causal_discovery.PC
        With ``causal_graph_``; `skeleton` returns its edges.
    """
    require("pgmpy")
    from pgmpy.causal_discovery import PC

    if "significance_level" in options:
        raise ParameterError(
            "the significance level is the alpha of the test, so write it there, such as knn-cmi(alpha=0.01)",
            "significance_level",
        )
    dataset = to_dataset(data, missing)
    table = bind(dataset, test, seed=seed, threads=threads)
    alone = {"variant": "stable", "n_jobs": 1, "show_progress": False, "max_cond_vars": dataset.p}
    estimator = PC(ci_test=ci_test(table), significance_level=alpha_of(table.component), **{**alone, **options})
    return estimator.fit(_frame(dataset))


def skeleton(estimator: Any) -> Graph:
    """Return which columns a fitted estimator of `pc` joins."""
    return Graph(estimator.feature_names_in_, estimator.skeleton_.edges)


def ci_test(table: TableTest) -> Any:
    """Return a test bound by `pyknnmi.bind` in the form of pgmpy's own tests, for ``PC(ci_test=...)`` and others.

    What uses it must decide at the alpha of the test, and gets an error if it does not.
    """
    require("pgmpy")
    return _table_ci_test()(table)


@cache
def _table_ci_test() -> Any:
    from pgmpy.ci_tests import _BaseCITest
    from pgmpy.ci_tests._base import _CITestResult

    class TableCITest(_BaseCITest):
        """A bound test as pgmpy knows them."""

        def __init__(self, table: TableTest, use_cache: bool = False) -> None:  # the table remembers
            self.table = table
            super().__init__(use_cache=use_cache)

        def is_independent(self, X: str, Y: str, Z: Any = (), significance_level: float = 0.05) -> bool:
            alpha = alpha_of(self.table.component)
            if significance_level != alpha:
                raise ParameterError(
                    f"pgmpy decides at {significance_level} and {self.table.component.name} at {alpha}: give both the "
                    f"same, PC(significance_level={alpha})",
                    "significance_level",
                )
            return bool(super().is_independent(X, Y, Z, significance_level))

        def _compute_result(self, X: str, Y: str, Z: Any) -> Any:
            answer = self.table.test(X, Y, list(Z))
            return _CITestResult(answer.statistic, answer.p_value, effect_size=answer.statistic)

    return TableCITest


def _frame(dataset: Dataset) -> Any:
    """Return a data frame, as pgmpy wants, in which discrete columns are categories."""
    import pandas as pd

    frame = pd.DataFrame(dataset.values, columns=list(dataset.names))
    names = [dataset.names[i] for i in dataset.discrete_columns()]
    return frame.astype(dict.fromkeys(names, "category"))


@dataclass(frozen=True, kw_only=True)
class Pgmpy(CITest):
    """A test of the package pgmpy.

    The statistic is minus the logarithm of the p-value; where p-values are zero in floating point, candidates tie.

    Parameters
    ----------
    test : word
        As pgmpy calls it, ``-`` for ``_``: pearsonr, fisher-z, gcm for numbers; chi-square, g-sq for categories;
        pillai, wilks-lambda, generalized-cov for both.
    alpha : float, in (0, 1)
        Dependent when p < alpha.

    References
    ----------
    Ankan and Textor (2024), "pgmpy: a Python toolkit for Bayesian networks", Journal of Machine Learning Research
    25(265).
    """

    name: ClassVar[str] = "pgmpy"
    needs_seed: ClassVar[bool] = True
    distributions: ClassVar[tuple[str, ...]] = ("pgmpy",)

    test: str = "pearsonr"
    alpha: float = 0.05

    def accepts(self, kind: Kind) -> bool:
        """Return whether the test takes columns of this kind."""
        return kind in self._theirs().get_class_tag("data_types")

    def check(self) -> None:
        """Check the range."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        if not self.accepts("continuous") and len(dataset.discrete_columns()) < dataset.p:
            raise DataError(f"{self} takes categories only: make categories of numbers, or take another test")
        return _BoundPgmpy(self, dataset, run, self._theirs()(data=_frame(dataset)))

    def _theirs(self) -> Any:
        """Return their class of this name."""
        require("pgmpy")
        from pgmpy import ci_tests

        classes: list[Any] = [getattr(ci_tests, name) for name in ci_tests.__all__ if name[0].isupper()]
        known = {cls.get_class_tag("name").replace("_", "-"): cls for cls in classes}
        if self.test not in known:
            raise self.parameter_error("test", f"is no test of pgmpy (it has {', '.join(sorted(known))})")
        return known[self.test]


class _BoundPgmpy(PValueTest):
    def __init__(self, component: Pgmpy, dataset: Dataset, run: Run, theirs: Any) -> None:
        super().__init__(component, dataset, run)
        self._theirs = theirs

    def p_value(self, x: int, y: int, z: tuple[int, ...]) -> float:
        names = self._dataset.names
        _, p_value = self._theirs.run_test(names[x], names[y], [names[i] for i in z])
        return float(p_value)
