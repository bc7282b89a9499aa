"""The stored experiments of 2018, replayed with the tests of that code.

With Fisher's test graph by graph; with the kNN test, whose permutations came from another generator, in the mean.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
from code_of_2018 import Fisher2018, KnnCMI2018
from paper_comparison import STORED_EXPERIMENTS, stored_means

from pyknnmi import Dataset, Graph, learn, register_ci_test
from pyknnmi.simulate import small_network

STORED = reference.load("paper_graphs_small_networks.json")
SIZES = (125, 250, 500, 1000, 2000)
EXPERIMENTS = [
    (kind, noise) for kind in ("Linear", "Nonlinear") for noise in ("gaussian", "t", "uniform")
]  # the keys of STORED["graphs"] are the two words together


def draws(kind, noise, repetitions, seed=STORED["seed"], rows=2000):
    """The first repetitions of an experiment, from one random stream: data and true graph."""
    random = np.random.RandomState(seed)
    for _ in range(repetitions):
        yield small_network(rows, noise=noise, linear=kind == "Linear", seed=random)


def stored_graph(experiment, method, n, repetition):
    edges = [map(int, edge.split("-")) for edge in STORED["graphs"][experiment][method][str(n)][repetition].split()]
    return Graph([f"X{i}" for i in range(1, 8)], [(f"X{i + 1}", f"X{j + 1}") for i, j in edges])


def replay(kind, noise, rule, repetitions):
    """Return how many graphs were learned, and which differ from the stored ones."""
    register_ci_test(Fisher2018)
    learned, different = 0, []
    for repetition, (data, _) in enumerate(draws(kind, noise, repetitions)):
        for n in SIZES:
            first = Dataset(data.values[:n], data.names)
            found = learn(first, f"standardize+iamb(rule={rule},exhaustive=true)+fisher-2018").graph
            learned += 1
            if found != stored_graph(kind + noise, f"fisherZ_{rule.upper()}", n, repetition):
                different.append((n, repetition))
    return learned, different


@pytest.mark.parametrize(
    ("rule", "repetitions"),
    [
        ("and", 2),
        ("or", 2),
        pytest.param("and", 25, marks=pytest.mark.slow),
        pytest.param("or", 25, marks=pytest.mark.long),
    ],
)
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


RUNS = {"knnMI_AND": ("k5", 5, STORED["seed"], 2000), "k_3_AND": ("knn_est_test", 3, 6666, 1000)}
"""The stored runs of the kNN test, by method: the folder, k, the seed of the data and the rows of a draw."""


@pytest.mark.parametrize(
    "sizes", [pytest.param((125, 250), marks=pytest.mark.slow), pytest.param((500, 1000, 2000), marks=pytest.mark.long)]
)
@pytest.mark.parametrize("method", RUNS)
@pytest.mark.parametrize(("kind", "noise"), EXPERIMENTS)
def test_mean_distances_of_the_knn_test_are_those_stored_in_2018(registry, kind, noise, method, sizes):
    register_ci_test(KnnCMI2018)
    folder, k, seed, rows = RUNS[method]
    distances = {n: [] for n in sizes if n <= rows}
    for repetition, (data, truth) in enumerate(draws(kind, noise, 25, seed, rows)):
        for n, found in distances.items():
            first = Dataset(data.values[:n], data.names)
            spec = f"iamb(exhaustive=true)+knn-cmi-2018(k={k})"
            found.append(learn(first, spec, seed=seed + repetition).graph.hamming(truth))
    for n, found in distances.items():
        mean, error = stored_means()[folder, method, STORED_EXPERIMENTS[kind + noise], n]
        combined = math.hypot(np.std(found) / math.sqrt(25), error)
        assert abs(np.mean(found) - mean) < 2 * combined, n
