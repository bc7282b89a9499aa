"""One thing that was found about a table, with what follows from it and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pyknnmi.errors import warn

__all__ = ["AuditFinding", "grouped", "in_warnings", "warn_of"]

_SHOWN = 6  # findings of one kind in a warning


@dataclass(frozen=True)
class AuditFinding:
    """One thing that was found about a table.

    Attributes
    ----------
    kind : str
        What sort of thing, such as ``censored``; the page "Which spec should I use" lists them.
    columns : tuple of str
        The columns that it is about; none when it is about the rows.
    figure : float
        The measure, by kind: a share of the rows, a correlation, a number of rows.
    found, follows, advice : str
        What was found, what follows for the graph, and what to do.
    serious : bool
        Whether the graph may be wrong because of it: `learn` warns of these. All are kept in the result.
    """

    kind: str
    columns: tuple[str, ...]
    figure: float
    found: str
    follows: str
    advice: str
    serious: bool = False

    def __str__(self) -> str:
        return _sentences(self.found, self.follows, self.advice)

    def record(self) -> dict[str, Any]:
        """Return the finding in the types of JSON."""
        return {**asdict(self), "columns": list(self.columns)}


def grouped(findings: Iterable[AuditFinding]) -> list[list[AuditFinding]]:
    """Return the findings in groups of which the same is to be said."""
    groups: dict[tuple[bool, str, str], list[AuditFinding]] = {}
    for finding in findings:
        groups.setdefault((finding.serious, finding.follows, finding.advice), []).append(finding)
    return list(groups.values())


def _in_one_warning(group: Sequence[AuditFinding]) -> str:
    """Return what a warning says of findings of which the same is to be said."""
    more = [f"So it is with {len(group) - _SHOWN} more columns"] if len(group) > _SHOWN else []
    found = [finding.found for finding in group[:_SHOWN]]
    return _sentences(*found, *more, group[0].follows, group[0].advice)


def in_warnings(findings: Iterable[AuditFinding]) -> list[str]:
    """Return what is to be said of the serious findings: once of all of which it is the same."""
    return [_in_one_warning(group) for group in grouped(finding for finding in findings if finding.serious)]


def warn_of(findings: Iterable[AuditFinding]) -> None:
    """Warn of the serious findings."""
    for text in in_warnings(findings):
        warn(text)


def _sentences(*texts: str) -> str:
    return " ".join(f"{text[:1].upper()}{text[1:]}." for text in texts)
