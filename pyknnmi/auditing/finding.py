"""One thing that was found about a table, with what follows from it and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from pyknnmi.errors import warn

__all__ = ["AuditFinding", "warn_of"]

_SHOWN = 6  # findings of one kind in a warning


@dataclass(frozen=True)
class AuditFinding:
    """One thing that was found about a table.

    Attributes
    ----------
    kind : str
        What sort of thing, such as ``censored``; the page "Choose" lists them.
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
        return f"{self.found}: {self.follows}; {self.advice}"

    def record(self) -> dict[str, Any]:
        """Return the finding in the types of JSON."""
        return {**asdict(self), "columns": list(self.columns)}


def warn_of(findings: Iterable[AuditFinding]) -> None:
    """Warn of the serious findings: once for all columns of which the same is to be said."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for finding in findings:
        if finding.serious:
            alike.setdefault((finding.kind, finding.follows, finding.advice), []).append(finding.found)
    for (_, follows, advice), found in alike.items():
        warn(f"{'; '.join(found[:_SHOWN])}{_more(len(found) - _SHOWN)}: {follows}; {advice}")


def _more(count: int) -> str:
    return f"; and {count} more columns" if count > 0 else ""
