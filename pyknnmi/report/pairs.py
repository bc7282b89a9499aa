"""The pairs of a result as people read them: joined or not, how strongly, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyknnmi.learning.result import (
    LearnResult,
    PairEvidence,
    format_p_value,
    one_sided_outcome,
    rows_of_pairs,
    selection_frequencies,
)
from pyknnmi.protocols.ci_tests import CIResult
from pyknnmi.protocols.spec import Spec, Value
from pyknnmi.search.constraints import FORBIDDEN, REQUIRED

__all__ = [
    "ReportedPair",
    "alpha_of",
    "closest_to_the_threshold",
    "effects_in",
    "parameter_of",
    "reported_pairs",
    "shortened",
    "stability_threshold",
    "strength_name",
]

_STRENGTHS = {"knn-cmi": "conditional mutual information (nats)", "functional-anova": "evidence for the edge (nats)"}
_ENDS = {"source", "target"}


@dataclass(frozen=True)
class ReportedPair:
    """One pair of columns in a plot or a report.

    Attributes
    ----------
    source, target : str
        The two columns, in the order of the data.
    edge : bool
        Whether the graph joins them.
    one_sided : bool
        Whether one of the two is in the other's blanket, and the other is not in its.
    strength : float, optional
        The statistic of the test that decided, or what else the learner says of its edges. None where nothing was
        tested.
    p_value : float, optional
    threshold : float, optional
        What the p-value had to be below for an edge: lower than alpha where it was the best of many candidates.
    answer : CIResult, optional
        The test that decided; None for a learner that uses no test.
    given : tuple of str
        The conditioning set of that test.
    reason : str
        Why the two are joined, or why not.
    """

    source: str
    target: str
    edge: bool
    one_sided: bool
    strength: float | None
    p_value: float | None
    threshold: float | None
    answer: CIResult | None
    given: tuple[str, ...]
    reason: str

    @property
    def label(self) -> str:
        """The two names with a dash between them."""
        return f"{self.source} - {self.target}"

    @property
    def shown_p_value(self) -> str:
        """The p-value for people; empty where nothing was tested."""
        return "" if self.answer is None or self.p_value is None else format_p_value(self.answer)


def reported_pairs(result: LearnResult) -> list[ReportedPair]:
    """Return every edge, and every other pair that was tested, found from one side or found often; by strength."""
    evidence = result.evidence_by_pair()
    strengths = _strengths_in_details(result.details)
    alpha = alpha_of(result)
    one_sided = set(result.one_sided())
    rows = []
    frequencies = selection_frequencies(result)
    often = [pair for pair, frequency in frequencies.items() if frequency >= stability_threshold(result) / 2]
    for a, b in dict.fromkeys((*result.graph.edges, *evidence, *result.one_sided(), *often)):
        found = evidence.get((a, b))
        joined = (a, b) in result.graph
        tested = found is not None and not found.is_constrained
        rows.append(
            ReportedPair(
                source=a,
                target=b,
                edge=joined,
                one_sided=(a, b) in one_sided,
                strength=found.answer.statistic if found and tested else strengths.get((a, b)),
                p_value=found.answer.p_value if found and tested else None,
                threshold=found.answer.level if found and found.answer.level is not None else alpha,
                answer=found.answer if found else None,
                given=found.given if found else (),
                reason=_reason(found) if found else _untested(result, a, b),
            )
        )
    return sorted(rows, key=lambda row: (not row.edge, -_order(row), row.source, row.target))


def stability_threshold(result: LearnResult) -> float:
    """Return the selection frequency that an edge needs, for `stability`."""
    found = result.details.get("stability")
    return float(found["threshold"]) if isinstance(found, Mapping) else 1.0


def closest_to_the_threshold(rows: Sequence[ReportedPair], count: int) -> list[ReportedPair]:
    """Return the tested pairs whose p-values are nearest to their thresholds, as a ratio, by their p-values."""
    tested = [row for row in rows if row.p_value is not None]
    nearest = sorted(tested, key=lambda row: (_ratio(row), row.source, row.target))[:count]
    return sorted(nearest, key=lambda row: (row.p_value or 0.0, -_order(row), row.source, row.target))


def alpha_of(result: LearnResult) -> float | None:
    """Return the largest p-value that an edge may have; None if the components of the spec know none."""
    # functional-anova lowers its alpha with the number of rows
    alpha = result.details.get("level", parameter_of(result, "alpha"))
    return float(alpha) if isinstance(alpha, int | float) else None


def parameter_of(result: LearnResult, name: str) -> Value:
    """Return a parameter in a result's spec, of the last component that has one of this name; None if none has."""
    calls = reversed(Spec.parse(result.spec).calls)
    return next((value for call in calls for key, value in call.arguments if key == name), None)


