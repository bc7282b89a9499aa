"""The spec that suits a table, by its size and by what was found about it."""

from __future__ import annotations

from collections.abc import Sequence

from pyknnmi.auditing.finding import AuditFinding

__all__ = ["recommended"]

_FEW_ROWS = 100
_MANY_COLUMNS = 100


def recommended(rows: int, columns: int, findings: Sequence[AuditFinding]) -> tuple[str, tuple[str, ...]]:
    """Return a spec, and a sentence for each of its parts."""
    kinds = {finding.kind for finding in findings if finding.serious} | {
        finding.kind for finding in findings if finding.kind == "heavy-tails"
    }
    parameters, reasons = {}, []
    if "serial-dependence" in kinds:
        parameters["null"] = "block"
        reasons.append("null=block: whole stretches of rows are permuted, so that rows next to each other stay alike")
    test = f"knn-cmi({','.join(f'{name}={value}' for name, value in parameters.items())})" if parameters else "knn-cmi"
    spec = f"iamb+{test}"
    if "heavy-tails" in kinds:
        spec = f"nonparanormal+{spec}"
        reasons.insert(0, "nonparanormal: normal scores keep a few far rows from setting the scale")
    size = f"{rows} rows and {columns} columns"
    reasons.append(f"iamb+knn-cmi: the paper's method, which assumes no form of dependence; for {size}")
    return spec, tuple(reasons)
