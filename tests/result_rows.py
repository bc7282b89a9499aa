"""Rows of results for tests: made up, and those of the paper's stored graphs."""

from __future__ import annotations

import reference
from paper_comparison import STORED_EXPERIMENTS
from pyknnmi_experiments import EXPERIMENTS, ResultRow

from pyknnmi import Dataset, Pipeline, Run

_TRUE_EDGES = {"0-1", "1-2", "2-3", "1-4", "2-4", "4-5", "2-6", "4-6"}


def row(n=125, repetition=0, method="a", experiment="large-network", **changed) -> ResultRow:
    fields = {
        "experiment": experiment,
        "method": method,
        "spec": "iamb(rule=and,exhaustive=false)+fisher-z(alpha=0.05)",
        "seed": 1,
        "n": n,
        "repetition": repetition,
        "true_edges": 24,
        "hamming_distance": 5,
        "false_positives": 2,
        "false_negatives": 3,
        "tests": 100,
        "seconds": 0.25,
    }
    return ResultRow(**(fields | changed))


def assert_learned(row: ResultRow) -> None:
    """Learn the graph of a row again, by itself, and see that the row is right."""
    data, truth = EXPERIMENTS[row.experiment].draw(row.seed, row.repetition)
    first_rows = Dataset(data.values[: row.n], data.names)
    spec = row.spec.replace("stop_early=false", "stop=never")  # as it was called when the rows were made
    result = Pipeline.parse(spec).learn(first_rows, Run(row.seed + row.repetition))
    assert row.hamming_distance == result.graph.hamming(truth) == row.false_positives + row.false_negatives
    assert row.false_positives == result.graph.false_positives(truth)
    assert row.tests == result.counts["tests"]


def stored_rows() -> list[ResultRow]:
    """Return a row for each graph of the small networks that the authors stored."""
    rows = []
    for experiment, methods in reference.load("paper_graphs_small_networks.json")["graphs"].items():
        for method, sizes in methods.items():
            for n, graphs in sizes.items():
                for repetition, graph in enumerate(graphs):
                    extra, missed = set(graph.split()) - _TRUE_EDGES, _TRUE_EDGES - set(graph.split())
                    found = {"false_positives": len(extra), "false_negatives": len(missed)}
                    found["hamming_distance"] = len(extra) + len(missed)
                    rows.append(row(int(n), repetition, method, STORED_EXPERIMENTS[experiment], true_edges=8, **found))
    return rows
