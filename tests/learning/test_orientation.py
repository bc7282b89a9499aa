"""Orientation: the completed graph of a directed one with a perfect test, and no contradictions with any test."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import ClassVar

import networkx as nx
import pytest
from graph_truths import completed, completed_by_definition, random_dag, random_graph
from learner_checks import every_seed, learn_with_oracle, placeholder

from pyknnmi import (
    CIResult,
    Constraints,
    ParameterError,
    PartiallyDirectedGraph,
    Pipeline,
    learn,
    simulate,
)
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.builtin.mmpc import MMPC
from pyknnmi.builtin.pc_stable import PCStable
from pyknnmi.components import BoundTest, CITest
from pyknnmi.learning import orientation
from pyknnmi.learning.exports import DIRECTED_WRITERS, write_result
from pyknnmi.registry.registry import default_registry

LEARNERS = [cls() for cls in default_registry().components("learner") if cls.uses_test]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)


def test_two_ways_to_the_completed_graph_agree():
    # of the graphs small enough to try every direction of every edge
    small = [dag for seed in range(150) if len((dag := random_dag(seed, largest=7)).directed) <= 8]
    assert len(small) > 100
    for dag in small:
        assert completed(dag) == completed_by_definition(dag)


@pytest.mark.parametrize("learner", [IAMB(), PCStable()], ids=lambda learner: learner.name)
@every_seed
def test_a_perfect_test_leads_to_the_completed_graph(learner, seeds):
    for seed in seeds:
        dag = random_dag(seed)
        assert learn_with_oracle(dag, learner, orient=True).oriented == completed(dag), dag


@each_learner
def test_every_learner_can_be_oriented(learner):
    for seed in range(40):
        dag = random_dag(seed, largest=8)
        directed = learn_with_oracle(dag, learner, orient=True).oriented
        assert directed == completed(dag), dag
        assert directed.moral_graph() == dag.moral_graph()


def test_no_direction_without_orient():
    assert learn_with_oracle(random_dag(0), IAMB()).oriented is None


def test_the_order_of_the_columns_does_not_matter():
    data, _ = simulate.small_network(150, noise="t", seed=5)
    for spec in ("iamb+fisher-z", "pc-stable+fisher-z"):
        directed = learn(data, spec, orient=True).oriented
        turned = learn(data.select([4, 2, 6, 0, 1, 5, 3]), spec, orient=True).oriented
        assert PartiallyDirectedGraph(data.names, turned.directed, turned.undirected) == directed


@dataclass(frozen=True, kw_only=True)
class Erratic(CITest):
    """Answers at random, and so contradicts itself; the same question gets the same answer."""

    name: ClassVar[str] = "erratic"
    needs_seed: ClassVar[bool] = True
    share: float = 0.5

    def bind(self, dataset, run):
        return BoundErratic(self.share, dataset.names, run)


class BoundErratic(BoundTest):
    def __init__(self, share, names, run):
        self.share, self.names, self.run = share, names, run

    def test(self, x, y, z):
        names = self.names
        p_value = float(self.run.generator(names[x], names[y], [names[i] for i in z]).random())
        return CIResult(
            statistic=1 - p_value, p_value=p_value, independent=p_value >= self.share, n=5, decided_by="chance"
        )


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("learner", [IAMB(), PCStable(), MMPC()], ids=lambda learner: learner.name)
def test_contradictions_are_left_open(learner, share):
    data = placeholder([f"X{i}" for i in range(7)])
    for seed in range(15):
        result = learn(data, Pipeline(learner, Erratic(share=share)), seed=seed, orient=True)
        assert result.oriented.is_acyclic()
        assert set(result.oriented.skeleton().edges) <= set(result.graph.edges)


@dataclass(frozen=True, kw_only=True)
class Table(CITest):
    """Columns a to e; two are joined unless a set in `separators` is given. Spaces between pairs: ``ab:c ab:d ad:``."""

    name: ClassVar[str] = "table"
    separators: str = ""

    def bind(self, dataset, run):
        return BoundTable(set(self.separators.split()))


class BoundTable(BoundTest):
    def __init__(self, independent):
        self.independent = independent

    def test(self, x, y, z):
        x, y, *z = ("abcde"[i] for i in (x, y, *z))
        p_value = float(f"{x}{y}:{''.join(z)}" in self.independent)
        return CIResult(statistic=1 - p_value, p_value=p_value, independent=bool(p_value), n=5, decided_by="table")


def test_two_opposite_reasons_leave_an_edge_open():
    # a - b - c - d: b is a collider of a and c, and c one of b and d, so b - c is directed both ways. Neither way
    # counts as a reason to direct c - e.
    pipeline = Pipeline(PCStable(), Table(separators="ac: bd: ad: be:c ae:"))
    directed = learn(placeholder("abcde"), pipeline, orient=True).oriented
    assert directed == PartiallyDirectedGraph("abcde", [("a", "b"), ("d", "c")], [("b", "c"), ("c", "e"), ("d", "e")])


def test_separating_sets_that_disagree_leave_a_triple_open():
    # e is a collider of a and d, so a -> e. Then e -> b would follow if e were no collider of a and b; but {e} and {c}
    # both separate these two.
    pipeline = Pipeline(PCStable(), Table(separators="ab:e ab:c ad: bc: ce:a cd:"))
    directed = learn(placeholder("abcde"), pipeline, orient=True).oriented
    assert directed == PartiallyDirectedGraph("abcde", [("a", "e"), ("d", "e")], [("a", "c"), ("b", "d"), ("b", "e")])


def test_a_forbidden_edge_says_nothing_about_directions():
    # a -> b <- c; with a - c forbidden it is not known whether a and c have a common child
    dag = PartiallyDirectedGraph("abc", [("a", "b"), ("c", "b")])
    for learner in (IAMB(), PCStable()):
        result = learn_with_oracle(dag, learner, constraints=Constraints(forbidden=(("a", "c"),)), orient=True)
        assert result.oriented == PartiallyDirectedGraph("abc", [], [("a", "b"), ("b", "c")])


def test_a_required_edge_is_no_edge_between_parents():
    dag = PartiallyDirectedGraph("abc", [("a", "b"), ("c", "b")])
    for learner in (IAMB(), PCStable()):
        result = learn_with_oracle(dag, learner, constraints=Constraints(required=(("a", "c"),)), orient=True)
        assert result.oriented == PartiallyDirectedGraph("abc", [], [("a", "b"), ("a", "c"), ("b", "c")])


def test_the_limit_holds_for_orientation_too():
    sizes = set()

    @dataclass(frozen=True, kw_only=True)
    class Measured(Erratic):
        name: ClassVar[str] = "measured"

        def bind(self, dataset, run):
            bound = super().bind(dataset, run)
            answer = bound.test
            bound.test = lambda x, y, z: sizes.add(len(z)) or answer(x, y, z)
            return bound

    for learner in (IAMB(max_conditioning=2), PCStable(max_conditioning=2)):
        learn(placeholder("abcdefgh"), Pipeline(learner, Measured(share=0.9)), orient=True)
        assert max(sizes) == 2


def test_targets_cannot_be_oriented():
    with pytest.raises(ParameterError, match="leave either orient or the targets out"):
        learn(simulate.small_network(50)[0], "iamb+fisher-z", targets=["X1"], orient=True)


# Meek (1995), figure 1, with a - b to be directed: the edges, those that are directed, and the triples whose middle is
# no collider.
RULES = {
    1: (["ca", "ab"], ["ca"], ["cab"]),
    2: (["ab", "ac", "cb"], ["ac", "cb"], []),
    3: (["ab", "ac", "ad", "cb", "db"], ["cb", "db"], ["cad"]),
    4: (["ab", "ac", "ad", "cd", "db"], ["cd", "db"], ["cab"]),
}


@pytest.mark.parametrize("rule", RULES)
def test_each_of_meeks_rules(rule):
    def implied(a, b, edges, arrows, others):
        place = "abcd".index
        neighbors = [{place(end) for edge in edges if node in edge for end in set(edge) - {node}} for node in "abcd"]
        triples = {((min(x, y), max(x, y)), z) for x, z, y in (map(place, triple) for triple in others)}
        return orientation._implied(place(a), place(b), neighbors, {(place(x), place(y)) for x, y in arrows}, triples)

    edges, arrows, others = RULES[rule]
    assert implied("a", "b", edges, arrows, others)
    assert not implied("b", "a", edges, arrows, others)
    for i in range(len(arrows)):
        assert not implied("a", "b", edges, arrows[:i] + arrows[i + 1 :], others)
    if others:
        assert not implied("a", "b", edges, arrows, [])


def test_exports(tmp_path):
    dag = PartiallyDirectedGraph(['say "a"', "b", "c", "d"], [('say "a"', "c"), ("b", "c")])
    result = learn_with_oracle(dag, IAMB(), orient=True)
    assert not set(DIRECTED_WRITERS) & {path.name for path in write_result(learn_with_oracle(dag, IAMB()), tmp_path)}
    written = {path.name: path.read_text() for path in write_result(result, tmp_path)}
    assert set(written) >= set(DIRECTED_WRITERS)
    assert json.loads(written["provenance.json"])["oriented"] is True
    assert 'oriented: say "a" -> c, b -> c' in str(result)

    read = nx.node_link_graph(json.loads(written["directed.json"]), edges="edges")
    assert set(read.edges(data="directed")) == {('say "a"', "c", True), ("b", "c", True)}
    assert set(read.nodes) == set(dag.names)
    assert written["directed.dot"].splitlines()[1:] == [
        '  "say \\"a\\"";',
        '  "b";',
        '  "c";',
        '  "d";',
        '  "say \\"a\\"" -> "c";',
        '  "b" -> "c";',
        "}",
    ]


def test_exports_of_undirected_edges():
    graph = PartiallyDirectedGraph("abc", [("c", "a")], [("a", "b")])
    root = ET.fromstring(DIRECTED_WRITERS["directed.graphml"](graph))
    edges = [dict(edge.attrib) for edge in root.iter("{http://graphml.graphdrawing.org/xmlns}edge")]
    assert edges == [
        {"source": "c", "target": "a", "directed": "true"},
        {"source": "a", "target": "b", "directed": "false"},
    ]
    assert '"a" -> "b" [dir=none];' in DIRECTED_WRITERS["directed.dot"](graph)
    assert json.loads(DIRECTED_WRITERS["directed.json"](graph))["edges"][1] == {
        "source": "a",
        "target": "b",
        "directed": False,
    }


def test_an_undirected_graph_has_no_directions():
    # a common neighbour is on a path between its neighbours, so every separating set holds it
    for seed in range(1, 60, 2):
        graph = random_graph(seed, largest=8)
        assert learn_with_oracle(graph, PCStable(), orient=True).oriented == PartiallyDirectedGraph(
            graph.names, (), graph.edges
        )
