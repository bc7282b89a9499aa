"""The stored experiments of 2018, replayed: data from the seed, the Fisher test of that code, the public `learn`.

The test is registered as anybody's would be. Its rule: r is the partial correlation from the inverse of the covariance
matrix; z = sqrt(n - |z| - 3) |r|, without arctanh; p = 2 (1 - Phi(z)), zero beyond z = 8; dependent when p < 0.05.
Candidates are ranked by p, and of equal ones the first is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np
import pytest
import reference

from pyknnmi import BoundTest, CIResult, CITest, Dataset, Graph, learn, register_ci_test
from pyknnmi.simulate import small_network

STORED = reference.load("paper_graphs_small_networks.json")
SIZES = (125, 250, 500, 1000, 2000)
EXPERIMENTS = [
    (kind, noise) for kind in ("Linear", "Nonlinear") for noise in ("gaussian", "t", "uniform")
]  # the keys of STORED["graphs"] are the two words together
cdf = NormalDist().cdf


@dataclass(frozen=True, kw_only=True)
class Fisher2018(CITest):
    """Fisher's test as the 2018 code has it."""

    name: ClassVar[str] = "fisher-2018"

    alpha: float = 0.05

    def bind(self, dataset, run):
        return BoundFisher2018(dataset, self.alpha)


class BoundFisher2018(BoundTest):
    def __init__(self, dataset, alpha):
        self.n = dataset.n
        self.alpha = alpha
        self.covariance = np.cov(dataset.values.T)

    def p_value(self, x, y, z):
        chosen = [x, y, *z]
        precision = np.linalg.inv(self.covariance[np.ix_(chosen, chosen)])
        r = -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1])
        return 2 * (1 - cdf(math.sqrt(self.n - len(z) - 3) * abs(r)))

    def test(self, x, y, z):
        p = self.p_value(x, y, z)
        return CIResult(statistic=-p, p_value=p, independent=p >= self.alpha, n=self.n, decided_by="normal")

    def associations(self, x, candidates, z):
        return np.array([-self.p_value(x, y, z) for y in candidates])


def draws(kind, noise, repetitions):
    """The first repetitions of an experiment: one random stream, 2000 rows each."""
    random = np.random.RandomState(STORED["seed"])
    for _ in range(repetitions):
        data, _ = small_network(2000, noise=noise, linear=kind == "Linear", seed=random)
        yield data


def stored_graph(experiment, method, n, repetition):
    edges = [map(int, edge.split("-")) for edge in STORED["graphs"][experiment][method][str(n)][repetition].split()]
    return Graph([f"X{i}" for i in range(1, 8)], [(f"X{i + 1}", f"X{j + 1}") for i, j in edges])


def replay(kind, noise, rule, repetitions):
    """Return how many graphs were learned, and which differ from the stored ones."""
    register_ci_test(Fisher2018)
    learned, different = 0, []
    for repetition, data in enumerate(draws(kind, noise, repetitions)):
        for n in SIZES:
            first = Dataset(data.values[:n], data.names)
            found = learn(first, f"standardize+iamb(rule={rule},exhaustive=true)+fisher-2018").graph
            learned += 1
            if found != stored_graph(kind + noise, f"fisherZ_{rule.upper()}", n, repetition):
                different.append((n, repetition))
    return learned, different


@pytest.mark.parametrize("repetitions", [2, pytest.param(25, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rule", ["and", "or"])
@pytest.mark.parametrize(("kind", "noise"), EXPERIMENTS)
def test_graphs_are_those_stored_in_2018(registry, kind, noise, rule, repetitions):
    assert replay(kind, noise, rule, repetitions) == (repetitions * len(SIZES), [])


def test_the_rules_differ():
    """So that one cannot stand for the other: AND has fewer edges, and is a part of OR."""
    pairs = [
        (stored_graph("Nonlineargaussian", "fisherZ_AND", n, t), stored_graph("Nonlineargaussian", "fisherZ_OR", n, t))
        for n in SIZES
        for t in range(25)
    ]
    assert all(set(both.edges) <= set(either.edges) for both, either in pairs)
    assert sum(both != either for both, either in pairs) > 20
