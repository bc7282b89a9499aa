"""What a table shows before anything is tested, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyknnmi.auditing.columns import column_findings, numbering_columns
from pyknnmi.auditing.finding import AuditFinding, grouped, in_warnings, warn_of
from pyknnmi.auditing.ranks import centred_ranks
from pyknnmi.auditing.recommendation import recommended
from pyknnmi.auditing.relations import relation_findings
from pyknnmi.auditing.rows import row_findings
from pyknnmi.data.dataset import Dataset
from pyknnmi.data.files import csv_line, shell_command
from pyknnmi.errors import PyknnmiError

__all__ = ["Audit", "AuditFinding", "audited", "find", "grouped", "in_warnings", "warn_of"]

_SHOWN = 8  # findings of one kind that are printed in full


@dataclass(frozen=True)
class Audit:
    """What a table shows before anything is tested.

    Attributes
    ----------
    rows, columns : int
    findings : tuple of AuditFinding
        The serious ones first.
    spec : str
        The spec that suits this table; empty if only one column is left, as a network needs two.
    options : dict
        What else to pass to `learn`, such as ``repeats="one"``, and what was given about how the table is read.
    reasons : tuple of str
        Why, a sentence for each part of both; or why no spec suits it.
    refused : dict of str to str
        The columns that cannot be used, and why. They are no part of what was looked at.
    """

    rows: int
    columns: int
    findings: tuple[AuditFinding, ...]
    spec: str
    options: Mapping[str, Any]
    reasons: tuple[str, ...]
    refused: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{self.rows} rows, {self.columns} columns", *(f"! {error}" for error in self.refused.values())]
        for group in grouped(self.findings):
            mark = "!" if group[0].serious else "-"
            lines += [f"{mark} {finding.found}" for finding in group[:_SHOWN]]
            if others := [" and ".join(finding.columns) for finding in group[_SHOWN:]]:
                lines.append(f"{mark} so it is with {len(others)} more: {', '.join(others)}")
            lines += [f"    {group[0].follows}", f"    {group[0].advice}"]
        if not self.findings:
            lines.append("nothing was found that speaks against any test")
        given = "".join(f", {option}={value!r}" for option, value in self.options.items())
        suits = f"suits this table: {self.spec}{given}" if self.spec else "no run suits this table"
        return "\n".join([*lines, suits, *(f"    {reason}" for reason in self.reasons)])

    def command(self, data: str) -> str:
        """Return the command that makes the recommended run of the file `data`, for a shell; empty if there is none."""
        if not self.spec:
            return ""
        words = ["pyknnmi", "learn", data, "--spec", self.spec]
        for option, value in self.options.items():
            name = option.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{name}" if value else f"--no-{name}")
            else:
                texts = [value] if isinstance(value, str) else [csv_line([text]) for text in value]
                words += [f"--{name}={text}" for text in texts]
        return shell_command(words)

    def record(self) -> dict[str, Any]:
        """Return the audit in the types of JSON."""
        return {
            "rows": self.rows,
            "columns": self.columns,
            "refused": dict(self.refused),
            "findings": [finding.record() for finding in self.findings],
            "spec": self.spec,
            "options": dict(self.options),
            "reasons": list(self.reasons),
        }


def find(dataset: Dataset, *, relations: bool = True) -> tuple[AuditFinding, ...]:
    """Return what a table shows, the serious findings first. Nothing is changed, and no dependence is tested.

    `relations` says whether to look for copies, too, and for columns that others determine.
    """
    ranks = centred_ranks(dataset)
    numbering = numbering_columns(dataset)
    findings = [
        *column_findings(dataset, numbering),
        *(relation_findings(dataset, ranks) if relations else ()),
        *row_findings(dataset, ranks, numbering),
    ]
    return tuple(sorted(findings, key=lambda finding: not finding.serious))


def audited(dataset: Dataset, given: Mapping[str, Any], refused: Mapping[str, PyknnmiError] | None = None) -> Audit:
    """Return the findings about a table with the run that suits it.

    `given` are the arguments of `learn` that say how the table was read, `refused` are columns that are not in it.
    """
    findings, errors = find(dataset), {name: str(error) for name, error in (refused or {}).items()}
    spec, options, reasons = recommended(dataset, findings, list(errors))
    return Audit(dataset.n, dataset.p, findings, spec, _together(given, options), reasons, errors)


def _together(given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that were given with those that suit the table."""
    ignored = [*given.get("ignore", ()), *options.get("ignore", ())]
    categories = [name for name in given.get("categories", ()) if name not in ignored]
    columns = {"ignore": ignored, "categories": categories}
    others = {option: value for option, value in {**given, **options}.items() if option not in columns}
    return {**others, **{option: names for option, names in columns.items() if names}}
