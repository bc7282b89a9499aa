"""One question put to a CI test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyknnmi.data.dataset import Dataset, Missing
from pyknnmi.errors import DataError, ParameterError, SpecError
from pyknnmi.learning.preparation import check_kinds, in_natural_order, to_dataset, warn_of_constants
from pyknnmi.protocols.ci_tests import CIResult, CITest
from pyknnmi.protocols.spec import Spec
from pyknnmi.registry.registry import default_registry
from pyknnmi.run import Run
from pyknnmi.search.constraints import Column
from pyknnmi.search.tester import Tester

__all__ = ["ci_test"]


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
) -> CIResult:
    """Return whether columns `x` and `y` are independent given others.

    Parameters
    ----------
    data : path, array_like of shape (n, p), data frame or Dataset
        As in `learn`.
    x, y : str, int or sequence of these
        Two columns, by name or number from 0; or two groups of columns, for tests that take groups (knn-cmi).
    given : str, int or sequence of these
        The conditioning set; empty or None for an unconditional test.
    test : str or CITest, default "knn-cmi"
        A CI test's spec, such as ``knn-cmi(k=5)``.
    seed, threads, missing
        As in `learn`: the answer is the one that `learn` gets for this question.

    Returns
    -------
    CIResult
        A constant x or y is independent of everything: statistic 0, p-value 1. A constant in `given` changes nothing
        and is listed in ``redundant``.
    """
    dataset = to_dataset(data, missing)
    component = _ci_test_component(test) if isinstance(test, str) else test
    if not isinstance(component, CITest):
        raise ParameterError(f"test = {test!r}: give a text such as knn-cmi(k=5), or a CITest", "test")
    groups = [dataset.columns_of(columns) for columns in (x, y, given)]
    _check_disjoint(dataset, groups)
    asked = dataset.select([column for group in groups for column in group])
    check_kinds(component, asked)
    constant_columns = asked.constant_columns()
    constants = [asked.names[i] for i in constant_columns]
    warn_of_constants(asked, constant_columns)
    first, second, others = ([dataset.names[i] for i in group if dataset.names[i] not in constants] for group in groups)
    if not first or not second:
        return CIResult.of_constant(asked.n)
    columns = in_natural_order(asked, constant_columns)
    assert columns is not None  # x and y vary
    tester = Tester(component, columns, Run(seed, threads))
    xs, ys, zs = ([columns.column(name) for name in names] for names in (first, second, others))
    if len(xs) == len(ys) == 1:
        answer = tester.test(xs[0], ys[0], zs)
    elif component.takes_groups and not columns.has_missing:
        answer = tester.test_groups(xs, ys, zs)
    else:
        raise ParameterError(
            f"{component.name} takes one column as x and one as y{' where values are missing' * columns.has_missing}: "
            "test them one by one, or take knn-cmi on complete data"
        )
    return replace(answer, redundant=(*answer.redundant, *constants)) if constants else answer


def _check_disjoint(dataset: Dataset, groups: Sequence[Sequence[int]]) -> None:
    x, y, given = map(set, groups)
    if not x or not y:
        raise DataError("x and y need a column each")
    for shared, where in ((x & y, "in x and in y"), ((x | y) & given, "in the conditioning set too")):
        if shared:
            raise DataError(f"column '{dataset.names[min(shared)]}' is {where}")


def _ci_test_component(text: str) -> CITest:
    spec = Spec.parse(text)
    component = default_registry().component_of(spec, spec.calls[0])
    if len(spec.calls) != 1 or not isinstance(component, CITest):
        raise SpecError("expected one CI test, such as knn-cmi(k=5)", text, 0)
    return component
