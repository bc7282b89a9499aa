"""The conformance kit: built-in components pass, and each breach of the contract is found."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from pyknnmi import CIResult, Dataset, PyknnmiWarning
from pyknnmi.components import BoundTest, CITest, LearnedGraph, Learner, Transform
from pyknnmi.conformance.kit import failures
from pyknnmi.registry.registry import Registry
from pyknnmi.testing import (
    check_ci_test,
    check_learner,
    check_transform,
    checks_of,
    parametrize_with_checks,
)


@parametrize_with_checks([cls() for cls in Registry([]).components()])
def test_built_in_components_pass(check):
    check()


def result(statistic=0.1, p_value=0.5, independent=True, n=60, decided_by="x"):
    return CIResult(statistic=statistic, p_value=p_value, independent=independent, n=n, decided_by=decided_by)


counter = itertools.count()

BAD_ANSWERS = {
    "not a CIResult": lambda bound, x, y, z: 0.5,
    "statistic nan": lambda bound, x, y, z: result(statistic=float("nan")),
    "p-value 1.5": lambda bound, x, y, z: result(p_value=1.5),
    "independent = 1": lambda bound, x, y, z: result(independent=1),
    "the p-value True: a verdict": lambda bound, x, y, z: result(p_value=True),
    "all p-values are 0 or 1: a verdict": lambda bound, x, y, z: result(p_value=float(len(z) == 0)),
    "n = 1000000000": lambda bound, x, y, z: result(n=10**9),
    "decided_by = ''": lambda bound, x, y, z: result(decided_by=""),
    "answered again": lambda bound, x, y, z: result(statistic=float(next(counter))),
    "x and y exchanged": lambda bound, x, y, z: result(statistic=float(x)),
    "the data were written to": lambda bound, x, y, z: bound.write(),
    "global random numbers were used": lambda bound, x, y, z: result(statistic=0 * np.random.rand()),  # noqa: NPY002
    "error handling was changed": lambda bound, x, y, z: np.seterr(divide="ignore") and result(),
    "not an array of 2 numbers": lambda bound, x, y, z: result(),
    "for_threads returned 'yes', neither": lambda bound, x, y, z: result(),
    "beside others in several threads": lambda bound, x, y, z: result(statistic=float(bound.shared)),
    "on two threads": lambda bound, x, y, z: result(statistic=float(bound.run.threads)),
    "with another seed, for a test without needs_seed": lambda bound, x, y, z: result(statistic=float(bound.run.seed)),
    "given 'c': returned None": lambda bound, x, y, z: None if isinstance(x, tuple) else result(),
    "other codes for the same categories": lambda bound, x, y, z: result(statistic=bound.dataset.values[:, -1].var()),
    "against the complete rows alone": lambda bound, x, y, z: result(
        n=bound.dataset.n, statistic=float(next(counter)) if bound.dataset.n < 120 else 0.0
    ),
}


@dataclass(frozen=True, kw_only=True)
class Bad(CITest):
    """Breaks the contract in one way."""

    name: ClassVar[str] = "bad"
    takes_groups: ClassVar[bool] = True

    breach: str = ""

    def accepts(self, kind):
        return True

    def bind(self, dataset, run):
        return BoundBad(self, dataset, run)


class BoundBad(BoundTest):
    def __init__(self, component, dataset, run, shared=False):
        self.component = component
        self.breach = component.breach
        self.dataset = dataset
        self.run = run
        self.shared = shared

    def write(self):
        values = self.dataset.values
        values.flags.writeable = True
        values[0, 0] += 1
        return result()

    def test(self, x, y, z):
        return BAD_ANSWERS[self.breach](self, x, y, z)

    def associations(self, x, candidates, z):
        if "array" in self.breach:
            return np.zeros(3)
        return super().associations(x, candidates, z)

    def for_threads(self):
        return "yes" if "'yes'" in self.breach else BoundBad(self.component, self.dataset, self.run, shared=True)


@pytest.mark.parametrize("breach", BAD_ANSWERS)
def test_breaches_of_a_ci_test_are_found(breach):
    with pytest.raises(AssertionError, match=re.escape(breach)):
        check_ci_test(Bad(breach=breach))


BAD_DECISIONS = {
    "made again on two threads": lambda bound, x, y, z: result(statistic=float(bound.run.threads)),
    "against its p-value": lambda bound, x, y, z: result(statistic=0.2),
    "is not that of its p-value at alpha": lambda bound, x, y, z: result(p_value=0.01),
}


@dataclass(frozen=True, kw_only=True)
class BadDecider(CITest):
    """Decides early in a wrong way."""

    name: ClassVar[str] = "bad-decider"

    breach: str = ""
    alpha: float | None = 0.05

    @property
    def decides_early(self):
        return True

    def bind(self, dataset, run):
        return BoundBadDecider(self, run)


class BoundBadDecider(BoundTest):
    def __init__(self, component, run):
        self.component = component
        self.run = run

    def test(self, x, y, z):
        return result(n=1)

    def test_at(self, x, y, z, level):
        assert level == 0.05
        return BAD_DECISIONS[self.component.breach](self, x, y, z)


@pytest.mark.parametrize("breach", BAD_DECISIONS)
def test_breaches_of_early_decisions_are_found(breach):
    found = failures(checks_of(BadDecider(breach=breach)))
    assert any(line.startswith("decisions: ") and breach in line for line in found)


def test_decisions_need_an_alpha():
    found = failures(checks_of(BadDecider(breach="against its p-value", alpha=None)))
    assert any("decides_early is for tests with an alpha, and alpha is None" in line for line in found)


def test_failures_name_the_checks_that_found_them():
    found = failures(checks_of(Bad(breach="on two threads")))
    assert [line.partition(": ")[0] for line in found] == ["threads"]
    found = failures(checks_of(Bad(breach="not a CIResult")))
    assert found[0].startswith("answers, p-values, same-answers-again, threads, seed, categories, missing-values: ")


@dataclass(frozen=True, kw_only=True)
class BadLearner(Learner):
    """Breaks the contract in one way."""

    name: ClassVar[str] = "bad-learner"

    breach: str = ""

    takes_targets: ClassVar[bool] = True

    def learn(self, dataset, tester, run):
        return {
            "not a LearnedGraph": lambda: [(0, 1)],
            "(0, 9), not two columns": lambda: LearnedGraph([(0, 9)]),
            "the blanket (0,) of column 0": lambda: LearnedGraph([(0, 1)], {0: (0,)}),
            "second run gives another graph": lambda: LearnedGraph([(0, 1 + next(counter) % 3)]),
            "a - d is required, but the learner left it out": lambda: LearnedGraph([]),
            "was joined, but neither end is a target": lambda: LearnedGraph([(0, 3), (0, 2)]),
            "with the number of threads": lambda: LearnedGraph([(0, run.threads)]),
        }[self.breach]()


BREACHES = [
    "not a LearnedGraph",
    "(0, 9), not two columns",
    "the blanket (0,) of column 0",
    "second run gives another graph",
    "a - d is required, but the learner left it out",
    "was joined, but neither end is a target",
    "with the number of threads",
]


@pytest.mark.parametrize("breach", BREACHES)
def test_breaches_of_a_learner_are_found(breach):
    with pytest.raises(AssertionError, match=re.escape(breach)):
        check_learner(BadLearner(breach=breach))


@dataclass(frozen=True, kw_only=True)
class BadTransform(Transform):
    """Breaks the contract in one way."""

    name: ClassVar[str] = "bad-transform"

    breach: str = ""

    def apply(self, dataset):
        return {
            "not a Dataset": lambda: dataset.values,
            "changed the names of the columns to x, y, z, w": lambda: Dataset(dataset.values, ("x", "y", "z", "w")),
            "120 became 119": lambda: Dataset(dataset.values[1:], dataset.names),
            "a second call": lambda: Dataset(dataset.values + next(counter), dataset.names),
            "with the order of the columns": lambda: Dataset(dataset.values + np.arange(4), dataset.names),
        }[self.breach]()


@pytest.mark.parametrize(
    "breach",
    [
        "not a Dataset",
        "changed the names of the columns to x, y, z, w",
        "120 became 119",
        "a second call",
        "with the order of the columns",
    ],
)
def test_breaches_of_a_transform_are_found(breach):
    with pytest.raises(AssertionError, match=breach):
        check_transform(BadTransform(breach=breach))


def test_the_wrong_check():
    with pytest.raises(AssertionError, match="is no CITest"):
        check_ci_test(BadTransform())
    with pytest.raises(AssertionError, match="is no Learner"):
        check_learner(Bad())


def test_other_data():
    data = Dataset.of(np.random.default_rng(0).integers(0, 2, (80, 4)).astype(float))
    cls = Registry([]).get("knn-cmi")
    with pytest.warns(PyknnmiWarning, match="knn-cmi"):
        check_ci_test(cls(permutations=39), data)
