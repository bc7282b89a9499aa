"""Required and forbidden edges, and targets: checked before any test, kept by every learner, counted nowhere."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from click.testing import CliRunner
from graph_truths import random_graph
from learner_checks import estimated, learn_with_oracle, placeholder

from pyknnmi import (
    Constraints,
    Dataset,
    Graph,
    ParameterError,
    Pipeline,
    PluginError,
    Run,
    UnknownNameError,
    learn,
    simulate,
)
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.cli import main
from pyknnmi.components import BoundTest, CITest, LearnedGraph, Learner, Tester
from pyknnmi.data.files import write_dataset
from pyknnmi.registry.registry import default_registry

LEARNERS = [cls for cls in default_registry().components("learner") if cls.uses_test]
each_learner = pytest.mark.parametrize("learner", [cls() for cls in LEARNERS], ids=lambda learner: learner.name)


@dataclass(frozen=True, kw_only=True)
class Untouchable(CITest):
    """Fails at any question."""

    name: ClassVar[str] = "untouchable"

    def bind(self, dataset, run):
        raise AssertionError("bound to the data")


def data() -> Dataset:
    return simulate.small_network(200, linear=True, seed=1)[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"required": [("X1", "Y2")]}, UnknownNameError, "there is no column 'Y2'"),
        ({"forbidden": [("X1", 7)]}, UnknownNameError, "no column number 7"),
        ({"targets": ["X1", "X"]}, UnknownNameError, "there is no column 'X'"),
        ({"required": [("X1", "X1")]}, ParameterError, "X1 - X1 joins a column to itself"),
        ({"forbidden": [(1, "X2")]}, ParameterError, "X2 - X2 joins a column to itself"),
        ({"required": [("X1", "X2")], "forbidden": [(1, 0)]}, ParameterError, "X1 - X2 is both required and forbidden"),
        ({"required": [("X1", "X2")], "targets": ["X5"]}, ParameterError, r"neither end is a target: .* \(X5\)"),
        ({"targets": []}, ParameterError, "targets is empty"),
        ({"required": ("X1", "X2")}, ParameterError, "'X1' is no edge: give a pair of columns"),
        ({"forbidden": [("X1", "X2", "X3")]}, ParameterError, "is no edge: give a pair of columns"),
        ({"required": [np.int64(2)]}, ParameterError, r"required: .*2.* is no edge: give a pair of columns"),
        ({"required": [("X1", 1.5)]}, UnknownNameError, "there is no column number 1.5: they run from 0 to 6"),
        ({"required": 3}, ParameterError, "required = 3: give pairs of columns"),
        ({"forbidden": [None]}, ParameterError, "forbidden: None is no edge: give a pair of columns"),
        ({"targets": [None]}, UnknownNameError, "there is no column number None"),
        ({"targets": 1.5}, UnknownNameError, "there is no column number 1.5"),
        ({"targets": True}, UnknownNameError, "there is no column number True"),
    ],
)
def test_errors_come_before_any_test(options, error, message):
    pipeline = Pipeline(IAMB(), Untouchable())
    with pytest.raises(error, match=message):
        learn(data(), pipeline, **options)


def test_none_is_no_constraint():
    assert Constraints.of(data(), required=None, forbidden=None, targets=None) == Constraints()


def test_a_required_edge_of_a_constant_column_is_an_error():
    values = data().values.copy()
    values[:, 1] = 3.0
    table = Dataset(values, data().names)
    with pytest.raises(ParameterError, match="X1 - X2 is required, but column 'X2' is constant"):
        learn(table, Pipeline(IAMB(), Untouchable()), required=[("X1", "X2")])
    with pytest.warns(match="X2 is constant"):
        result = learn(table, "iamb+fisher-z", forbidden=[("X1", "X2")], targets=["X2", "X3"])
    assert result.blankets["X2"] == ()
    assert set(result.blankets) == {"X2", "X3"}


def test_constraints_made_for_other_data_are_checked_again():
    constraints = Constraints(required=(("a", "b"),))
    with pytest.raises(UnknownNameError, match="there is no column 'a'"):
        Pipeline(IAMB(), Untouchable()).learn(data(), constraints=constraints)


@each_learner
def test_no_learner_overrides_a_constraint(learner):
    for seed in range(12):
        graph = random_graph(seed, largest=8)
        random = np.random.default_rng(seed)
        pairs = [(a, b) for i, a in enumerate(graph.names) for b in graph.names[i + 1 :]]
        required, forbidden = (
            tuple(pairs[i] for i in half) for half in np.split(random.permutation(len(pairs))[:2], 2)
        )
        result = learn_with_oracle(graph, learner, constraints=Constraints(required, forbidden))
        assert all(pair in result.graph for pair in required)
        assert not any(pair in result.graph for pair in forbidden)
        decided = {(row.source, row.target): row.answer.decided_by for row in result.evidence}
        assert {decided[pair] for pair in required} == {"required"}
        assert {decided[pair] for pair in forbidden} == {"forbidden"}


@each_learner
def test_true_constraints_leave_the_right_graph(learner):
    for seed in range(20):
        graph = random_graph(seed, largest=8)
        truth = estimated(graph, learner)
        pairs = [(a, b) for i, a in enumerate(graph.names) for b in graph.names[i + 1 :]]
        constraints = Constraints(truth.edges[:2], tuple(pair for pair in pairs if pair not in truth)[:2])
        assert learn_with_oracle(graph, learner, constraints=constraints).graph == truth


def test_constrained_pairs_are_never_tested_scored_or_counted():
    tested: list[tuple[int, int]] = []

    class Recorder(BoundTest):
        def __init__(self, bound):
            self.bound = bound

        def test(self, x, y, z):
            tested.append((x, y))
            return self.bound.test(x, y, z)

        def associations(self, x, candidates, z):
            tested.extend((x, y) for y in candidates)
            return self.bound.associations(x, candidates, z)

    @dataclass(frozen=True, kw_only=True)
    class Recorded(CITest):
        name: ClassVar[str] = "recorded"

        def bind(self, dataset, run):
            return Recorder(FisherZ().bind(dataset, run))

    result = learn(data(), Pipeline(IAMB(), Recorded()), required=[("X7", "X1")], forbidden=[("X5", "X6")])
    assert not {frozenset(pair) for pair in tested} & {frozenset((0, 6)), frozenset((4, 5))}
    counted = Tester(FisherZ(), data(), Run(), Constraints((("X1", "X7"),), (("X5", "X6"),)))
    scores = counted.associations(0, (6, 1, 2))
    assert scores[0] == np.inf
    assert (counted.scored, counted.answers, counted.trail) == (2, {}, {})
    assert counted.associations(4, (5,)) == [-np.inf]
    assert counted.test(4, 5, (1,)).p_value == 1
    assert (counted.scored, counted.answers, counted.trail) == (2, {}, {})
    row = next(row for row in result.evidence if (row.source, row.target) == ("X1", "X7"))
    assert (row.edge, row.answer.p_value, row.answer.decided_by) == (True, 0, "required")
    assert result.constraints == Constraints((("X7", "X1"),), (("X5", "X6"),))


def test_a_learner_that_does_not_heed_is_named():
    @dataclass(frozen=True, kw_only=True)
    class Stubborn(Learner):
        """Joins the first two columns."""

        name: ClassVar[str] = "stubborn"

        def learn(self, dataset, tester, run):
            return LearnedGraph([(1, 0)])

    pipeline = Pipeline(Stubborn(), FisherZ())
    with pytest.raises(PluginError, match="stubborn: the edge X1 - X2 is forbidden, but the learner joined it"):
        learn(data(), pipeline, forbidden=[("X1", "X2")])
    with pytest.raises(PluginError, match="stubborn: the edge X2 - X3 is required, but the learner left it out"):
        learn(data(), pipeline, required=[("X2", "X3")])


@pytest.mark.parametrize("rule", ["and", "or"])
def test_targets_follow_the_one_search(rule):
    everything = learn(data(), f"iamb(rule={rule})+fisher-z")
    result = learn(data(), f"iamb(rule={rule})+fisher-z", targets=["X3", 1])
    assert result.blankets == {name: everything.blankets[name] for name in ("X3", "X2")}
    edges = {(t, other) for t in ("X3", "X2") for other in result.blankets[t] if other not in ("X3", "X2")}
    join = all if rule == "and" else any
    if join(b in result.blankets[a] for a, b in (("X2", "X3"), ("X3", "X2"))):
        edges.add(("X2", "X3"))
    assert result.graph == Graph(data().names, edges)
    assert result.counts["tests"] < everything.counts["tests"]
    assert result.constraints.targets == ("X3", "X2")


def test_one_target_by_itself():
    assert set(learn(data(), "iamb+fisher-z", targets="X5").blankets) == {"X5"}
    assert set(learn(data(), "iamb+fisher-z", targets=4).blankets) == {"X5"}
    assert set(learn(data(), "iamb+fisher-z", targets=np.int64(4)).blankets) == {"X5"}


@pytest.mark.parametrize("learner", ["pairwise", "gsmn"])
def test_targets_of_learners_without_blankets(learner):
    for seed in range(20):
        graph = random_graph(seed)
        targets = graph.names[:2]
        component = default_registry().get(learner)()
        found = learn_with_oracle(graph, component, constraints=Constraints(targets=targets)).graph
        truth = estimated(graph, component)
        assert found == Graph(graph.names, [edge for edge in truth.edges if set(edge) & set(targets)])


def test_a_learner_that_cannot_search_for_targets_says_so():
    with pytest.raises(ParameterError, match="'pc-stable' searches for all columns at once: leave the targets out"):
        learn(data(), "pc-stable+fisher-z", targets=["X1"])


@dataclass(frozen=True, kw_only=True)
class Untested(Learner):
    """Uses no test."""

    name: ClassVar[str] = "untested"
    uses_test: ClassVar[bool] = False

    def learn(self, dataset, tester, run):
        return LearnedGraph(())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"required": [(0, 1)]}, "'untested' uses no CI test, and edges are required or forbidden through the test"),
        ({"forbidden": [(0, 1)]}, "'untested' uses no CI test, and edges are required or forbidden through the test"),
        ({"targets": [0]}, "'untested' searches for all columns at once"),
        ({"orient": True}, "'untested' uses no CI test, which orientation needs"),
    ],
)
def test_learners_without_a_test_take_no_constraints(options, message):
    with pytest.raises(ParameterError, match=message):
        learn(data(), Pipeline(Untested()), **options)


def test_workers_change_nothing():
    options = {"required": [("X1", "X7")], "forbidden": [("X5", "X6")], "targets": ["X1", "X5", "X6"]}
    one, two = (learn(data(), "iamb+fisher-z", jobs=jobs, **options) for jobs in (1, 2))
    assert (one.graph, one.evidence, one.blankets, one.counts) == (two.graph, two.evidence, two.blankets, two.counts)


def test_every_column_is_a_target_by_default():
    tester = Tester(FisherZ(), placeholder("abc"), Run())
    assert (tester.targets, tester.constrained) == ((0, 1, 2), {})


def test_command_line(tmp_path):
    write_dataset(data(), tmp_path / "data.csv")
    options = ["--required", "X1,X7", "--required", "X1,X4", "--forbidden", "X6, X5", "--targets", "X1,X5,X6"]
    command = ["learn", str(tmp_path / "data.csv"), "--spec", "iamb+fisher-z", "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(main, command + options)
    assert found.exit_code == 0, found.output
    assert "X1 - X7" in found.output
    provenance = json.loads((tmp_path / "out" / "provenance.json").read_text())
    assert provenance["required"] == [["X1", "X7"], ["X1", "X4"]]
    assert provenance["forbidden"] == [["X6", "X5"]]
    assert provenance["targets"] == ["X1", "X5", "X6"]
    wrong = CliRunner().invoke(main, [*command, "--required", "X1"])
    assert wrong.exit_code == 2
    assert wrong.output == "Error: required: ['X1'] is no edge: give a pair of columns for each\n"
