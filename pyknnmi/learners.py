"""The protocol of structure learners, and the base of those that find one Markov blanket a column."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from pyknnmi.ci_tests import CIResult
from pyknnmi.component import Component
from pyknnmi.data import Dataset
from pyknnmi.errors import PluginError
from pyknnmi.run import Progress, Run
from pyknnmi.tester import Question, Tester

__all__ = ["BlanketLearner", "Evidence", "Learned", "Learner"]

Pair = tuple[int, int]


@dataclass(frozen=True)
class Evidence:
    """The test that speaks for or against an edge.

    Attributes
    ----------
    question : (int, int, tuple of int)
        The columns x, y and z that were tested.
    answer : CIResult
        What came out.
    """

    question: Question
    answer: CIResult


@dataclass(frozen=True)
class Learned:
    """What a learner found, in column numbers.

    Attributes
    ----------
    edges : collection of (int, int)
        The pairs that are joined, in any order.
    blankets : mapping of int to tuple of int, optional
        The Markov blanket of each column, for learners that find them.
    evidence : mapping of (int, int) to Evidence
        For pairs i < j that were tested; pairs without an edge may be there too.
    """

    edges: Collection[Pair]
    blankets: Mapping[int, tuple[int, ...]] | None = None
    evidence: Mapping[Pair, Evidence] = field(default_factory=dict)


class Learner(Component):
    """Base of learners. The columns it sees are in their natural order by name, and none is constant."""

    kind: ClassVar[str] = "learner"

    uses_test: ClassVar[bool] = True
    """Whether the learner asks a CI test; if not, a spec must not name one."""

    @abstractmethod
    def learn(self, dataset: Dataset, test: Tester, run: Run) -> Learned:
        """Return the graph of the columns of `dataset`.

        `test` is None for a learner that does not use one. Score candidates by ``test.associations`` and decide
        by ``test.test``.
        """


@dataclass(frozen=True)
class _Search:
    """One finished search: the target's blanket and the questions that led to it."""

    target: int
    blanket: tuple[int, ...]
    trail: Mapping[Question, CIResult]
    scored: int


class BlanketLearner(Learner):
    """Base of learners that find the Markov blanket of each column and join them by a rule.

    A subclass has a field ``rule: Literal["and", "or"] = "and"`` and the one method `blanket`. The searches
    run side by side with ``n_jobs``.
    """

    rule: Literal["and", "or"]

    @abstractmethod
    def blanket(self, target: int, candidates: tuple[int, ...], test: Tester) -> Iterable[int]:
        """Return the Markov blanket of `target`, chosen from `candidates`."""

    def learn(self, dataset: Dataset, test: Tester, run: Run) -> Learned:
        """Return the graph that the rule makes of all blankets."""
        searches: dict[int, _Search] = {}

        def report() -> None:
            if run.progress:
                run.progress(Progress(len(searches), dataset.p, len(test.answers)))

        test.on_answer = report
        for search in self._searches(range(dataset.p), test, run):
            searches[search.target] = search
            test.absorb(search.trail, search.scored)
            report()
        blankets = {target: searches[target].blanket for target in range(dataset.p)}
        pairs = [(i, j) for i in range(dataset.p) for j in range(i + 1, dataset.p)]
        join = all if self.rule == "and" else any
        edges = {(i, j) for i, j in pairs if join((j in blankets[i], i in blankets[j]))}
        evidence = {}
        for pair in pairs:
            if found := self._evidence(pair, pair in edges, searches):
                evidence[pair] = found
        return Learned(edges, blankets, evidence)

    def _searches(self, targets: Sequence[int], test: Tester, run: Run) -> Iterator[_Search]:
        if run.jobs == 1:
            yield from (_search(self, target, test.branch()) for target in targets)
            return
        import joblib

        fresh = test.branch()
        fresh.on_answer = None
        pool = joblib.Parallel(n_jobs=run.jobs, return_as="generator_unordered")
        yield from pool(joblib.delayed(_search)(self, target, fresh) for target in targets)

    def _evidence(self, pair: Pair, joined: bool, searches: Mapping[int, _Search]) -> Evidence | None:
        """Return the test that decided about a pair, from the two searches that may have asked.

        In each search the weakest support of a member and the strongest exclusion of another is the test with the
        largest p-value. With the rule AND the more doubtful of the two searches decides, with OR the less doubtful.
        """
        sides = []
        for target, other in (pair, pair[::-1]):
            search = searches[target]
            inside = other in search.blanket
            asked = [
                Evidence(question, answer)
                for question, answer in search.trail.items()
                if set(question[:2]) == set(pair) and answer.independent != inside
            ]
            if asked and inside is joined:
                sides.append(max(asked, key=_doubt))
        if not sides:
            return None
        return max(sides, key=_doubt) if self.rule == "and" else min(sides, key=_doubt)


def _doubt(evidence: Evidence) -> tuple[float, float, int, Question]:
    """Sort key: how much a test speaks against an edge."""
    answer = evidence.answer
    return answer.p_value, -answer.statistic, len(evidence.question[2]), evidence.question


def _search(learner: BlanketLearner, target: int, test: Tester) -> _Search:
    candidates = tuple(i for i in range(len(test.names)) if i != target)
    blanket = tuple(sorted(set(learner.blanket(target, candidates, test))))
    if not set(blanket) <= set(candidates):
        raise PluginError(
            f"{learner.name}: the blanket of '{test.names[target]}' is {blanket}: it may hold only the candidates"
        )
    return _Search(target, blanket, test.trail, test.scored)
