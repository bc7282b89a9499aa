"""The spec that suits a table, by its size and by what was found about it."""

from __future__ import annotations

from collections.abc import Sequence

from pyknnmi.auditing.finding import AuditFinding

__all__ = ["recommended"]

_MANY_COLUMNS = 30  # beyond these, with hundreds of rows, the estimate given a blanket shrinks to nothing


def recommended(rows: int, columns: int, findings: Sequence[AuditFinding]) -> tuple[str, tuple[str, ...]]:
    """Return a spec, and a sentence for each of its parts."""
    kinds = {finding.kind for finding in findings if finding.serious or finding.kind == "heavy-tails"}
    reasons = ["iamb+knn-cmi: finds dependence of any form, and takes ties and categories"]
    learner, test = "iamb", "knn-cmi"
    if columns > _MANY_COLUMNS:
        learner = "iamb(max_conditioning=3)"
        reasons.append(f"max_conditioning=3: with {columns} columns and {rows} rows, more would hide what there is")
    if "serial-dependence" in kinds:
        test = "knn-cmi(null=block)"
        reasons.append("null=block: whole stretches of rows are permuted, so that rows next to each other stay alike")
    spec = f"{learner}+{test}"
    if "heavy-tails" in kinds:
        spec = f"nonparanormal+{spec}"
        reasons.append("nonparanormal: normal scores keep a few far rows from setting the scale")
    return spec, tuple(reasons)
