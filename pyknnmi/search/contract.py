"""The contract: what a CI test, a learner and a transform may return.

Every run and the conformance kit call these checks. Each returns what came back in plain Python types, or raises a
`PluginError` that names the component, the columns and what came back.
"""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.dataset import Dataset, listing
from pyknnmi.errors import DataError, PluginError, shown
from pyknnmi.protocols.ci_tests import BoundTest, CIResult, CITest
from pyknnmi.protocols.component import guarded, is_own
from pyknnmi.protocols.learned_graph import Evidence, LearnedGraph, Pair, pair_of
from pyknnmi.protocols.transforms import Transform
from pyknnmi.run import Run
from pyknnmi.search.constraints import FORBIDDEN, REQUIRED

__all__ = ["CheckedTest", "checked_graph", "checked_transform", "number"]

T = TypeVar("T")
Answers = Mapping[Pair, CIResult]

_ROUNDING = 1e-9
"""How far beyond [0, 1] a p-value may lie by rounding."""


def number(value: object) -> float | None:
    """Return a real number, which an array of no dimensions may hold, as a float; None for anything else.

    A boolean is no number here: where a p-value is due, it is a verdict.
    """
    if type(value) is float or value is None:
        return value
    array = np.asarray(value)
    if array.shape or array.dtype.kind not in "fiuO" or isinstance(value, str | bytes | np.ma.MaskedArray):
        return None
    try:
        return float(array[()])
    except (TypeError, ValueError, OverflowError):
        return None


def checked_answer(answer: object, rows: int) -> CIResult:
    """Return the answer of a CI test on so many rows in Python's own numbers, or raise a `PluginError`.

    A p-value that lies outside [0, 1] by rounding is put on the nearer end.
    """
    if not isinstance(answer, CIResult):
        raise PluginError(f"returned {shown(answer)}, not a CIResult")
    statistic, p_value, log_p_value, anytime = map(
        number, (answer.statistic, answer.p_value, answer.log_p_value, answer.anytime_p_value)
    )
    independent, n, made, bounds = answer.independent, answer.n, answer.permutations, answer.p_value_bounds
    if isinstance(answer.p_value, bool | np.bool_):
        verdict = shown(answer.p_value)
        raise PluginError(f"returned the p-value {verdict}: a verdict is no p-value, give a number in [0, 1]")
    if p_value is None or not -_ROUNDING <= p_value <= 1.0 + _ROUNDING:
        raise PluginError(f"returned the p-value {shown(answer.p_value)}: it must be a number in [0, 1]")
    if statistic is None or not math.isfinite(statistic):
        raise PluginError(f"returned the statistic {shown(answer.statistic)}: it must be a finite number")
    if not isinstance(independent, bool | np.bool_):
        raise PluginError(f"returned independent = {shown(independent)}: it must be true or false")
    if not _is_whole(n) or not 1 <= n <= rows:
        raise PluginError(f"returned n = {shown(n)}: it must be a whole number of rows, from 1 to {rows}")
    if not isinstance(answer.decided_by, str) or not answer.decided_by:
        raise PluginError(f"returned decided_by = {shown(answer.decided_by)}: say in a word what the decision rests on")
    if answer.decided_by in (REQUIRED, FORBIDDEN):
        raise PluginError(f"returned decided_by = {shown(answer.decided_by)}: for pairs that are not tested")
    if not _is_whole(made) or made < 0:
        raise PluginError(f"returned permutations = {shown(made)}: it must be a whole number, 0 or more")
    _check_further_p_values(answer, log_p_value, anytime)
    if not isinstance(answer.redundant, tuple) or not all(isinstance(name, str) for name in answer.redundant):
        raise PluginError(f"returned redundant = {shown(answer.redundant)}: it must be a tuple of names of columns")
    fields: dict[str, Any] = {
        "statistic": statistic,
        "p_value": min(max(p_value, 0.0), 1.0),
        "independent": bool(independent),
        "n": int(n),
        "permutations": int(made),
        "log_p_value": None if log_p_value is None else min(log_p_value, 0.0),
        "anytime_p_value": anytime,
        "p_value_bounds": None if bounds is None else (float(bounds[0]), float(bounds[1])),
    }
    changed = {name: value for name, value in fields.items() if value is not getattr(answer, name)}
    return replace(answer, **changed) if changed else answer


def _check_further_p_values(answer: CIResult, log_p_value: float | None, anytime: float | None) -> None:
    bounds = answer.p_value_bounds
    if answer.log_p_value is not None and (log_p_value is None or not log_p_value <= _ROUNDING):
        raise PluginError(f"returned log_p_value = {shown(answer.log_p_value)}: it must be a number up to 0, or None")
    if bounds is not None and not _are_bounds(bounds):
        raise PluginError(f"returned p_value_bounds = {shown(bounds)}: it must be two numbers in [0, 1] in order")
    if answer.anytime_p_value is not None and (anytime is None or not 0.0 <= anytime <= 1.0):
        raise PluginError(
            f"returned anytime_p_value = {shown(answer.anytime_p_value)}: it must be a number in [0, 1], or None"
        )


