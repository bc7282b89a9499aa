"""Stability selection."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from pyknnmi import Dataset, ParameterError, Pipeline, Run, SpecError, learn, simulate
from pyknnmi.builtin.stability import Stability
from pyknnmi.learning.exports import WRITERS
from pyknnmi.report.pairs import reported_pairs


def test_frequencies_are_those_of_graphs_of_halves():
    data, _ = simulate.small_network(120, seed=1)
    result = learn(data, "stability(runs=6)+iamb+fisher-z", seed=4)
    seen = []

    class Spy:
        """Keeps the parts that it is given."""

        def each(self, datasets, run):
            seen.extend(datasets)
            return iter(())

    Stability(runs=6).learn(Spy(), data, Run(4))
    graphs = [learn(part, "iamb+fisher-z", seed=4).graph for part in seen]
    for row in result.details["selection"]:
        share = sum((row["source"], row["target"]) in graph for graph in graphs) / 6
        assert row["frequency"] == share
    kept = {(row["source"], row["target"]) for row in result.details["selection"] if row["frequency"] >= 0.75}
    assert set(result.graph.edges) == kept
    for first, second in zip(seen[::2], seen[1::2], strict=True):  # two halves share no row
        rows = np.vstack([first.values, second.values])
        assert len(np.unique(rows, axis=0)) == 120


def test_parts_of_the_rows_are_made_when_they_are_needed(monkeypatch):
    made = []
    take_rows = Dataset.take_rows
    monkeypatch.setattr(Dataset, "take_rows", lambda data, rows: made.append(1) or take_rows(data, rows))

    class Spy:
        """Counts the parts that there are when it has taken some."""

        def each(self, datasets, run):
            assert len(datasets) == 10**6
            for number, _ in zip(range(1, 4), datasets, strict=False):
                assert len(made) == number
            return iter(())

    Stability(runs=10**6).learn(Spy(), simulate.small_network(50, seed=1)[0], Run(1))


def test_the_bound_is_theorem_1_of_shah_and_samworth():
    data, _ = simulate.small_network(120, seed=1)
    result = learn(data, "stability(runs=6,threshold=0.8)+iamb+fisher-z")
    found = result.details["stability"]
    total = sum(row["frequency"] for row in result.details["selection"])
    assert found["average_edges"] == pytest.approx(total)
    assert found["most_false_edges"] == pytest.approx(total**2 / (21 * 0.6))


def test_frequencies_are_written_with_the_evidence():
    data, _ = simulate.small_network(120, seed=1)
    result = learn(data, "stability(runs=6)+iamb+fisher-z", seed=4)
    rows = list(csv.DictReader(io.StringIO(WRITERS["evidence.csv"](result))))
    written = [(row["source"], row["target"], float(row["frequency"])) for row in rows]
    assert written == [(row["source"], row["target"], row["frequency"]) for row in result.details["selection"]]
    assert {row["edge"] for row in rows if float(row["frequency"]) >= 0.75} == {"true"}
    strengths = {(row.source, row.target): row.strength for row in reported_pairs(result)}
    assert strengths == {(row["source"], row["target"]): row["frequency"] for row in result.details["edges"]}


def test_the_answer_does_not_depend_on_jobs():
    data, _ = simulate.small_network(80, seed=1)
    spec = "stability(runs=4)+iamb+fisher-z"
    assert learn(data, spec, jobs=2).details == learn(data, spec).details


def test_a_column_that_is_constant_in_a_part_joins_nothing_there():
    random = np.random.default_rng(0)
    x = random.standard_normal((40, 3))
    x[:, 2] = 0
    x[0, 2] = 1
    result = learn(x, "stability(runs=4)+iamb+fisher-z")
    assert result.counts["tests"] > 0


def test_constraints_are_kept():
    data, _ = simulate.small_network(80, seed=1)
    result = learn(data, "stability(runs=4)+iamb+fisher-z", required=[("X1", "X7")], forbidden=[("X5", "X6")])
    assert ("X1", "X7") in result.graph
    assert ("X5", "X6") not in result.graph


def test_evidence_has_each_pair_once_whatever_the_order_of_the_columns():
    data, _ = simulate.small_network(120, seed=1)
    table = dict(zip(data.names, data.values.T, strict=True))
    turned = learn({name: table[name] for name in reversed(table)}, "stability(runs=6)+iamb+fisher-z", seed=4)
    rows = list(csv.DictReader(io.StringIO(WRITERS["evidence.csv"](turned))))
    written = {frozenset((row["source"], row["target"])): (row["edge"], row["frequency"]) for row in rows}
    assert len(written) == len(rows)
    expected = {frozenset((row["source"], row["target"])): row["frequency"] for row in turned.details["selection"]}
    assert {pair: float(frequency) for pair, (_, frequency) in written.items()} == expected
    joined = {frozenset(edge) for edge in turned.graph.edges}
    assert joined == {pair for pair, (edge, _) in written.items() if edge == "true"}
    assert joined


def test_wrappers_come_first():
    pipeline = Pipeline.parse("stability(runs=4)+ranks+iamb+fisher-z")
    assert Pipeline.parse(str(pipeline)) == pipeline
    with pytest.raises(SpecError, match="'iamb' is a learner and a wrapper follows"):
        Pipeline.parse("iamb+stability+fisher-z")


def test_what_needs_one_search_is_refused():
    data, _ = simulate.small_network(80, seed=1)
    with pytest.raises(ParameterError, match="leave either out"):
        learn(data, "stability(runs=4)+iamb+fisher-z", orient=True)


@pytest.mark.parametrize("bad", ["runs=3", "fraction=0.6", "threshold=0.5"])
def test_bad_parameters(bad):
    with pytest.raises(SpecError, match=bad.split("=")[0]):
        Pipeline.parse(f"stability({bad})+iamb+fisher-z")


def test_blocks_are_refused():
    data, _ = simulate.small_network(60, seed=1)
    table = np.column_stack([data.values, np.repeat(np.arange(15.0), 4)])
    with pytest.raises(ParameterError, match="leave blocks out"):
        learn(table, "stability(runs=2)+iamb+knn-cmi(null=block)", blocks=7)
    with pytest.raises(ParameterError, match="leave calibrate or the blocks out"):
        learn(table, "pairwise+knn-cmi(null=block,permutations=20)", blocks=7, calibrate=True)
