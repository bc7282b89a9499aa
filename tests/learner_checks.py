"""What every learner must show: the right graph with a perfect test, kept limits, the blankets of other programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import reference
from graph_truths import random_graph

from pyknnmi import Dataset, Graph, LearnResult, PartiallyDirectedGraph, Pipeline, Run, learn
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.separation import Separation
from pyknnmi.components import Learner, Tester

every_seed = pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 200), marks=pytest.mark.slow)], ids=["40", "160"]
)
"""The graphs of `check_recovery`: a part of them every day."""


def estimated(graph: Graph | PartiallyDirectedGraph, learner: Learner) -> Graph:
    """The graph that the learner says it estimates."""
    if isinstance(graph, Graph):
        return graph
    return graph.moral_graph() if learner.estimates == "moral graph" else graph.skeleton()


def learn_with_oracle(graph: Graph | PartiallyDirectedGraph, learner: Learner, **options) -> LearnResult:
    return Pipeline(learner, Separation.of(graph)).learn(placeholder(graph.names), **options)


def placeholder(names) -> Dataset:
    """Data for a test that does not look at them."""
    return Dataset(np.random.default_rng(0).standard_normal((5, len(names))), tuple(names))


def check_recovery(learner: Learner, seeds, largest: int = 15) -> None:
    """The learner finds the right graph with a perfect test, and in any order of the columns."""
    for seed in seeds:
        graph = random_graph(seed, largest)
        found = learn_with_oracle(graph, learner).graph
        assert found == estimated(graph, learner), graph
        if seed < 20:
            order = np.random.default_rng(seed).permutation(len(graph.names))
            turned = Pipeline(learner, Separation.of(graph)).learn(placeholder(graph.names).select(order)).graph
            assert turned.reordered(graph.names) == found


def dense(p: int = 8, n: int = 400) -> Dataset:
    """Columns that all depend on each other, given any others."""
    random = np.random.default_rng(4)
    values = random.standard_normal((n, p)) @ (np.eye(p) + 0.4 * random.standard_normal((p, p)))
    return Dataset(values, tuple(f"X{i + 1}" for i in range(p)))


def check_max_conditioning(learner: Learner) -> None:
    data, run = dense(), Run(threads=1)

    def learned(limit: int | None):
        tester = Tester(FisherZ(), data, run)
        learned = replace(learner, max_conditioning=limit).learn(data, tester, run)
        return set(map(tuple, map(sorted, learned.edges))), {len(z) for _, _, z in tester.answers}

    edges, sizes = learned(None)
    assert max(sizes) > 2
    for limit in (0, 1, 2):
        assert max(learned(limit)[1]) == limit
    assert learned(data.p) == (edges, sizes)


# Blankets found with Fisher's z-test at alpha 0.05 by other programs; tests/data/README.md says how.

INPUTS = [
    "gwg_mixture_p8_n500.csv",
    "huge_random_d20_n500.csv",
    "lin_gaussian_n500.csv",
    "lin_t_n500.csv",
    "nonlin_gaussian_n500.csv",
    "nonlin_t_n500.csv",
    "nonlin_uniform_n500.csv",
]

each_input = pytest.mark.parametrize("name", INPUTS)


def differences(data: Dataset, spec: str, expected: list[list[int]]) -> set[int]:
    """Numbers of the columns whose blankets are not the expected ones."""
    result = learn(data, spec)
    neighbors = result.blankets or {name: result.graph.neighbors(name) for name in data.names}
    found = [[data.column(other) for other in neighbors[name]] for name in data.names]
    return {i for i, (ours, theirs) in enumerate(zip(found, expected, strict=True)) if ours != sorted(theirs)}


def check_golden(file: str, name: str, method: str, spec: str, known: dict[str, set[int]] | None = None) -> None:
    """Compare with what another program found; `known` holds the columns that differ, by data set."""
    expected = reference.load(file)[name][method]
    assert differences(reference.table(f"inputs/{name}"), spec, expected) == (known or {}).get(name, set())


def check_code_of_2018(
    name: str, algorithm: str, mode: str, spec: str, known: dict[str, set[int]] | None = None
) -> None:
    """Compare with the runs of the 2018 code on the data and on their cubes, with p-values from arctanh r.

    `known` holds the columns that differ, by data set.
    """
    recorded = reference.load("golden_iamb_fisher.json")[name]
    data = reference.table(f"inputs/{name}")
    compared = 0
    for key, run in recorded.items():
        variant, their_algorithm, their_mode = key.split("|")
        their_mode, _, cubed = their_mode.partition("_")
        if variant != "code_abs_pc" and (their_algorithm, their_mode) == (algorithm, mode):
            columns = Dataset(data.values**3, data.names) if cubed else data
            assert differences(columns, spec, run["MB"]) == (known or {}).get(name + cubed, set()), key
            compared += 1
    assert compared >= 2
