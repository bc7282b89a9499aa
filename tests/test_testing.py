"""The conformance kit: built-in components pass, and each breach of the contract is found."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from pyknnmi import CIResult, Dataset, PyknnmiWarning
from pyknnmi.components import BoundTest, CITest, LearnedGraph, Learner, Transform
from pyknnmi.registry.registry import Registry
from pyknnmi.testing import CHECKS, check_ci_test, check_learner, check_transform


@pytest.mark.parametrize("cls", Registry([]).components(), ids=lambda cls: cls.name)
def test_built_in_components_pass(cls):
    CHECKS[cls.kind](cls())


def result(statistic=0.1, p_value=0.5, independent=True, n=120, decided_by="x"):
    return CIResult(statistic=statistic, p_value=p_value, independent=independent, n=n, decided_by=decided_by)


counter = itertools.count()

BAD_ANSWERS = {
    "not a CIResult": lambda bound, x, y, z: 0.5,
    "statistic nan": lambda bound, x, y, z: result(statistic=float("nan")),
    "p-value 1.5": lambda bound, x, y, z: result(p_value=1.5),
    "independent 1": lambda bound, x, y, z: result(independent=1),
    "n = 121": lambda bound, x, y, z: result(n=121),
    "decided_by is empty": lambda bound, x, y, z: result(decided_by=""),
    "asked again": lambda bound, x, y, z: result(statistic=float(next(counter))),
    "x and y exchanged": lambda bound, x, y, z: result(statistic=float(x)),
    "the data were written to": lambda bound, x, y, z: bound.write(),
    "global random numbers were used": lambda bound, x, y, z: result(statistic=0 * np.random.rand()),  # noqa: NPY002
    "associations have shape|have shape": lambda bound, x, y, z: result(),
}


@dataclass(frozen=True, kw_only=True)
class Bad(CITest):
    """Breaks the contract in one way."""

    name: ClassVar[str] = "bad"

    breach: str = ""

    def bind(self, dataset, run):
        return BoundBad(self, dataset)


class BoundBad(BoundTest):
    def __init__(self, component, dataset):
        self.breach = component.breach
        self.dataset = dataset

    def write(self):
        values = self.dataset.values
        values.flags.writeable = True
        values[0, 0] += 1
        return result()

    def test(self, x, y, z):
        return BAD_ANSWERS[self.breach](self, x, y, z)

    def associations(self, x, candidates, z):
        if "shape" in self.breach:
            return np.zeros(3)
        return super().associations(x, candidates, z)


@pytest.mark.parametrize("breach", BAD_ANSWERS)
def test_breaches_of_a_ci_test_are_found(breach):
    with pytest.raises(AssertionError, match=breach):
        check_ci_test(Bad(breach=breach))


@dataclass(frozen=True, kw_only=True)
class BadLearner(Learner):
    """Breaks the contract in one way."""

    name: ClassVar[str] = "bad-learner"

    breach: str = ""

    def learn(self, dataset, test, run):
        return {
            "not a LearnedGraph": lambda: [(0, 1)],
            "is no pair of the columns": lambda: LearnedGraph([(0, 9)]),
            "in its own blanket": lambda: LearnedGraph([(0, 1)], {0: (0,)}),
            "second run gives another graph": lambda: LearnedGraph([(0, 1 + next(counter) % 3)]),
        }[self.breach]()


BREACHES = ["not a LearnedGraph", "is no pair of the columns", "in its own blanket", "second run gives another graph"]


@pytest.mark.parametrize("breach", BREACHES)
def test_breaches_of_a_learner_are_found(breach):
    with pytest.raises(AssertionError, match=breach):
        check_learner(BadLearner(breach=breach))


@dataclass(frozen=True, kw_only=True)
class BadTransform(Transform):
    """Breaks the contract in one way."""

    name: ClassVar[str] = "bad-transform"

    breach: str = ""

    def apply(self, dataset):
        return {
            "not a Dataset": lambda: dataset.values,
            "the names became": lambda: Dataset(dataset.values, ("x", "y", "z", "w")),
            "rows became": lambda: Dataset(dataset.values[1:], dataset.names),
            "a second call": lambda: Dataset(dataset.values + next(counter), dataset.names),
            "with the order of the columns": lambda: Dataset(dataset.values + np.arange(4), dataset.names),
        }[self.breach]()


@pytest.mark.parametrize(
    "breach", ["not a Dataset", "the names became", "rows became", "a second call", "with the order of the columns"]
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