class CheckedTest(BoundTest):
    """A CI test on data: what it returns keeps the contract, and an error names the test and the columns.

    Parameters
    ----------
    test : CITest
    dataset : Dataset
    run : Run
    """

    def __init__(self, test: CITest, dataset: Dataset, run: Run) -> None:
        self._test = test
        self._name = test.name
        self._names = dataset.names
        self._rows = dataset.n
        self._bound = guarded(test, "binding it to the data", lambda: test.bind(dataset, run))
        if not isinstance(self._bound, BoundTest):
            raise PluginError.of(test.name, f"bind returned {shown(self._bound)}, not a BoundTest")

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        return self._answer((x,), (y,), z, lambda: self._bound.test(x, y, z))

    def test_at(self, x: int, y: int, z: tuple[int, ...], level: float) -> CIResult:
        """Return the answer at a level below the test's own."""
        return self._answer((x,), (y,), z, lambda: self._bound.test_at(x, y, z, level))

    def test_groups(self, x: tuple[int, ...], y: tuple[int, ...], z: tuple[int, ...]) -> CIResult:
        """Return the answer for two groups of columns, for tests that take them."""
        bound: Any = self._bound
        return self._answer(x, y, z, lambda: bound.test(x, y, z))

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        """Return how strongly each candidate goes with x given z."""
        if type(self._bound).associations is BoundTest.associations:
            return super().associations(x, candidates, z)  # test by test, so that an error names the pair
        where = f"associations of {self._listed((x,))} with {self._listed(candidates)} given {self._listed(z)}"
        given = guarded(self._test, where, lambda: self._bound.associations(x, candidates, z))
        try:
            scores = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            scores = np.empty(0)
        if scores.shape != (len(candidates),):
            raise PluginError.of(
                f"{self._name}: {where}", f"returned {shown(given)}, not an array of {len(candidates)} numbers"
            )
        if np.isnan(scores).any():
            bad = [self._names[y] for y, score in zip(candidates, scores, strict=True) if np.isnan(score)]
            raise PluginError.of(f"{self._name}: {where}", f"returned NaN for {listing(bad)}")
        return scores

    def for_threads(self) -> CheckedTest | None:
        """Return this test for use from several threads, or None if it cannot be used so."""
        shared = guarded(self._test, "for_threads", self._bound.for_threads)
        if shared is None:
            return None
        if not isinstance(shared, BoundTest):
            raise PluginError.of(self._name, f"for_threads returned {shown(shared)}, neither a BoundTest nor None")
        checked = object.__new__(CheckedTest)
        checked.__dict__ = {**self.__dict__, "_bound": shared}
        return checked

    def _answer(
        self, x: tuple[int, ...], y: tuple[int, ...], z: tuple[int, ...], call: Callable[[], object]
    ) -> CIResult:
        def where() -> str:
            return f"testing {self._listed(x)} and {self._listed(y)} given {self._listed(z)}"

        def checked() -> CIResult:
            answer = call()
            try:
                return checked_answer(answer, self._rows)
            except PluginError as error:
                raise PluginError.of(f"{self._name}: {where()}", str(error)) from None

        return guarded(self._test, where, checked)  # the check too, since what came back may have code of its own

    def _listed(self, columns: Sequence[int]) -> str:
        return listing([f"'{self._names[i]}'" for i in columns]) or "nothing"


def checked_graph(
    name: str,
    learned: object,
    dataset: Dataset,
    constrained: Answers | None = None,
    targets: Collection[int] | None = None,
) -> LearnedGraph:
    """Return what the learner `name` returned for `dataset` with plain column numbers, or raise a `PluginError`.

    Parameters
    ----------
    name : str
    learned : object
    dataset : Dataset
    constrained : mapping of (int, int) to CIResult, optional
        The pairs that are required or forbidden, which the learner must heed.
    targets : collection of int, optional
        The columns that were searched for; every edge has one of them as an end.
    """
    try:
        return _checked_graph(learned, dataset, constrained or {}, targets)
    except PluginError as error:
        raise PluginError(f"{name}: {error}") from None


def _checked_graph(
    learned: object, dataset: Dataset, constrained: Answers, targets: Collection[int] | None
) -> LearnedGraph:
    if not isinstance(learned, LearnedGraph):
        raise PluginError(f"learn returned {shown(learned)}, not a LearnedGraph")
    edges = frozenset(_pair(pair, dataset) for pair in _items(learned.edges, "edges", "pairs of columns"))
    blankets = None if learned.blankets is None else _blankets(learned.blankets, dataset)
    evidence = None if learned.evidence is None else _evidence(learned.evidence, "evidence", dataset, constrained)
    sides = _evidence(learned.sides, "sides", dataset, constrained)
    for pair, answer in constrained.items():
        if answer.independent is (pair in edges):
            did = "joined it" if pair in edges else "left it out"
            a, b = (dataset.names[i] for i in pair)
            raise PluginError(f"the edge {a} - {b} is {answer.decided_by}, but the learner {did}")
    for pair in () if targets is None else sorted(edges):
        if not set(pair) & set(targets or ()):
            a, b = (dataset.names[i] for i in pair)
            raise PluginError(f"the edge {a} - {b} was joined, but neither end is a target")
    try:
        json.dumps(_mapping(learned.details, "details"))
    except (TypeError, ValueError) as error:
        raise PluginError(f"learn returned details that JSON does not know: {error}") from None
    return LearnedGraph(edges, blankets, _by_pair(evidence), learned.details, sides)