def effects_in(details: Mapping[str, object]) -> list[Mapping[str, Any]]:
    """Return the partial effects that a learner fitted, as its details hold them, from the largest.

    The largest spreads most over the values at which it is given: a few far ones do not make an effect large.
    """
    effects = details.get("effects", ())
    needed = {"column", "on", "at", "effect"}
    if not isinstance(effects, Sequence):
        return []
    found = [effect for effect in effects if isinstance(effect, Mapping) and needed <= effect.keys()]
    return sorted(found, key=lambda effect: -float(np.std(effect["effect"])) if np.size(effect["effect"]) else 0.0)


def strength_name(result: LearnResult) -> str:
    """Return what `ReportedPair.strength` is, with its unit if it has one."""
    test = Spec.parse(result.spec).calls[-1].name
    if any(pair.answer for pair in result.evidence):
        return _STRENGTHS.get(test, f"statistic of {test}")
    rows = _rows_in_details(result.details)
    names = [key for key in rows[0] if key not in _ENDS] if rows else []
    return names[0].replace("_", " ") if names else "strength"


def shortened(name: str, longest: int) -> str:
    """Return a name that fits, on one line: a long one without its middle."""
    name = "".join(character if character.isprintable() else " " for character in name)
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[1 - half :]}"


def _ratio(row: ReportedPair) -> float:
    p, threshold = max(row.p_value or 0.0, 1e-300), row.threshold or 0.05
    return max(p / threshold, threshold / p)


def _order(row: ReportedPair) -> float:
    return float("inf") if row.strength is None else abs(row.strength)


def _rows_in_details(details: Mapping[str, object]) -> list[Mapping[str, Any]]:
    """Return the rows that a learner without a test gives for its edges, or `stability` for all pairs."""
    return rows_of_pairs(details.get("edges")) or rows_of_pairs(details.get("selection"))


def _strengths_in_details(details: Mapping[str, object]) -> dict[tuple[str, str], float]:
    found = {}
    for row in _rows_in_details(details):
        numbers = [value for key, value in row.items() if key not in _ENDS and isinstance(value, int | float)]
        if numbers:
            ends = str(row["source"]), str(row["target"])
            found[ends] = found[ends[::-1]] = float(numbers[0])
    return found


def _untested(result: LearnResult, a: str, b: str) -> str:
    """Return the reason for a pair of which the learner says no test."""
    if frequencies := selection_frequencies(result):
        needed = f"{stability_threshold(result):.0%} are needed"
        return f"found in {frequencies.get((a, b), 0.0):.0%} of the parts of the rows, and {needed}"
    if (a, b) in result.graph:
        return "chosen by the learner"
    inside, outside = (a, b) if b in result.blankets[a] else (b, a)
    return f"{one_sided_outcome(inside, outside, edge=False)}, whose search ended before it tested this pair"


def _reason(found: PairEvidence) -> str:
    if found.answer.decided_by == REQUIRED:
        return "required: this edge was given to the run, and not tested"
    if found.answer.decided_by == FORBIDDEN:
        return "forbidden: this pair was ruled out before the run, and not tested"
    if not found.sides:
        return _test_in_words(found.answer, found.given)
    sides = [
        f"from {side.target}: {_test_in_words(side.answer, side.given) if side.answer else 'not tested in the end'}"
        for side in found.sides
    ]
    return ". ".join([found.outcome, *(side[:1].upper() + side[1:] for side in sides)])


def _test_in_words(answer: CIResult, given: tuple[str, ...]) -> str:
    condition = f" given {', '.join(given)}" if given else ""
    if answer.decided_by == "screen":
        return f"independent{condition}, as the estimate and the correlation are both next to nothing"
    verdict = "independent" if answer.independent else "dependent"
    p = format_p_value(answer)
    if answer.says_alpha_only:
        p = f"about {p.removeprefix('~')} after {answer.permutations} permutations"
    elif not p.startswith("<"):
        p = f"= {p}"
    level = "" if answer.level is None else f", threshold {answer.level:.2g}"
    return f"{verdict}{condition} (p {p}{level})"
