"""The bound on the share of false edges."""

from __future__ import annotations

import numpy as np
import pytest

from pyknnmi import ParameterError, PyknnmiWarning, learn, simulate


@pytest.mark.parametrize("method", ["bh", "by"])
def test_the_edges_are_those_that_pass_the_procedure(method):
    data, _ = simulate.small_network(100, seed=3)
    every = learn(data, "iamb(rule=or)+fisher-z(alpha=0.3)")
    p_values = sorted((row.answer.p_value, (row.source, row.target)) for row in every.edge_evidence())
    unit = 0.05 / 21 / (sum(1 / i for i in range(1, 22)) if method == "by" else 1)
    last = max(i for i, (p, _) in enumerate(p_values, start=1) if p <= i * unit)
    result = learn(data, f"fdr(method={method})+iamb(rule=or)+fisher-z(alpha=0.3)")
    assert set(result.graph.edges) == {pair for _, pair in p_values[:last]}
    assert 0 < last < len(p_values)
    assert len(result.evidence) == len(every.evidence)


def test_independent_columns_have_no_edges():
    data = np.random.default_rng(0).standard_normal((200, 30))
    assert len(learn(data, "iamb(rule=or)+fisher-z").graph.edges) > 20
    # Where no edge is true, a data set has one with probability .05; of six more than two have one with .002.
    found = [
        len(
            learn(
                np.random.default_rng(seed).standard_normal((200, 30)), "fdr+iamb(adjust=candidates)+fisher-z"
            ).graph.edges
        )
        for seed in range(6)
    ]
    assert sum(found) <= 2


def test_too_few_permutations_are_reported():
    data, _ = simulate.small_network(100, seed=3)
    with pytest.warns(PyknnmiWarning, match=r"fdr: with 40 permutations none of \d edges between 7 columns can pass"):
        assert not learn(data, "fdr(level=0.01)+iamb+knn-cmi(permutations=40)").graph.edges


def test_required_edges_stay():
    data, _ = simulate.small_network(100, seed=3)
    assert ("X1", "X7") in learn(data, "fdr(level=0.0001)+iamb+fisher-z", required=[("X1", "X7")]).graph


def test_a_learner_without_p_values_is_refused():
    data, _ = simulate.small_network(100, seed=3)

    with pytest.raises(ParameterError, match="a p-value for each edge"):
        learn(data, "fdr+stability(runs=2)+iamb+fisher-z")


@pytest.mark.parametrize("spec", ["fdr+iamb+{}", "iamb-fdr(fdr=0.2)+{}", "iamb(rule=combined)+{}"])
def test_p_values_that_are_right_at_one_level_only_are_reported(spec):
    data, _ = simulate.small_network(60, seed=3)
    with pytest.warns(PyknnmiWarning, match="say only whether p < alpha"):
        learn(data, spec.format("knn-cmi(stop=sequential)"))
    assert not any("only whether" in each for each in learn(data, spec.format("knn-cmi(resolution=0.001)")).warnings)


@pytest.mark.parametrize(("spec", "permutations"), [("fdr+iamb", 300), ("iamb-fdr", 300), ("iamb(rule=combined)", 100)])
def test_p_values_that_are_bounds_and_too_large_are_reported(spec, permutations):
    # 2 / (T + 1) is above what one edge needs, and 1 / (T + 1) is not: .05 / 15, .05 / (5 * 2.283) and .05 / e
    if spec == "iamb(rule=combined)":
        table = np.random.default_rng(0).standard_normal((150, 3))
        table[:, 1] += 2 * table[:, 0]
        table[:, 2] += 2 * table[:, 1]
    else:
        table = np.random.default_rng(0).standard_normal((100, 6))
        table[:, 1] += 3 * table[:, 0]
    with pytest.warns(PyknnmiWarning, match="are upper bounds, as tests stopped early: take a smaller resolution"):
        early = learn(table, f"{spec}+residual-dependence(permutations={permutations})")
    assert ("X1", "X2") not in early.graph
    assert len(early.warnings) == 1
    full = learn(table, f"{spec}+residual-dependence(permutations={permutations},stop_early=false)")
    assert ("X1", "X2") in full.graph
    assert not full.warnings
    finer = learn(table, f"{spec}+residual-dependence(resolution=0.001)")
    assert ("X1", "X2") in finer.graph
    assert not finer.warnings
