"""The protocol of structure learners, and the base of those that find one Markov blanket a column."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import PluginError, warn
from pyknnmi.protocols.ci_tests import CIResult, warn_of_stopped
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.learned_graph import Evidence, LearnedGraph, LeveledQuestion, Pair, Question, pair_of
from pyknnmi.run import Run
from pyknnmi.search.tester import Finding, Tester

__all__ = ["BlanketLearner", "Learner", "most_doubtful"]

_ALPHA = 0.05  # for tests without a level, such as one that knows the graph and returns p-values of 0 and 1


class Learner(Component):
    """Base of learners. The columns it sees are in their natural order by name, and none is constant."""

    kind: ClassVar[str] = "learner"

    uses_test: ClassVar[bool] = True
    """Whether the learner uses a CI test. If not, a spec must not name one."""

    takes_constraints: ClassVar[bool] = False
    """Whether a learner without a test keeps to the required and forbidden edges of ``tester.constrained``. For one
    with a test the tester takes care."""

    takes_targets: ClassVar[bool] = False
    """Whether the learner can search for some columns only: those of ``tester.targets``."""

    estimates: ClassVar[Literal["moral graph", "skeleton"]] = "moral graph"
    """The graph that a perfect test leads to, when the truth is a directed graph: with or without edges between the
    parents of a common child. Orientation starts from it."""

    max_conditioning: int | None = None
    """The largest conditioning set that is tested; a subclass may make it a parameter."""

    def check(self) -> None:
        """Check the range of `max_conditioning`."""
        at_least_0 = self.max_conditioning is None or self.max_conditioning >= 0
        self.require(at_least_0, "max_conditioning", "at least 0, or none")

    @abstractmethod
    def learn(self, dataset: Dataset, tester: Tester, run: Run) -> LearnedGraph:
        """Return the graph of the columns of `dataset`.

        Score candidates by ``tester.associations`` and decide by ``tester.independent``, or by ``tester.test`` where
        p-values are compared; ``tester.each`` works on several columns side by side. For a learner that uses no test
        the tester has the targets and constraints only.
        """


class BlanketLearner(Learner):
    """Base of learners that find the Markov blanket of each column and join them by a rule.

    A subclass has a field ``rule: Literal["and", "or"] = "and"``, or with ``combined`` as a third word, and the one
    method `blanket`. The searches run side by side with ``jobs``. An edge between a target and a column that is none
    follows the one search.

    The rule ``combined`` decides each pair of the rule OR once more: x and y are tested given the rest of either
    blanket, and joined if e sqrt(p1 p2) < alpha, which is a p-value however the two depend on each other.

    References
    ----------
    Vovk and Wang (2020), "Combining p-values via averaging", Biometrika 107, doi:10.1093/biomet/asaa027, for the
    geometric mean.
    """

    takes_targets: ClassVar[bool] = True

    rule: Literal["and", "or", "combined"]

    @abstractmethod
    def blanket(self, target: int, candidates: tuple[int, ...], tester: Tester) -> Iterable[int]:
        """Return the Markov blanket of `target`, chosen from `candidates`."""

    def learn(self, dataset: Dataset, tester: Tester, run: Run) -> LearnedGraph:
        """Return the graph that the rule makes of all blankets."""
        searches = {search.item: search for search in tester.each(partial(_blanket, self), tester.targets)}
        blankets = {target: searches[target].found for target in tester.targets}
        edges = {
            pair_of(target, other)
            for target, blanket in blankets.items()
            for other in blanket
            if self.rule != "and" or target in blankets.get(other, (target,))
        }
        found = _sides(searches.values())
        evidence = self._evidence(edges, blankets, found)
        if self.rule == "combined":
            for pair in sorted(edges - tester.constrained.keys()):
                found.update(directions := _directions(pair, blankets, tester))
                evidence[pair] = _combined(list(directions.values()), tester.alpha or _ALPHA)
                if evidence[pair].answer.independent:
                    edges.remove(pair)
        return LearnedGraph(edges, blankets, evidence, sides=found)

    def _evidence(
        self, edges: Collection[Pair], blankets: Mapping[int, tuple[int, ...]], sides: Mapping[Pair, Evidence]
    ) -> dict[Pair, Evidence]:
        """Return one test for each pair.

        Up to two searches tested it, one from each end. Of the tests that agree with the graph this is the more
        doubtful one under the rule AND, the less doubtful one under OR.
        """
        decisive = max if self.rule == "and" else min
        evidence: dict[Pair, Evidence] = {}
        for (target, other), found in sides.items():
            pair = pair_of(target, other)
            if (other in blankets[target]) is (pair in edges):
                evidence[pair] = decisive(evidence.get(pair, found), found, key=_doubt)
        return evidence


def _directions(pair: Pair, blankets: Mapping[int, Collection[int]], tester: Tester) -> dict[Pair, Evidence]:
    """Return, for each end of a pair that is a target, the test of the pair given the rest of its blanket."""
    directions = {}
    for target, other in (pair, pair[::-1]):
        if target in blankets:
            given = tuple(sorted(set(blankets[target]) - {other}))
            directions[target, other] = Evidence((target, other, given), tester.test(target, other, given))
    return directions


def _combined(directions: list[Evidence], alpha: float) -> Evidence:
    """Return the decision about a pair from the tests in both directions.

    These are one and the same test if both are given the same columns.
    """
    weakest = max(directions, key=_doubt)
    if len({evidence.question[2] for evidence in directions}) == 1:
        return weakest
    first, second = (evidence.answer for evidence in directions)
    coarse = [answer.permutations for answer in (first, second) if answer.p_value * (answer.permutations + 1) <= 1]
    if coarse and min(coarse) > 0 and math.e / (min(coarse) + 1) >= alpha:
        warn(
            f"the rule combined: with {min(coarse)} permutations e sqrt(p1 p2) is not below alpha = {alpha}: give at "
            f"least {math.ceil(2 * math.e / alpha)}"
        )
    p_value = min(1.0, math.e * math.sqrt(first.p_value * second.p_value))
    independent = not p_value < alpha
    warn_of_stopped("the rule combined", (first, second), (first, second) if independent else ())
    answer = replace(
        weakest.answer,
        p_value=p_value,
        independent=independent,
        decided_by="both directions",
        permutations=0,
        p_value_bounds=None,
        anytime_p_value=None,
        log_p_value=None,
    )
    return Evidence(weakest.question, answer)


def _sides(searches: Iterable[Finding[tuple[int, ...]]]) -> dict[Pair, Evidence]:
    """Return what decided about each other column in the search for a target's blanket."""
    sides: dict[Pair, Evidence] = {}
    for search in searches:
        own = {pair_of(search.item, other) for other in search.found}
        for (a, b), found in most_doubtful(search.trail, own).items():
            if search.item in (a, b):
                sides[search.item, b if search.item == a else a] = found
    return sides


