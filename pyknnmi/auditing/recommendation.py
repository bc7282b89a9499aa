"""The run that suits a table, by its size and by what was found about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.data.dataset import Dataset, listing

__all__ = ["recommended"]

_MANY_COLUMNS = 30  # of 40 to 63, a bound of 6 erred as little as none and less than one of 3, in less time
_MOSTLY_MISSING = 0.5  # share of rows without a value: two such columns may have no row in common
_IN_ORDER = ("serial-dependence", "season", "drift", "trend")  # what blocks undo, or at least soften


def recommended(
    dataset: Dataset, findings: Sequence[AuditFinding], refused: Sequence[str]
) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    """Return a spec, further arguments of `learn`, and a sentence for each part of both.

    `refused` are the columns that cannot be used, and are not in the data. The spec is empty if no run suits the table.
    """
    if dataset.p < 2:
        return "", {}, (f"a network needs two columns, and only '{dataset.names[0]}' is left",)
    options, reasons = _options(dataset, findings, refused)
    ignored = options.get("ignore", ())
    columns = dataset.p + len(refused) - len(ignored)
    series = [finding for finding in findings if finding.kind in _IN_ORDER and finding.serious]
    of_learner, of_test, transform = [], [], ""
    why = ["iamb+knn-cmi: finds dependence of any form, and takes ties and categories"]
    if columns > _MANY_COLUMNS:
        of_learner.append("max_conditioning=6")
        why.append(f"max_conditioning=6: with {columns} columns a larger set takes time and adds chance members")
    if sum(finding.columns[0] not in ignored for finding in series) > 1:
        of_test.append("null=block")
        why.append("null=block: whole stretches of rows are permuted, so that rows next to each other stay alike")
    if any(finding.kind == "heavy-tails" for finding in findings) and "missing" not in options:
        transform = "nonparanormal+"
        why.append("nonparanormal: normal scores keep a few far rows from setting the scale")
    if "missing" not in options and "null=block" not in of_test:
        reasons.append("to compare: the preset 'recommended', functional-anova, errs less where dependence is smooth")
    return f"{transform}iamb{_given(of_learner)}+knn-cmi{_given(of_test)}", options, (*why, *reasons)


def _given(parameters: list[str]) -> str:
    return f"({','.join(parameters)})" if parameters else ""


def _options(
    dataset: Dataset, findings: Sequence[AuditFinding], refused: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    options: dict[str, Any] = {}
    reasons = []
    naming = [  # an identifier that repeats may be of use as blocks, or be a measurement
        finding.columns[0]
        for finding in findings
        if finding.kind in ("row-number", "identifier") and finding.figure == 1
    ]
    again = [
        finding.columns[1] for finding in findings if finding.kind == "copies" and finding.columns[1] not in naming
    ]
    sparse = [
        finding.columns[0]
        for finding in findings
        if finding.kind == "missing-values" and finding.figure > _MOSTLY_MISSING and finding.columns[0] not in naming
    ]
    parts = [(refused, "cannot be used")]
    if len({*naming, *again, *sparse}) <= dataset.p - 2:  # which a network needs
        parts += [
            (naming, "numbers or names the rows"),
            (again, "is in the table twice"),
            (sparse, "is mostly missing"),
        ]
    if ignored := list(dict.fromkeys(name for names, _ in parts for name in names)):
        options["ignore"] = ignored
        reasons.append(f"ignore: {'; '.join(f'{listing(names)} {what}' for names, what in parts if names)}")
    if dataset.has_missing:
        options["missing"] = "drop-per-test"
        reasons.append("missing=drop-per-test: each test leaves out the rows that miss a value in its own columns")
    if any(finding.kind == "repeated-rows" and finding.serious for finding in findings):
        options["repeats"] = "one"
        reasons.append("repeats=one: each set of equal rows is one observation")
    return options, reasons
