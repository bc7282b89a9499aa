"""What stands between the data that a user gave and the columns that a component works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack, get_args

import numpy as np

from pyknnmi.auditing import Audit, AuditFinding, audited, warn_of
from pyknnmi.data.dataset import Dataset, Missing, listing, natural_key
from pyknnmi.data.options import TableOptions, TableOptionsGiven
from pyknnmi.data.reading import TableRead, columns_as_read, read_table
from pyknnmi.data.sources import is_source
from pyknnmi.errors import DataError, ParameterError, check_choice, warn
from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.transforms import Transform
from pyknnmi.search.constraints import Column
from pyknnmi.search.contract import checked_transform

__all__ = [
    "Repeats",
    "audit",
    "audit_as_read",
    "observations",
    "prepared",
    "to_dataset",
    "transformed",
    "weighed",
]


Repeats = Literal["keep", "one"]


def to_dataset(data: Any, missing: Missing = "raise", **options: Unpack[TableOptionsGiven]) -> Dataset:
    """Return whatever a user gave, a path or an open file included, as a `Dataset`."""
    if is_source(data):
        return read_table(data, missing, **options)
    return Dataset.of(data, missing=missing, **options)


def observations(dataset: Dataset, repeats: Repeats, blocks: Column | None) -> Dataset:
    """Return the data with equal rows once, if `repeats` says so, and the column `blocks` as groups of rows."""
    check_choice("repeats", repeats, get_args(Repeats))
    if blocks is not None:
        dataset = dataset.grouped(blocks)
    return dataset.without_repeats() if repeats == "one" else dataset


def audit(data: Any, missing: Missing = "drop-per-test", **options: Unpack[TableOptionsGiven]) -> Audit:
    """Return what a table shows before anything is tested, what follows from it, and the spec that suits it.

    Nothing is changed, and no dependence is tested. `learn` does the same: it keeps the findings in its result, and
    warns of the serious ones.

    Parameters
    ----------
    data : path, array_like of shape (n, p), data frame or Dataset
        As in `learn`.
    missing : {"raise", "drop", "drop-per-test"}
        As in `learn`; by default missing values are left out of what they concern.
    **options
        How the table is read, as in `learn`: ``header``, ``missing_marks``, ``categories``, ``ignore``, ``index``.

    Returns
    -------
    Audit
        With ``findings``, the recommended ``spec`` and the ``reasons`` for it, and the columns that cannot be used;
        printed, it is what ``pyknnmi audit`` shows.

    Examples
    --------
    >>> import numpy as np
    >>> import pyknnmi
    >>> weather = np.random.default_rng(0).standard_normal((200, 3))
    >>> weather[:, 0] = np.maximum(weather[:, 0], 0)  # rain: none on half of the days
    >>> [(finding.kind, finding.columns, round(finding.figure, 2)) for finding in pyknnmi.audit(weather).findings]
    [('censored', ('X1',), 0.53)]
    """
    given = TableOptions.of(options)
    if (table := columns_as_read(data, given)) is None:
        return audited(to_dataset(data, missing, **options), _arguments(given, missing))
    return audit_as_read(table.without_infinite(), missing, given)


def audit_as_read(table: TableRead, missing: Missing, given: TableOptions) -> Audit:
    """Return the audit of a table that was read with the options given."""
    return audited(table.usable(missing), _arguments(given, missing), table.refused)


def _arguments(given: TableOptions, missing: Missing) -> dict[str, Any]:
    """Return the arguments of `learn` that were given; what else is done about missing values follows from the data."""
    return {**given.given(), **({"missing": missing} if missing == "drop" else {})}


def check_blocks(component: Component, dataset: Dataset) -> None:
    """Raise an error unless a component heeds the groups of the rows, if there are any."""
    if dataset.groups is not None and not (isinstance(component, CITest) and component.takes_blocks):
        raise ParameterError(
            f"{component.name} takes every row for an observation of its own: leave blocks out, or take "
            "knn-cmi(null=block) or knn-cmi(null=within)",
            "blocks",
        )


def check_kinds(component: Component, dataset: Dataset) -> None:
    """Raise an error for columns of a kind that a component cannot use."""
    discrete = [dataset.names[i] for i in dataset.discrete_columns()]
    if discrete and not component.accepts("discrete"):
        quoted = listing([f"'{name}'" for name in discrete])
        have = f"column {quoted} holds" if len(discrete) == 1 else f"columns {quoted} hold"
        raise DataError(
            f"{have} categories, and {component} takes numbers only: leave them out, or take a test for both, such as "
            "knn-cmi"
        )


def prepared(
    dataset: Dataset, component: Component, findings: Sequence[AuditFinding] = ()
) -> tuple[Dataset, tuple[str, ...]]:
    """Return what a component works on: the varying columns, which may be none, and the names of the constant ones.

    The columns are in the natural order of their names. Whatever depends on an order (ties, floating-point sums, sweeps
    over a blanket) then depends on the names alone.

    Raises
    ------
    DataError, ParameterError
        Columns or groups of rows that the component cannot use.

    Warns
    -----
    PyknnmiWarning
        Serious findings; constant columns.
    """
    check_blocks(component, dataset)
    warn_of(findings)
    constants = dataset.constant_columns()
    warn_of_constants(dataset, constants)
    varying = [i for i in range(dataset.p) if i not in constants]
    columns = dataset.select(sorted(varying, key=lambda i: natural_key(dataset.names[i])))
    check_kinds(component, columns)
    return columns, tuple(dataset.names[i] for i in constants)


def transformed(transform: Transform, dataset: Dataset) -> Dataset:
    """Return the data with their continuous columns transformed, and warn of those that became constant."""
    if dataset.has_missing:
        raise DataError(f"the transform '{transform.name}' needs complete data: pass missing=\"drop\", or leave it out")
    chosen = [i for i, kind in enumerate(dataset.kinds) if transform.accepts(kind)]
    if not chosen:
        return dataset
    part = dataset.select(chosen)
    result = checked_transform(transform, part)
    were = part.constant_columns()
    became = [i for i in result.constant_columns() if i not in were]
    warn_of_constants(result, became, f"after the transform '{transform.name}' ")
    values = dataset.values.copy()
    values[:, chosen] = result.values
    return replace(dataset, values=values)


def weighed(findings: Iterable[AuditFinding], component: Component, dataset: Dataset) -> tuple[AuditFinding, ...]:
    """Return the findings of an audit, the serious first: those that a test allows for are not."""
    findings = tuple(findings)
    if isinstance(component, CITest):
        findings = tuple(
            replace(f, serious=False) if _is_allowed_for(f, findings, component, dataset) else f for f in findings
        )
    return tuple(sorted(findings, key=lambda finding: not finding.serious))


def _is_allowed_for(finding: AuditFinding, findings: tuple[AuditFinding, ...], test: CITest, dataset: Dataset) -> bool:
    if finding.kind == "season" and dataset.has_missing:
        return False  # rows that are left do not say how many lie between them
    if test.allows_for(finding, findings, dataset.n):
        return True
    if finding.kind != "trend" or sum(other.kind in ("drift", "trend") for other in findings) > 1:
        return False
    alike = replace(finding, kind="serial-dependence")  # the memory of the others is no longer than blocks are
    return test.allows_for(alike, findings, dataset.n)


def warn_of_constants(dataset: Dataset, constants: Sequence[int], when: str = "") -> None:
    """Warn of the constant columns, if there are any; `when` begins the message."""
    empty = set(np.flatnonzero(np.isnan(dataset.values).all(axis=0)))
    for is_empty, what in ((False, "constant"), (True, "without a value")):
        names = [dataset.names[i] for i in constants if (i in empty) == is_empty]
        if names:
            one = len(names) == 1
            columns, depend = ("column", f"is {what}: it depends") if one else ("columns", f"are {what}: they depend")
            warn(f"{when}{columns} {listing(names)} {depend} on nothing")
