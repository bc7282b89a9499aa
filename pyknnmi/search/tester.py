"""What a learner sees of a CI test: each question is answered once, in one order, whoever puts it."""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset, listing
from pyknnmi.errors import PluginError, PyknnmiError, PyknnmiWarning, StoppedError, collected_warnings
from pyknnmi.locks import Lock
from pyknnmi.protocols.ci_tests import BoundTest, CIResult, CITest
from pyknnmi.protocols.learned_graph import LeveledQuestion, Question, pair_of
from pyknnmi.run import Progress, Run
from pyknnmi.search import processes, scheduling
from pyknnmi.search.complete_cases import CompleteCases
from pyknnmi.search.constraints import Constraints
from pyknnmi.search.contract import CheckedTest
from pyknnmi.search.store import StoredAnswers

__all__ = ["Finding", "Tester"]

T = TypeVar("T")
_log = logging.getLogger("pyknnmi")


@dataclass(frozen=True)
class Finding(Generic[T]):
    """One part of the work of a learner, done on a branch of the tester.

    Attributes
    ----------
    item : int
        What it was about.
    found : object
        What came out.
    trail : mapping
        The questions that led there, with their answers.
    scored : int
        Number of candidates ranked.
    warnings : mapping of str to tuple
        What another process would have warned of, and the topics of each: there it would not be seen.
    """

    item: int
    found: T
    trail: Mapping[LeveledQuestion, CIResult]
    scored: int
    warnings: Mapping[str, tuple[Hashable, ...]] = field(default_factory=dict)


