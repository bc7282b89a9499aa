"""pgmpy itself, with our tests; and its tests in ours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pyknnmi
from pyknnmi import DataError, Dataset, ParameterError, ci_test, learn
from pyknnmi.bridges import pgmpy as bridge
from pyknnmi.bridges.pgmpy import pc, skeleton

pytest.importorskip("pgmpy", reason="pgmpy is not installed: make bridges installs it")
from pgmpy.causal_discovery import PC
from pgmpy.ci_tests import ChiSquare, Pearsonr
from sklearn.base import clone

DATA, _ = pyknnmi.simulate.small_network(300, seed=4)
FRAME = pd.DataFrame(DATA.values, columns=DATA.names)
KNN = "knn-cmi(permutations=59,alpha=0.1,stop=never)"  # p = alpha is possible, 6/60; theirs makes all


@pytest.mark.parametrize("test", ["fisher-z", "fisher-z(alpha=0.3)", KNN])
def test_pc_finds_the_skeleton_of_ours(test):
    estimator = pc(FRAME, test, seed=2)
    assert isinstance(estimator, PC)
    assert skeleton(estimator) == learn(DATA, f"pc-stable+{test}", seed=2).graph


def test_their_options_are_passed_on():
    estimator = pc(FRAME, "fisher-z", max_cond_vars=0, return_type="dag", orient_rule="pvalue")
    assert skeleton(estimator) == learn(DATA, "pc-stable(max_conditioning=0)+fisher-z").graph


def test_one_alpha():
    with pytest.raises(ParameterError, match="the significance level is the alpha of the test"):
        pc(FRAME, "fisher-z", significance_level=0.01)
    theirs = PC(ci_test=bridge.ci_test(pyknnmi.bind(FRAME, "fisher-z")), n_jobs=1, show_progress=False)
    with pytest.raises(ParameterError, match=r"pgmpy decides at 0.01 and fisher-z at 0.05: give both the same"):
        theirs.fit(FRAME)


def test_their_form_of_a_test():
    table = pyknnmi.bind(FRAME, KNN)
    theirs = bridge.ci_test(table)
    answer = table.test("X1", "X2", ["X3"])
    assert theirs("X1", "X2", ["X3"], significance_level=0.1) is answer.independent
    assert (theirs.p_value_, theirs.statistic_, theirs.effect_size_) == (answer.p_value, *(answer.statistic,) * 2)
    assert clone(theirs).table is table


@pytest.mark.parametrize("given", [[], ["X3"], ["X7", "X3"]])
def test_their_p_values(given):
    _, expected = Pearsonr(FRAME).run_test("X1", "X2", given)
    assert ci_test(DATA, "X1", "X2", given, "pgmpy").p_value == pytest.approx(expected, abs=1e-12)


def test_their_tests_in_a_graph_of_ours():
    result = learn(DATA, "iamb+pgmpy(test=fisher-z)")
    assert result.graph == learn(DATA, "iamb+fisher-z").graph
    assert result.versions["distributions"].keys() == {"pgmpy"}


def test_categories():
    codes = np.random.default_rng(1).integers(0, 3, (200, 2))
    table = Dataset(codes, ("a", "b"), ("discrete", "discrete"))
    _, expected = ChiSquare(pd.DataFrame(codes, columns=["a", "b"])).run_test("a", "b", [])
    assert ci_test(table, "a", "b", test="pgmpy(test=chi-square)").p_value == pytest.approx(expected, abs=1e-12)
    with pytest.raises(DataError, match="takes categories only"):
        ci_test(DATA, 0, 1, test="pgmpy(test=chi-square)")
    with pytest.raises(DataError, match="takes numbers only"):
        ci_test(table, 0, 1, test="pgmpy")


def test_a_test_that_pgmpy_does_not_have():
    with pytest.raises(ParameterError, match=r"test = pearson is no test of pgmpy \(it has chi-square, fisher-z, "):
        ci_test(DATA, 0, 1, test="pgmpy(test=pearson)")


def test_the_examples_of_the_page(check_examples):
    check_examples("pgmpy")
