"""A result in words, for a terminal."""

from __future__ import annotations

from pyknnmi.auditing import in_warnings
from pyknnmi.learning.pipeline import Pipeline
from pyknnmi.learning.presets import PRESETS
from pyknnmi.learning.result import LearnResult, ended_early
from pyknnmi.report.pairs import ReportedPair, reported_pairs, shortened, strength_name

__all__ = ["notable", "summary"]

_LONGEST_NAME = 28
_MOST_EDGES = 40
_OTHER_WAY = "recommended"
"""The preset that is named to those who took another spec."""


def summary(result: LearnResult) -> str:
    """Return the edges of a result from strong to weak, and what to look at."""
    edges = [row for row in reported_pairs(result) if row.edge]
    n, p = result.shape
    left = result.rows_left_out
    left_out = f" ({left} more {'was' if left == 1 else 'were'} left out)" if left else ""
    found = f"{_count(len(edges), 'edge')} between {_count(p, 'column')}"
    lines = [f"{found}, learned from {_count(n, 'row')}{left_out}"]
    labels = [f"{_short(row.source)} - {_short(row.target)}" for row in edges[:_MOST_EDGES]]
    width = max(map(len, labels), default=0)
    if edges:
        lines += ["", f"{'edge':<{width}}  {'strength':>10}  {'p-value':>9}"]
    for label, row in zip(labels, edges, strict=False):
        strength = "" if row.strength is None else f"{row.strength:.4g}"
        note = "  required" if row.answer is not None and row.p_value is None else ""
        lines.append(f"{label:<{width}}  {strength:>10}  {row.shown_p_value:>9}{note}".rstrip())
    if len(edges) > _MOST_EDGES:
        lines.append(f"and {len(edges) - _MOST_EDGES} weaker ones; --out or --report writes all")
    if edges and any(row.strength is not None for row in edges):
        lines.append(f"strength: {strength_name(result)}")
    lines += ended_early(row.answer for row in edges[:_MOST_EDGES] if row.answer is not None)
    if result.oriented is not None:
        lines += ["", f"oriented: {result.oriented}"]
    notes = [*in_warnings(result.findings), *notable(result)]
    if notes:
        lines += ["", "Look at:", *(f"- {text}" for text in notes)]
    tests = _count(result.counts["tests"], "test")
    preset = PRESETS[_OTHER_WAY]
    if result.spec == str(Pipeline.parse(preset.spec)):
        way = f"by the preset {preset.name}, which is {preset.spec}"
    else:
        complete = " --missing drop" if result.has_missing else ""  # which it needs
        way = f"to compare: --spec {preset.name}{complete}, which is {preset.spec}"
    return "\n".join([*lines, "", f"{tests}, {result.seconds:.2f} s", way])


def notable(result: LearnResult) -> list[str]:
    """Return sentences about what deserves a look."""
    rows = reported_pairs(result)
    found = []
    doubtful = [row for row in rows if row.edge and row.p_value and row.threshold and row.p_value > row.threshold / 2]
    if doubtful:
        have, them = ("has a p-value", "it") if len(doubtful) == 1 else ("have p-values", "them")
        one = {row.threshold for row in doubtful}
        threshold = f"the threshold of {one.pop():g}" if len(one) == 1 else "their thresholds"
        text = f"{_count(len(doubtful), 'edge')} {have} just below {threshold}"
        found.append(f"{text}: {_listed(doubtful)}. Another sample might not show {them}.")
    lost = [row for row in rows if row.one_sided and not row.edge]
    if lost:
        text = f"{_count(len(lost), 'pair')} {'was' if len(lost) == 1 else 'were'} found from one side only"
        found.append(f"{text}, and {'has' if len(lost) == 1 else 'have'} no edge: {_listed(lost)}.")
    searched = result.constraints.targets or result.graph.names
    alone = [name for name in searched if not result.graph.neighbors(name)]
    if alone:
        have = "has" if len(alone) == 1 else "have"
        names = ", ".join(map(_short, alone[:10])) + (f" and {len(alone) - 10} more" if len(alone) > 10 else "")
        found.append(f"{_count(len(alone), 'column')} {have} no edge: {names}.")
    return found


def _listed(rows: list[ReportedPair], most: int = 5) -> str:
    shown = ", ".join(f"{_short(row.source)} - {_short(row.target)}" for row in rows[:most])
    return shown + (f" and {len(rows) - most} more" if len(rows) > most else "")


def _short(name: str) -> str:
    return shortened(name, _LONGEST_NAME)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