def most_doubtful(trail: Mapping[LeveledQuestion, CIResult], edges: Collection[Pair]) -> dict[Pair, Evidence]:
    """Return, for each pair that was tested, the weakest support of its edge or the strongest exclusion.

    That is the test with the largest p-value, of those that agree with the outcome or, if none does, of all.
    """
    chosen: dict[Pair, tuple[tuple[bool, float, float, int, Question], Evidence]] = {}
    for question, answer in trail.items():
        pair = pair_of(*question[:2])
        evidence = Evidence(question[:3], answer)
        key = (bool(answer.independent) != (pair in edges), *_doubt(evidence))
        if pair not in chosen or key > chosen[pair][0]:
            chosen[pair] = key, evidence
    return {pair: evidence for pair, (_, evidence) in chosen.items()}


def _doubt(evidence: Evidence) -> tuple[float, float, int, Question]:
    """Sort key: how much a test speaks against an edge."""
    answer = evidence.answer
    return answer.p_value, -answer.statistic, len(evidence.question[2]), evidence.question


def _blanket(learner: BlanketLearner, target: int, tester: Tester) -> tuple[int, ...]:
    candidates = tuple(i for i in range(len(tester.names)) if i != target)
    blanket = tuple(sorted(set(learner.blanket(target, candidates, tester))))
    if not set(blanket) <= set(candidates):
        raise PluginError(
            f"{learner.name}: the blanket of '{tester.names[target]}' is {blanket}: it may hold only the candidates"
        )
    return blanket