class Tester:
    """Tests columns of a data set for conditional independence. Learners see this and never the CI test itself.

    Without a test it only knows the targets and the constraints. With `for_p_values`, `independent` compares the
    p-values of `test` too: for those who compare them with each other later.

    Attributes
    ----------
    names : tuple of str
        The columns.
    targets : tuple of int
        The columns that the run is about; all of them unless it was given targets.
    constrained : dict
        The pairs (i, j), i < j, that the run requires or forbids, with the answer to every question about them. These
        are never tested, and counted nowhere.
    alpha : float, optional
        The level of the test, if it has one.
    answers : dict
        Every question answered so far, here or in a branch.
    trail : dict
        The questions of this branch, with their answers.
    scored : int
        Number of candidates ranked by this branch.
    """

    def __init__(
        self,
        test: CITest | None,
        dataset: Dataset,
        run: Run,
        constraints: Constraints | None = None,
        stored: StoredAnswers | None = None,
        *,
        for_p_values: bool = False,
    ) -> None:
        constraints = constraints or Constraints()
        run = run.part()
        self._test_name = test.name if test else "no CI test"
        self._symmetric = test.symmetric if test else True
        self.alpha: float | None = getattr(test, "alpha", None)
        self._decides_early = test is not None and test.decides_early and not for_p_values
        self._run = run
        bind = CompleteCases if dataset.has_missing else CheckedTest
        self._bound: BoundTest = bind(test, dataset, run) if test else _NoTest()
        self.names = dataset.names
        self.targets = constraints.target_columns(dataset)
        self.constrained = constraints.answers(dataset)
        self.answers: dict[LeveledQuestion, CIResult] = {}
        self.trail: dict[LeveledQuestion, CIResult] = {}
        self.scored = 0
        self._on_answer: Callable[[LeveledQuestion], None] | None = None
        self._locks: dict[LeveledQuestion, Lock] = {}
        self._stored = stored

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: the answers, and neither locks nor the progress of what is going on."""
        return {**self.__dict__, "_locks": {}, "_on_answer": None}

    def each(self, work: Callable[[int, Tester], T], items: Sequence[int]) -> Iterator[Finding[T]]:
        """Yield what ``work(item, tester)`` finds for each of the items, as they are finished.

        The items are worked on side by side: with ``jobs`` in processes, else in threads if the test is made for it.
        So `work` is a function of a module, a method of a component, or a `functools.partial` of these. The questions
        that it put are known here afterwards.
        """
        done = 0
        one_at_a_time = Lock()

        def report(_: LeveledQuestion | None = None) -> None:
            with one_at_a_time:
                self._run.report(Progress(done, len(items), len(self.answers)))

        def on_branch(item: int, **changes: object) -> Finding[T]:
            return _search(work, item, self._branch(_on_answer=report, **changes))

        def for_threads() -> Callable[[int], Finding[T]] | None:
            shared = self._bound.for_threads()
            return partial(on_branch, _bound=shared) if shared else None

        def for_processes() -> Callable[[int], Finding[T]]:
            if processes.is_on_cluster():  # it may share no files with this machine, so the store stays here
                return partial(_search_apart, work, tester=self._branch(answers=self._all_stored(), _stored=None))
            return partial(_search_apart, work, tester=self._branch(answers={}))

        self._on_answer = report
        try:
            report()
            findings = scheduling.each(
                on_branch,
                items,
                self._run,
                for_threads=for_threads,
                for_processes=for_processes,
                on_message=self._keep_on_the_way if self._stored else None,
            )
            for finding in findings:
                done += 1
                self.answers.update(finding.trail)
                if processes.is_on_cluster():
                    self._keep(finding.trail)
                self.trail.update(finding.trail)
                self.scored += finding.scored
                _log.debug("%d of %d: column '%s'", done, len(items), self.names[finding.item])
                for message, topics in finding.warnings.items():
                    if any(self._run.is_new(topic) for topic in topics):
                        self._run.warn_about(topics, message)
                report()
                yield finding
        except processes.WorkerKilledError as error:
            kept = "; what is in the store is kept" if self._stored else "; with a store, what is done would be kept"
            raise StoppedError(
                "a worker process was killed, perhaps since memory ran out, while these columns were worked on: "
                f"{listing([self.names[item] for item in error.items])}; take fewer jobs, or more memory{kept}"
            ) from None
        finally:
            self._on_answer = None

    def for_threads(self) -> Tester:
        """Return a tester with the same memory that several threads may use at a time.

        With one thread a call they are served side by side, if the test is made for it; otherwise one after another,
        each on all threads of the run.
        """
        shared = self._bound.for_threads() if self._run.threads_per_job == 1 else None
        return self._branch(_bound=shared or _OneAtATime(self._bound))

    def test(self, x: int, y: int, z: Sequence[int] = (), *, among: int = 1) -> CIResult:
        """Return the answer for columns x and y given z; the same question is computed once.

        The more candidates there are, the more often the best of them looks dependent by chance. `among` says how many
        there are: dependence then needs a p-value below alpha / among (Bonferroni). To a test without `alpha` this
        makes no difference.

        To know no more than whether the two are independent, ask `independent`.
        """
        level = self.alpha / among if among > 1 and self.alpha is not None else None
        return self._asked(self._question(x, y, z), level)

    def independent(self, x: int, y: int, z: Sequence[int] = (), *, among: int = 1) -> bool:
        """Return whether columns x and y are independent given z.

        A test may end as soon as it knows that, where `test` goes on until it knows the p-value. So searches ask this,
        and `test` is for those who compare p-values. It may seldom differ from the decision of `test`, where p is close
        to alpha. With `among` as for `test`.
        """
        level = self.alpha / among if (among > 1 or self._decides_early) and self.alpha is not None else None
        return self._asked(self._question(x, y, z), level).independent

    def _asked(self, plain: Question, level: float | None) -> CIResult:
        question: LeveledQuestion = plain if level is None else (*plain, level)
        if answer := self.constrained.get(pair_of(*plain[:2])):
            return answer
        if question not in self.answers:
            self._ask(question)
        self.trail[question] = self.answers[question]
        return self.answers[question]

    def _ask(self, question: LeveledQuestion) -> None:
        """Have a question answered; another thread may have the same one."""
        with self._locks.setdefault(question, Lock()):
            if question not in self.answers:
                self.answers[question] = self._answer(question)
                if self._on_answer:
                    self._on_answer(question)
            self._locks.pop(question, None)  # who waits for the lock, or makes a new one, finds the answer

    def test_groups(self, x: Sequence[int], y: Sequence[int], z: Sequence[int] = ()) -> CIResult:
        """Return the answer for two groups of columns, each taken as one variable; it is not remembered."""
        first, second = tuple(sorted(x)), tuple(sorted(y))
        if self._symmetric and second < first:
            first, second = second, first
        bound: Any = self._bound  # groups are tested on complete data only, by tests that take them
        return cast(CIResult, bound.test_groups(first, second, tuple(sorted(set(z)))))

    def associations(self, x: int, candidates: Sequence[int], z: Sequence[int] = ()) -> NDArray[np.float64]:
        """Return, for each candidate, how strongly it goes with x given z; larger is stronger.

        Infinity stands for a required pair, minus infinity for a forbidden one.
        """
        fixed = [self.constrained.get(pair_of(x, y)) for y in candidates]
        scores = np.array([np.nan if answer is None else -np.inf if answer.independent else np.inf for answer in fixed])
        free = np.isnan(scores)
        if free.any():
            ranked = tuple(y for y, is_free in zip(candidates, free, strict=True) if is_free)
            scores[free] = self._bound.associations(x, ranked, tuple(sorted(z)))
            self.scored += len(ranked)
        return scores

    def _all_stored(self) -> dict[LeveledQuestion, CIResult]:
        """Return the answers in the store, but for those at a level below alpha."""
        place = {name: i for i, name in enumerate(self.names)}
        found: dict[LeveledQuestion, CIResult] = {}
        if self._stored:
            for x, y, z, answer in self._stored.all():
                found[place[x], place[y], tuple(place[name] for name in z)] = answer
        if self._stored and self._decides_early and self.alpha is not None:
            for x, y, z, answer in self._stored.at(self.alpha).all():
                found[place[x], place[y], tuple(place[name] for name in z), self.alpha] = answer
        return found

    def _keep_on_the_way(self, answers: Mapping[LeveledQuestion, CIResult]) -> None:
        with suppress(PyknnmiError):  # of the store: it is raised when the column is done
            self._keep(answers)

    def _keep(self, answers: Mapping[LeveledQuestion, CIResult]) -> None:
        """Put answers that were made elsewhere into the store."""
        for question, answer in answers.items():
            names, stored = self._for_store(question)
            if stored:
                stored.put(*names, answer)

    def _for_store(self, question: LeveledQuestion) -> tuple[tuple[str, str, tuple[str, ...]], StoredAnswers | None]:
        """Return a question by names, and the part of the store that it belongs to."""
        x, y, given, *level = question
        names = self.names[x], self.names[y], tuple(self.names[i] for i in given)
        return names, self._stored.at(*level) if self._stored and level else self._stored

    def _answer(self, question: LeveledQuestion) -> CIResult:
        x, y, given, *level = question
        names, stored = self._for_store(question)
        if stored and (known := stored.get(*names)):
            return known
        answer = self._bound.test_at(x, y, given, *level) if level else self._bound.test(x, y, given)
        if level and level[0] != self.alpha:
            answer = replace(answer, level=level[0])
            self._warn_of_coarse(answer, *level)
        if stored:
            stored.put(*names, answer)
        return answer

    def _warn_of_coarse(self, answer: CIResult, level: float) -> None:
        smallest = 1 / (answer.permutations + 1)
        if answer.permutations and answer.p_value <= smallest and smallest >= level:
            self._run.warn_once(
                ("level", self._test_name),
                f"{self._test_name}: with {answer.permutations} permutations no p-value is below the level {level:.2g} "
                f"that the best of several candidates needs: give at least {math.ceil(1 / level)}",
            )

    def _question(self, x: int, y: int, z: Sequence[int]) -> Question:
        given = tuple(sorted(set(z)))
        if x == y or x in given or y in given:
            raise ValueError(f"x, y and z overlap: {x}, {y}, {given}")
        if not all(0 <= i < len(self.names) for i in (x, y, *given)):
            raise ValueError(f"columns {x}, {y} and {given}: there are columns 0 to {len(self.names) - 1}")
        return (y, x, given) if self._symmetric and y < x else (x, y, given)

    def _branch(self, **changes: object) -> Tester:
        """Return a tester that shares the answers and starts a trail of its own."""
        branch = object.__new__(Tester)
        branch.__dict__ = {**self.__dict__, "trail": {}, "scored": 0, "_on_answer": None, **changes}
        return branch


class _OneAtATime(BoundTest):
    """A bound test that answers one call after another, whichever threads they come from."""

    def __init__(self, bound: BoundTest) -> None:
        self._bound = bound
        self._lock = Lock()

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        with self._lock:
            return self._bound.test(x, y, z)

    def test_at(self, x: int, y: int, z: tuple[int, ...], level: float) -> CIResult:
        with self._lock:
            return self._bound.test_at(x, y, z, level)

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        with self._lock:
            return self._bound.associations(x, candidates, z)

    def test_groups(self, x: tuple[int, ...], y: tuple[int, ...], z: tuple[int, ...]) -> CIResult:
        bound: Any = self._bound
        with self._lock:
            return cast(CIResult, bound.test_groups(x, y, z))

    def __reduce__(self) -> tuple[type[BoundTest], tuple[BoundTest]]:
        return type(self), (self._bound,)


class _NoTest(BoundTest):
    """What stands where a learner uses no test."""

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        raise PluginError("the learner says uses_test = False, and used a CI test")


def _search(work: Callable[[int, Tester], T], item: int, branch: Tester) -> Finding[T]:
    return Finding(item, work(item, branch), branch.trail, branch.scored)


def _search_apart(work: Callable[[int, Tester], T], item: int, *, tester: Tester) -> Finding[T]:
    """Search on a branch made in the worker: several searches that are sent there together share `tester`."""
    with collected_warnings() as messages, warnings.catch_warnings():
        warnings.simplefilter("ignore", PyknnmiWarning)
        for answers in processes.sent_so_far():  # of a worker that was lost while it was at this item
            tester.answers.update(answers)
        branch = tester._branch(  # noqa: SLF001 (its own class)
            _on_answer=lambda question: processes.send({question: tester.answers[question]})
        )
        finding = _search(work, item, branch)
        topics = {message: tester._run.topics_of(message) for message in messages}  # noqa: SLF001
    return replace(finding, warnings=topics)
