"""causal-learn: its PC and FCI with our tests, and its tests in our specs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

from pyknnmi.bridges.p_values import PValueTest, alpha_of, p_value_to_decide
from pyknnmi.bridges.versions import require
from pyknnmi.data.columns import Kind
from pyknnmi.data.dataset import Dataset, Missing
from pyknnmi.errors import DataError, ParameterError
from pyknnmi.graphs.graph import Graph
from pyknnmi.learning.bind import TableTest, bind
from pyknnmi.learning.preparation import to_dataset
from pyknnmi.protocols.ci_tests import BoundTest, CITest
from pyknnmi.run import Run

__all__ = ["CausalLearn", "fci", "pc", "register", "skeleton"]


def pc(
    data: Any,
    test: str | CITest = "knn-cmi",
    *,
    seed: int = 0,
    threads: int = 0,
    missing: Missing = "raise",
    **options: Any,
) -> Any:
    """Return the graph that causal-learn's PC finds with a test of ours.

    Parameters
    ----------
    data, test, seed, threads, missing
        As in `pyknnmi.bind`. PC decides at the alpha of the test.
    **options
        Further arguments of causal-learn's ``pc``.

    Returns
    -------
    causallearn.graph.GraphClass.CausalGraph
        With the names of the columns; `skeleton` returns its edges.
    """
    require("causal-learn")
    from causallearn.search.ConstraintBased.PC import pc

    dataset, table, options = _prepared(data, test, seed, threads, missing, options)
    return pc(dataset.values, alpha_of(table.component), register(), table=table, **options)


def fci(
    data: Any,
    test: str | CITest = "knn-cmi",
    *,
    seed: int = 0,
    threads: int = 0,
    missing: Missing = "raise",
    **options: Any,
) -> Any:
    """Return the graph and the list of edges that causal-learn's FCI finds with a test of ours; otherwise as `pc`."""
    require("causal-learn")
    from causallearn.search.ConstraintBased.FCI import fci

    dataset, table, options = _prepared(data, test, seed, threads, missing, options)
    return fci(dataset.values, register(), alpha_of(table.component), table=table, **options)


def skeleton(graph: Any) -> Graph:
    """Return which columns a graph of `pc` or `fci` joins, whatever the marks at the ends of its edges."""
    theirs = getattr(graph, "G", graph)
    return Graph.from_adjacency(theirs.graph != 0, [node.get_name() for node in theirs.get_nodes()])


def register() -> str:
    """Register our tests with causal-learn, and return the name of the method.

    ``CIT(data, register(), table=pyknnmi.bind(data, "knn-cmi"))`` and the searches of causal-learn then take it.
    A search must decide at the alpha of the test, as `pc` and `fci` here see to.
    """
    require("causal-learn")
    from causallearn.utils.cit import register_ci_test

    register_ci_test("pyknnmi", _table_cit())
    return "pyknnmi"


def _prepared(
    data: Any, test: str | CITest, seed: int, threads: int, missing: Missing, options: dict[str, Any]
) -> tuple[Dataset, TableTest, dict[str, Any]]:
    if "alpha" in options:
        raise ParameterError("alpha is that of the test, so write it there, such as knn-cmi(alpha=0.01)", "alpha")
    dataset = to_dataset(data, missing)
    table = bind(dataset, test, seed=seed, threads=threads)
    return dataset, table, {"node_names": list(dataset.names), "show_progress": False, **options}


@cache
def _table_cit() -> type:
    from causallearn.utils.cit import CIT_Base

    class TableCIT(CIT_Base):
        """A bound test as causal-learn knows them: columns by number, a p-value back."""

        def __init__(self, data: Any, table: TableTest, **other: Any) -> None:
            super().__init__(data)
            if np.shape(data) != (table.n, len(table.names)):
                raise DataError(f"the table of the test has another shape than the data, {np.shape(data)}")
            if other:  # their cache file compares the first and last rows of tables only
                raise ParameterError(f"a test of pyknnmi takes no {', '.join(other)}")
            self.method = "pyknnmi"
            self.table = table

        def __call__(self, X: Any, Y: Any, condition_set: Any = None) -> float:
            answer = self.table.test(int(X), int(Y), [int(column) for column in condition_set or ()])
            return p_value_to_decide(answer, alpha_of(self.table.component))

    return TableCIT


@dataclass(frozen=True, kw_only=True)
class CausalLearn(CITest):
    """A test of the package causal-learn.

    The statistic is minus the logarithm of the p-value; where p-values are zero in floating point, candidates tie.

    Parameters
    ----------
    test : fisherz, kci, fastkci, rcit, chisq, gsq
        As causal-learn calls it. ``chisq`` and ``gsq`` are for categories, the others for numbers. ``kci`` takes time
        that grows with the cube of the rows.
    alpha : float, in (0, 1)
        Dependent when p < alpha.

    References
    ----------
    Zheng et al. (2024), "Causal-learn: causal discovery in Python", Journal of Machine Learning Research 25(60).
    """

    name: ClassVar[str] = "causal-learn"
    needs_seed: ClassVar[bool] = True
    distributions: ClassVar[tuple[str, ...]] = ("causal-learn",)

    test: Literal["fisherz", "kci", "fastkci", "rcit", "chisq", "gsq"] = "fisherz"
    alpha: float = 0.05

    @property
    def _for_categories(self) -> bool:
        return self.test in ("chisq", "gsq")

    def accepts(self, kind: Kind) -> bool:
        """Return whether the test takes columns of this kind."""
        return (kind == "discrete") is self._for_categories

    def check(self) -> None:
        """Check the range."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        if self._for_categories and len(dataset.discrete_columns()) < dataset.p:
            raise DataError(f"{self} takes categories only: make categories of numbers, or take another test")
        return _BoundCIT(self, dataset, run)


class _BoundCIT(PValueTest):
    def __init__(self, component: CausalLearn, dataset: Dataset, run: Run) -> None:
        super().__init__(component, dataset, run)
        require("causal-learn")
        from causallearn.utils.cit import CIT

        values = dataset.values.astype(np.int64) if component._for_categories else dataset.values  # noqa: SLF001
        self._cit = CIT(values, component.test)

    def p_value(self, x: int, y: int, z: tuple[int, ...]) -> float:
        return float(self._cit(x, y, z))
