"""A CI test bound to a table, and one question put to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from pyknnmi.auditing import find, in_warnings
from pyknnmi.data.dataset import Dataset, Missing
from pyknnmi.errors import DataError, ParameterError
from pyknnmi.learning.misplaced import misplaced_argument
from pyknnmi.learning.preparation import (
    Repeats,
    observations,
    prepared,
    to_dataset,
    weighed,
)
from pyknnmi.protocols.ci_tests import CIResult, CITest
from pyknnmi.registry.registry import parse_test
from pyknnmi.run import Run
from pyknnmi.search.constraints import Column
from pyknnmi.search.tester import Tester

__all__ = ["TableTest", "bind", "ci_test"]


_PLAIN = frozenset({str, int})  # and not bool, which compares equal to numbers


class TableTest:
    """A CI test bound to a table: it answers questions about columns, given by name or number. `bind` makes one.

    Answers are those that `learn` gets where it compares p-values; where it only decides, tests such as ``knn-cmi``
    make fewer permutations there. They are remembered, except about groups of columns. The test can be copied and
    pickled at any time, with its answers, and used from several threads. With ``threads=1`` these are served side by
    side, if the test is made for it. Otherwise they are served one after another, each on all threads.

    Attributes
    ----------
    component : CITest
        The test with its parameters.
    names : tuple of str
        The columns.
    n : int
        Rows.
    findings : tuple of AuditFinding
        What the table shows, and what follows from it, as in the result of `learn`.
    """

    def __init__(self, component: CITest, dataset: Dataset, run: Run) -> None:
        run.warn_of_fewer_threads()
        self.findings = weighed(find(dataset, relations=False), component, dataset)
        columns, _ = prepared(dataset, component, self.findings)
        self.component = component
        self.names = dataset.names
        self.n = dataset.n
        self._dataset = dataset
        self._tester = Tester(component, columns, run).for_threads() if columns.p else None
        place = {name: i for i, name in enumerate(columns.names)}
        self._inner = [place.get(name, -1) for name in dataset.names]
        self._known: dict[tuple[Column, ...], CIResult] = {}

    def test(
        self,
        x: Column | Sequence[Column],
        y: Column | Sequence[Column],
        given: Column | Sequence[Column] | None = (),
    ) -> CIResult:
        """Return whether `x` and `y` are independent given others.

        Parameters
        ----------
        x, y : str, int or sequence of these
            Two columns, by name or number from 0; or two groups of columns, for tests that take groups (knn-cmi).
        given : str, int or sequence of these
            The conditioning set; empty or None for an unconditional test.

        Returns
        -------
        CIResult
            A constant x or y is independent of everything: statistic 0, p-value 1. A constant in `given` changes
            nothing and is listed in ``redundant``.

        Raises
        ------
        UnknownNameError
            A column that does not exist.
        DataError
            A column that stands in two places.
        """
        question = (x, y, *given) if isinstance(given, list | tuple) else ()
        is_plain = question and _PLAIN.issuperset(map(type, question))
        if is_plain and (known := self._known.get(question)):
            return known
        answer = self._answer(x, y, given)
        if is_plain:
            self._known[question] = answer
        return answer

    def associations(
        self, x: Column, candidates: Sequence[Column], given: Column | Sequence[Column] | None = ()
    ) -> NDArray[np.float64]:
        """Return, for each candidate, how strongly it goes with `x` given others; larger is stronger.

        One call shares work over the candidates. The numbers rank them and do not decide: `test` does. That of a
        constant is minus infinity.

        Parameters
        ----------
        x : str or int
            A column, by name or number from 0.
        candidates : sequence of str or int
            Columns to compare, each once.
        given : str, int or sequence of these
            The conditioning set; empty or None for none.

        Returns
        -------
        ndarray, shape (number of candidates,)
            In the unit of the test's statistic, nats for knn-cmi, or in another that ranks alike.
        """
        groups = [self._dataset.columns_of(columns) for columns in (x, candidates, given)]
        self._check_disjoint(groups, "candidates")
        if len(groups[0]) > 1:
            raise ParameterError(f"x = {x!r}: give one column", "x")
        if not isinstance(candidates, str) and len(groups[1]) < len(candidates):
            raise ParameterError("candidates: give each column once, or its score would stand in another's place")
        (target,), others, zs = ([self._inner[i] for i in group] for group in groups)
        scores = np.full(len(others), -np.inf)
        varying = [place for place, i in enumerate(others) if i >= 0]
        if self._tester is not None and target >= 0 and varying:
            scores[varying] = self._tester.associations(target, [others[i] for i in varying], [i for i in zs if i >= 0])
        return scores

    def _answer(
        self, x: Column | Sequence[Column], y: Column | Sequence[Column], given: Column | Sequence[Column] | None
    ) -> CIResult:
        groups = [self._dataset.columns_of(columns) for columns in (x, y, given)]
        self._check_disjoint(groups)
        doubts = self._doubts([*groups[0], *groups[1]])
        xs, ys, zs = ([self._inner[i] for i in group if self._inner[i] >= 0] for group in groups)
        if self._tester is None or not xs or not ys:
            return CIResult.of_constant(self.n)
        if len(xs) == len(ys) == 1:
            answer = self._tester.test(xs[0], ys[0], zs)
        else:
            answer = self._test_groups(self._tester, xs, ys, zs)
        constants = [self.names[i] for group in groups for i in group if self._inner[i] < 0]
        if constants or doubts:
            answer = replace(answer, redundant=(*answer.redundant, *constants), doubts=doubts)
        return answer

    def _doubts(self, columns: Sequence[int]) -> tuple[str, ...]:
        """Return what speaks against an answer about these columns."""
        names = {self.names[i] for i in columns}
        return tuple(in_warnings(f for f in self.findings if not f.columns or names.intersection(f.columns)))

    def _test_groups(self, tester: Tester, xs: Sequence[int], ys: Sequence[int], zs: Sequence[int]) -> CIResult:
        has_missing = self._dataset.has_missing
        if not self.component.takes_groups or has_missing:
            raise ParameterError(
                f"{self.component.name} takes one column as x and one as y{' where values are missing' * has_missing}: "
                "test them one by one, or take knn-cmi on complete data"
            )
        return tester.test_groups(xs, ys, zs)

    def _check_disjoint(self, groups: Sequence[Sequence[int]], second: str = "y") -> None:
        x, y, given = map(set, groups)
        if not x or not y:
            raise DataError(f"x and {second} need a column each")
        for shared, where in ((x & y, f"in x and in {second}"), ((x | y) & given, "in the conditioning set too")):
            if shared:
                raise DataError(f"column '{self.names[min(shared)]}' is {where}")

    def __deepcopy__(self, memo: object) -> TableTest:
        """Return the same object: nothing in it ever changes except the memory, which threads share too."""
        return self

    def __repr__(self) -> str:
        return f"<TableTest of {self.component} on {self.n} rows of {len(self.names)} columns>"


def bind(
    data: Any,
    test: str | CITest = "knn-cmi",
    *,
    seed: int = 0,
    threads: int = 0,
    missing: Missing = "raise",
    repeats: Repeats = "keep",
    blocks: Column | None = None,
    **misplaced: Never,
) -> TableTest:
    """Return a CI test bound to a table, for many questions about it.

    What a table needs once (checks, standardizing, correlations) is then done once, and no question is computed twice.

    Parameters
    ----------
    data : path, array_like of shape (n, p), data frame or Dataset
        As in `learn`.
    test : str or CITest, default "knn-cmi"
        A CI test's spec, such as ``knn-cmi(k=5)``.
    seed, threads, missing, repeats, blocks
        As in `learn`.
    **misplaced
        Nothing: parameters of the test stand in its spec. The error for one that is given here shows how.

    Raises
    ------
    DataError, DataTypeError
        Data that cannot be used, naming the column.
    SpecError
        A spec that cannot be read, or names no CI test.

    Warns
    -----
    PyknnmiWarning
        Constant columns; rows that repeat or depend on each other; data that the test was not made for.

    Examples
    --------
    >>> import pyknnmi
    >>> data, truth = pyknnmi.simulate.small_network(300, seed=2)
    >>> table = pyknnmi.bind(data, "fisher-z")
    >>> table.test("X5", "X6", given=["X7"]).independent
    False
    >>> table.associations("X6", ["X1", "X5", "X7"]).argmax()
    np.int64(1)
    """
    component = _component(test)
    if misplaced:
        raise misplaced_argument(bind, "test", [component], misplaced)
    return TableTest(component, observations(to_dataset(data, missing), repeats, blocks), Run(seed, threads))


def ci_test(
    data: Any,
    x: Column | Sequence[Column],
    y: Column | Sequence[Column],
    given: Column | Sequence[Column] | None = (),
    test: str | CITest = "knn-cmi",
    *,
    seed: int = 0,
    threads: int = 0,
    missing: Missing = "raise",
    repeats: Repeats = "keep",
    blocks: Column | None = None,
    **misplaced: Never,
) -> CIResult:
    """Return whether columns `x` and `y` are independent given others. For many questions, `bind` the test once.

    Parameters
    ----------
    data : path, array_like of shape (n, p), data frame or Dataset
        As in `learn`. Columns that are not named may be of a kind that the test does not take.
    x, y : str, int or sequence of these
        Two columns, by name or number from 0; or two groups of columns, for tests that take groups (knn-cmi).
    given : str, int or sequence of these
        The conditioning set; empty or None for an unconditional test.
    test : str or CITest, default "knn-cmi"
        A CI test's spec, such as ``knn-cmi(k=5)``.
    seed, threads, missing, repeats, blocks
        As in `learn`: the answer is the one that `learn` gets for this question.
    **misplaced
        Nothing: parameters of the test stand in its spec. The error for one that is given here shows how.

    Returns
    -------
    CIResult
        A constant x or y is independent of everything: statistic 0, p-value 1. A constant in `given` changes nothing
        and is listed in ``redundant``.
    """
    component = _component(test)
    if misplaced:
        raise misplaced_argument(ci_test, "test", [component], misplaced)
    dataset = observations(to_dataset(data, missing), repeats, blocks)
    groups = [dataset.columns_of(columns) for columns in (x, y, given)]
    chosen = dataset.select(dict.fromkeys(i for group in groups for i in group))
    table = TableTest(component, chosen, Run(seed, threads))
    return table.test(*([dataset.names[i] for i in group] for group in groups))


def _component(test: object) -> CITest:
    component = parse_test(test) if isinstance(test, str) else test
    if not isinstance(component, CITest):
        raise ParameterError(f"test = {test!r}: give a text such as knn-cmi(k=5), or a CITest", "test")
    return component