def _blankets(given: object, dataset: Dataset) -> dict[int, tuple[int, ...]]:
    blankets = {}
    for target, blanket in _mapping(given, "blankets").items():
        columns = _items(blanket, f"the blanket of column {shown(target)}", "columns")
        if target in columns or not all(_is_column(i, dataset) for i in (target, *columns)):
            raise PluginError(
                f"learn returned the blanket {shown(blanket)} of column {shown(target)}, not other columns of "
                f"{range(dataset.p)}"
            )
        blankets[int(target)] = tuple(map(int, columns))
    return blankets


def _by_pair(evidence: Mapping[Pair, Evidence] | None) -> dict[Pair, Evidence] | None:
    return None if evidence is None else {pair_of(*pair): found for pair, found in evidence.items()}


def _evidence(given: object, what: str, dataset: Dataset, constrained: Answers) -> dict[Pair, Evidence]:
    """Return the evidence under its pairs, whose columns stay in their order."""
    evidence = {}
    for pair, found in _mapping(given, what).items():
        if not isinstance(found, Evidence):
            raise PluginError(f"learn returned {shown(found)} as the evidence of {shown(pair)}, not an Evidence")
        try:
            x, y, z = found.question
            about, apart = _pair((x, y), dataset), all(_is_column(i, dataset) and i not in (x, y) for i in z)
        except (TypeError, ValueError):
            apart = False
        if not apart or about != _pair(pair, dataset):
            raise PluginError(f"learn returned the question {shown(found.question)} as the evidence of {shown(pair)}")
        if about not in constrained:
            i, j = pair
            evidence[int(i), int(j)] = Evidence(
                (int(x), int(y), tuple(map(int, z))), checked_answer(found.answer, dataset.n)
            )
    return evidence


def checked_transform(transform: Transform, dataset: Dataset) -> Dataset:
    """Return what a transform makes of `dataset`, or raise an error unless it has the same rows and names.

    Raises
    ------
    PluginError
        Something else than a `Dataset` of these rows and names.
    DataError
        The transform's own, or numbers that became missing values.
    """
    try:
        result = guarded(transform, "transforming", lambda: transform.apply(dataset))
    except DataError as error:
        if not is_own(transform):
            raise  # it names the transform
        raise DataError(f"the transform '{transform.name}': {error}") from error
    problem = ""
    if not isinstance(result, Dataset):
        problem = f"returned {shown(result)}, not a Dataset"
    elif result.names != dataset.names:
        problem = f"changed the names of the columns to {listing(result.names)}"
    elif result.n != dataset.n:
        problem = f"changed the rows: {dataset.n} became {result.n}"
    if problem:
        raise PluginError(f"the transform '{transform.name}' {problem}")
    if result.has_missing:
        lost = [name for name, column in zip(result.names, result.values.T, strict=True) if np.isnan(column).any()]
        raise DataError(
            f"the transform '{transform.name}' makes missing values (NaN) of numbers in column {listing(lost)}: leave "
            "these columns out, or the transform"
        )
    return result


def _is_whole(value: object) -> bool:
    return type(value) is int or (isinstance(value, numbers.Integral) and not isinstance(value, bool))


def _are_bounds(given: object) -> bool:
    if not isinstance(given, tuple) or len(given) != 2:
        return False
    low, high = map(number, given)
    return low is not None and high is not None and 0.0 <= low <= high <= 1.0


def _is_column(value: object, dataset: Dataset) -> bool:
    return _is_whole(value) and value in range(dataset.p)


def _pair(given: object, dataset: Dataset) -> Pair:
    pair = tuple(given) if isinstance(given, Collection) else ()
    if len(set(pair)) != 2 or len(pair) != 2 or not all(_is_column(i, dataset) for i in pair):
        raise PluginError(f"learn returned the pair {shown(given)}, not two columns of {range(dataset.p)}")
    return pair_of(int(pair[0]), int(pair[1]))


def _items(given: object, what: str, of: str) -> tuple[Any, ...]:
    if not isinstance(given, Collection):
        raise PluginError(f"learn returned {shown(given)} as {what}, not a collection of {of}")
    return tuple(given)


def _mapping(given: object, what: str) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise PluginError(f"learn returned {shown(given)} as {what}, not a mapping")
    return given
