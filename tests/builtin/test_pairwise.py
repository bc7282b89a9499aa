"""Pairwise."""

from __future__ import annotations

import numpy as np
import reference
from graph_truths import random_graph
from learner_checks import check_recovery, each_input, every_seed, learn_with_oracle

from pyknnmi import learn
from pyknnmi.builtin.pairwise import Pairwise
from pyknnmi.testing import check_learner


@every_seed
def test_finds_the_moral_graph_with_a_perfect_test(seeds):
    check_recovery(Pairwise(), seeds)


def test_keeps_the_contract():
    check_learner(Pairwise())


def test_each_pair_is_tested_once():
    for seed in range(10):
        graph = random_graph(seed)
        p = len(graph.names)
        assert learn_with_oracle(graph, Pairwise()).counts["tests"] == p * (p - 1) // 2


@each_input
def test_equals_the_inverse_of_the_correlation_matrix(name):
    # partial correlation given all the rest: -w_ij / sqrt(w_ii w_jj) of the inverse (Lauritzen 1996, Eq. 5.8)
    data = reference.table(f"inputs/{name}")
    inverse = np.linalg.inv(np.corrcoef(data.values.T))
    scale = np.sqrt(np.diag(inverse))
    partial = -inverse / np.outer(scale, scale)
    statistic = np.sqrt(data.n - (data.p - 2) - 3) * np.abs(np.arctanh(np.clip(partial, -0.9999, 0.9999)))
    expected = statistic > 1.959963984540054  # the normal quantile of 0.975
    assert np.array_equal(
        learn(data, "pairwise+fisher-z").graph.adjacency() == 1, expected & ~np.eye(data.p, dtype=bool)
    )


def test_workers_change_nothing():
    data = reference.table("inputs/lin_gaussian_n500.csv")
    one, two = (learn(data, "pairwise+fisher-z", jobs=jobs) for jobs in (1, 2))
    assert (two.graph, two.evidence, two.counts) == (one.graph, one.evidence, one.counts)
