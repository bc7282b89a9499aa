"""The framework's side of a CI test: orders the question, remembers the answer, checks what comes back."""

from __future__ import annotations

import math
import numbers
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import PluginError
from pyknnmi.protocols.ci_tests import BoundTest, CIResult, CITest
from pyknnmi.protocols.component import guarded
from pyknnmi.run import Progress, Run
from pyknnmi.search import processes
from pyknnmi.search.complete_cases import CompleteCases
from pyknnmi.search.constraints import Constraints
from pyknnmi.search.store import StoredAnswers

__all__ = ["Finding", "Question", "Tester"]

Question = tuple[int, int, tuple[int, ...]]
"""x, y and the sorted z, as column numbers; x < y when the test is symmetric."""

T = TypeVar("T")


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
    """

    item: int
    found: T
    trail: Mapping[Question, CIResult]
    scored: int


class Tester:
    """Asks a CI test about the columns of a data set. Learners see this and never the test itself.

    Attributes
    ----------
    names : tuple of str
        The columns.
    targets : tuple of int
        The columns that the run is about; all of them unless it was given targets.
    constrained : dict
        The pairs (i, j), i < j, that the run requires or forbids, with the answer to every question about them. These
        are never tested, and counted nowhere.
    answers : dict
        Every question answered so far, here or in a branch.
    trail : dict
        The questions asked of this branch, with their answers.
    scored : int
        Number of candidates ranked by this branch.
    """

    def __init__(
        self,
        test: CITest,
        dataset: Dataset,
        run: Run,
        constraints: Constraints | None = None,
        stored: StoredAnswers | None = None,
    ) -> None:
        constraints = constraints or Constraints()
        run = run.part()
        self._name = test.name
        self._symmetric = test.symmetric
        self._run = run
        bind = partial(CompleteCases, test) if dataset.has_missing else test.bind
        self._bound = guarded(test.name, "binding it to the data", lambda: bind(dataset, run))
        if not isinstance(self._bound, BoundTest):
            raise PluginError(f"{test.name}: bind returned {self._bound!r}, not a BoundTest")
        self.names = dataset.names
        self.targets = constraints.target_columns(dataset)
        self.constrained = constraints.answers(dataset)
        self.answers: dict[Question, CIResult] = {}
        self.trail: dict[Question, CIResult] = {}
        self.scored = 0
        self._on_answer: Callable[[], None] | None = None
        self._locks: dict[Question, threading.Lock] = {}
        self._stored = stored

    def each(self, work: Callable[[int, Tester], T], items: Sequence[int]) -> Iterator[Finding[T]]:
        """Yield what ``work(item, tester)`` finds for each of the items, as they are finished.

        The items are worked on side by side: with ``jobs`` in processes, else in threads if the test is made for it.
        So `work` is a function of a module, a method of a component, or a `functools.partial` of these. What was asked
        on the way is known here afterwards.
        """
        done = 0
        one_at_a_time = threading.Lock()

        def report() -> None:
            with one_at_a_time:
                self._run.report(Progress(done, len(items), len(self.answers)))

        self._on_answer = report
        try:
            for search in self._side_by_side(work, items):
                done += 1
                self.answers.update(search.trail)
                self.trail.update(search.trail)
                self.scored += search.scored
                report()
                yield search
        finally:
            self._on_answer = None

    def _side_by_side(self, work: Callable[[int, Tester], T], items: Sequence[int]) -> Iterator[Finding[T]]:
        threads = self._run.threads_per_job
        if self._run.workers > 1 and not processes.shares_memory():
            yield from self._in_processes(work, items)
        elif threads > 1 and 2 * threads <= len(items) and (shared := self._bound.for_threads()):
            yield from self._in_threads(work, items, threads, shared)
        else:
            yield from (_search(work, item, self._branch(_on_answer=self._on_answer)) for item in items)

    def _in_processes(self, work: Callable[[int, Tester], T], items: Sequence[int]) -> Iterator[Finding[T]]:
        fresh = self._branch(answers={}, _locks={})
        yield from processes.each(partial(_search_apart, work, tester=fresh), items, self._run.workers)

    def _in_threads(
        self, work: Callable[[int, Tester], T], items: Sequence[int], threads: int, shared: BoundTest
    ) -> Iterator[Finding[T]]:
        with ThreadPoolExecutor(threads) as pool:
            futures = [
                pool.submit(_search, work, item, self._branch(_on_answer=self._on_answer, _bound=shared))
                for item in items
            ]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:  # the learner may also have seen enough
                self._run.stop()
                pool.shutdown(cancel_futures=True)
                self._run.resume()
                raise

    def for_threads(self) -> Tester:
        """Return a tester with the same memory that several threads may use at a time.

        With one thread a call they are served side by side, if the test is made for it; otherwise one after another,
        each on all threads of the run.
        """
        shared = self._bound.for_threads() if self._run.threads_per_job == 1 else None
        return self._branch(_bound=shared or _OneAtATime(self._bound))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: the answers, and neither locks nor the progress of what is going on."""
        return {**self.__dict__, "_locks": {}, "_on_answer": None}

    def _branch(self, **changes: object) -> Tester:
        """Return a tester that shares the answers and starts a trail of its own."""
        branch = object.__new__(Tester)
        branch.__dict__ = {**self.__dict__, "trail": {}, "scored": 0, "_on_answer": None, **changes}
        return branch

    def test(self, x: int, y: int, z: Sequence[int] = ()) -> CIResult:
        """Return the answer for columns x and y given z; the same question is computed once."""
        question = self._question(x, y, z)
        if answer := self.constrained.get((min(x, y), max(x, y))):
            return answer
        with self._locks.setdefault(question, threading.Lock()):  # another thread may be asking the same
            if question not in self.answers:
                self.answers[question] = self._answer(question)
                if self._on_answer:
                    self._on_answer()
        self.trail[question] = self.answers[question]
        return self.answers[question]

    def test_groups(self, x: Sequence[int], y: Sequence[int], z: Sequence[int] = ()) -> CIResult:
        """Return the answer for two groups of columns, each taken as one variable; it is not remembered."""
        first, second = tuple(sorted(x)), tuple(sorted(y))
        if self._symmetric and second < first:
            first, second = second, first
        given = tuple(sorted(set(z)))
        bound: Any = self._bound  # that it takes groups is known from the component
        where = f"testing {self._listed(first)} and {self._listed(second)} given {self._listed(given)}"
        return self._checked(guarded(self._name, where, lambda: bound.test(first, second, given)), where)

    def _answer(self, question: Question) -> CIResult:
        x, y, given = question
        names = self.names[x], self.names[y], tuple(self.names[i] for i in given)
        if self._stored and (known := self._stored.get(*names)):
            return known
        where = f"testing {self._listed((x,))} and {self._listed((y,))} given {self._listed(given)}"
        answer = self._checked(guarded(self._name, where, lambda: self._bound.test(x, y, given)), where)
        if self._stored:
            self._stored.put(*names, answer)
        return answer

    def associations(self, x: int, candidates: Sequence[int], z: Sequence[int] = ()) -> NDArray[np.float64]:
        """Return, for each candidate, how strongly it goes with x given z; larger is stronger.

        Infinity stands for a required pair, minus infinity for a forbidden one.
        """
        fixed = [self.constrained.get((min(x, y), max(x, y))) for y in candidates]
        scores = np.array([np.nan if answer is None else -np.inf if answer.independent else np.inf for answer in fixed])
        free = np.isnan(scores)
        scores[free] = self._scores(x, [y for y, asked in zip(candidates, free, strict=True) if asked], z)
        return scores

    def _scores(self, x: int, candidates: Sequence[int], z: Sequence[int]) -> NDArray[np.float64]:
        if not candidates:
            return np.empty(0)
        given = tuple(sorted(z))
        where = f"associations of '{self.names[x]}' given {self._listed(given)}"
        scores = guarded(
            self._name,
            where,
            lambda: np.asarray(self._bound.associations(x, tuple(candidates), given), dtype=np.float64),
        )
        if scores.shape != (len(candidates),) or np.isnan(scores).any():
            raise PluginError(f"{self._name}: {where}: expected {len(candidates)} numbers, got {scores!r}")
        self.scored += len(candidates)
        return scores

    def _question(self, x: int, y: int, z: Sequence[int]) -> Question:
        given = tuple(sorted(set(z)))
        if x == y or x in given or y in given:
            raise ValueError(f"x, y and z overlap: {x}, {y}, {given}")
        return (y, x, given) if self._symmetric and y < x else (x, y, given)

    def _checked(self, answer: object, where: str) -> CIResult:
        """Return the answer in Python's own numbers, or raise an error if it is none."""
        problem = None
        if not isinstance(answer, CIResult):
            problem = f"returned {answer!r}, not a CIResult"
        elif not (isinstance(answer.statistic, numbers.Real) and math.isfinite(answer.statistic)):
            problem = f"returned the statistic {answer.statistic!r}: it must be a finite number"
        elif not (isinstance(answer.p_value, numbers.Real) and 0.0 <= answer.p_value <= 1.0):
            problem = f"returned the p-value {answer.p_value!r}: it must be a number in [0, 1]"
        elif not isinstance(answer.independent, bool | np.bool_):
            problem = f"returned independent = {answer.independent!r}: it must be true or false"
        elif not isinstance(answer.n, numbers.Integral):
            problem = f"returned n = {answer.n!r}: it must be a whole number"
        elif not isinstance(answer.permutations, numbers.Integral):
            problem = f"returned permutations = {answer.permutations!r}: it must be a whole number"
        if problem:
            raise PluginError(f"{self._name}: {where}: {problem}")
        found = cast(CIResult, answer)
        return replace(
            found,
            statistic=float(found.statistic),
            p_value=float(found.p_value),
            independent=bool(found.independent),
            n=int(found.n),
            permutations=int(found.permutations),
        )

    def _listed(self, z: tuple[int, ...]) -> str:
        return ", ".join(f"'{self.names[i]}'" for i in z) or "nothing"


class _OneAtATime(BoundTest):
    """A bound test that answers one call after another, whichever threads they come from."""

    def __init__(self, bound: BoundTest) -> None:
        self._bound = bound
        self._lock = threading.Lock()

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        with self._lock:
            return self._bound.test(x, y, z)

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        with self._lock:
            return self._bound.associations(x, candidates, z)

    def __reduce__(self) -> tuple[type[BoundTest], tuple[BoundTest]]:
        return type(self), (self._bound,)


def _search(work: Callable[[int, Tester], T], item: int, branch: Tester) -> Finding[T]:
    return Finding(item, work(item, branch), branch.trail, branch.scored)


def _search_apart(work: Callable[[int, Tester], T], item: int, *, tester: Tester) -> Finding[T]:
    """Search on a branch made in the worker: several searches that are sent there together share `tester`."""
    return _search(work, item, tester._branch())  # noqa: SLF001 (its own class)
