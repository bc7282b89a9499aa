"""DoWhy itself, with our tests; and its tests in ours."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import pyknnmi
from pyknnmi import ParameterError, ci_test, learn, parse_test
from pyknnmi.bridges.dowhy import IndependenceTest, falsify_graph

pytest.importorskip("dowhy", reason="DoWhy is not installed: make bridges installs it")
from dowhy.gcm.falsify import FalsifyConst
from dowhy.gcm.independence_test import independence_test

DATA, _ = pyknnmi.simulate.small_network(200, seed=4)
FRAME = pd.DataFrame(DATA.values, columns=DATA.names)[["X1", "X2", "X3", "X4"]]
CHAIN = nx.DiGraph([("X1", "X2"), ("X2", "X3"), ("X3", "X4")])


def test_falsify_graph_counts_the_violations_that_our_test_finds():
    found = falsify_graph(CHAIN, FRAME, "fisher-z", n_permutations=2, n_jobs=1)
    summary = found.summary[FalsifyConst.VALIDATE_LMC]
    # The local Markov conditions of the chain: each column is independent of those before its parent, given that.
    questions = [("X3", "X1", "X2"), ("X4", "X1", "X3"), ("X4", "X2", "X3")]
    violations = sum(not ci_test(FRAME, *question, test="fisher-z").independent for question in questions)
    assert summary[FalsifyConst.GIVEN_VIOLATIONS] == violations
    assert summary[FalsifyConst.N_TESTS] == len(questions)


def test_one_alpha():
    with pytest.raises(ParameterError, match="significance_ci is the alpha of the test"):
        falsify_graph(CHAIN, FRAME, "fisher-z", significance_ci=0.1)


def test_their_form_of_a_test():
    test = IndependenceTest(parse_test("knn-cmi(permutations=39)"), seed=3)
    x, y, z = (FRAME[name].to_numpy() for name in ("X1", "X2", "X3"))
    table = np.column_stack([x, y, z])
    frame = pd.DataFrame(table, columns=["x0", "y0", "z0"])
    assert test(x, y, z) == ci_test(frame, "x0", "y0", "z0", test.component, seed=3).p_value
    assert test(x, y.reshape(-1, 1)) == ci_test(frame, "x0", "y0", test=test.component, seed=3).p_value
    assert test(np.where(x > 0, "high", "low"), y) < 1
    assert (
        test(x, np.column_stack([y, z]))
        == ci_test(frame.set_axis(["x0", "y0", "y1"], axis=1), "x0", ["y0", "y1"], test=test.component, seed=3).p_value
    )


@pytest.mark.parametrize("method", ["kernel", "approx-kernel", "regression", "gcm"])
def test_their_tests(method):
    question = FRAME[:60], "X1", "X2", "X3", f"dowhy(test={method})"
    found = ci_test(*question, seed=1)
    assert found == ci_test(*question, seed=1)
    if method == "kernel":  # the others draw
        expected = independence_test(*(FRAME[name].to_numpy()[:60] for name in ("X1", "X2", "X3")))
        assert found.p_value == pytest.approx(expected, rel=1e-6)


def test_their_tests_in_a_graph_of_ours():
    generator = np.random.default_rng(2)
    x, noise = generator.standard_normal((2, 100))
    result = learn(np.column_stack([x, x + 0.1 * noise]), "pairwise+dowhy")
    assert result.versions["distributions"] == {"dowhy": "0.14"}
    assert result.graph.edges == (("X1", "X2"),)


def test_the_examples_of_the_page(check_examples):
    check_examples("DoWhy")
