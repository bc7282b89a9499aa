"""The tests of the code that the paper's authors released in 2018, where they differ from the paper.

Registered as anybody's would be, they replay the stored results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from pyknnmi import CIResult
from pyknnmi.components import BoundTest, CITest
from pyknnmi.numbers import conditional_mutual_informations, permutation_test, standardized

cdf = NormalDist().cdf


@dataclass(frozen=True, kw_only=True)
class Fisher2018(CITest):
    """Fisher's test: r is the partial correlation from the inverse of the covariance matrix.

    z = sqrt(n - |z| - 3) |r|, without arctanh; p = 2 (1 - Phi(z)), zero beyond z = 8; dependent when p < alpha.
    Candidates are ranked by p, and of equal ones the first is taken.
    """

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


@dataclass(frozen=True, kw_only=True)
class KnnCMI2018(CITest):
    """The kNN test: before it permutes, it makes Fisher's test.

    Without z, a significant correlation alone means dependent; with any z, an estimate below 0.001 nats beside a
    correlation that is not significant means independent. The variable that is permuted is the one that was named
    second, the candidate of a target. A pair is decided once for each z, at its first question.
    """

    name: ClassVar[str] = "knn-cmi-2018"
    symmetric: ClassVar[bool] = False
    needs_seed: ClassVar[bool] = True

    k: int = 5
    permutations: int = 200
    alpha: float = 0.05
    neighbors: int = 0

    def bind(self, dataset, run):
        return BoundKnnCMI2018(self, dataset, run)


class BoundKnnCMI2018(BoundTest):
    def __init__(self, component, dataset, run):
        self.component = component
        self.run = run
        self.names = dataset.names
        self.columns = standardized(dataset.values)
        self.fisher = BoundFisher2018(dataset, component.alpha)
        self.decided = {}

    def associations(self, x, candidates, z):
        columns = (self.columns[:, list(chosen)] for chosen in ([x], candidates, z))
        return conditional_mutual_informations(*columns, self.component.k, threads=1)  # tests run side by side

    def test(self, x, y, z):
        question = frozenset((x, y)), frozenset(z)
        if question not in self.decided:
            self.decided[question] = self.decide(x, y, z)
        return self.decided[question]

    def decide(self, x, y, z):
        p_value = self.fisher.p_value(x, y, z)
        significant = p_value < self.component.alpha
        statistic = float(self.associations(x, [y], z)[0])
        decided_by, made = "correlation", 0
        if not (significant and not z) and not (statistic < 0.001 and not significant):
            counted = permutation_test(
                *(self.columns[:, list(chosen)] for chosen in ([x], [y], z)),
                self.component.k,
                permutations=self.component.permutations,
                seed=self.run.seed,
                stream=self.run.stream(self.names[x], self.names[y], [self.names[i] for i in z]),
                neighbors=self.component.neighbors,
                threads=1,  # tests run side by side
            )
            p_value, decided_by, made = counted.p_value, "permutations", counted.permutations
        return CIResult(
            statistic=statistic,
            p_value=p_value,
            independent=p_value >= self.component.alpha,
            n=len(self.columns),
            decided_by=decided_by,
            permutations=made,
        )
