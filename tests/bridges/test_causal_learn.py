"""causal-learn itself, with our tests; and its tests in ours."""

from __future__ import annotations

import numpy as np
import pytest

import pyknnmi
from pyknnmi import DataError, Dataset, ParameterError, ci_test, learn
from pyknnmi.bridges import causal_learn
from pyknnmi.bridges.causal_learn import fci, pc, skeleton

pytest.importorskip("causallearn", reason="causal-learn is not installed: make bridges installs it")
from causallearn.graph.GraphClass import CausalGraph
from causallearn.search.ConstraintBased import FCI, PC
from causallearn.utils.cit import CIT

DATA, _ = pyknnmi.simulate.small_network(300, seed=4)
KNN = "knn-cmi(permutations=59,alpha=0.1,stop=never)"  # p = alpha is possible, 6/60; theirs makes all


def skeleton_of_ours(test, **options):
    return learn(DATA, f"pc-stable+{test}", **options).graph


@pytest.mark.parametrize("test", ["fisher-z", "fisher-z(alpha=0.3)", KNN])
def test_pc_finds_the_skeleton_of_ours(test):
    graph = pc(DATA, test, seed=2)
    assert isinstance(graph, CausalGraph)
    assert skeleton(graph) == skeleton_of_ours(test, seed=2)


def test_pc_finds_what_it_does_with_its_own_test_of_the_same():
    assert skeleton(pc(DATA, "fisher-z")) == skeleton(
        PC.pc(DATA.values, 0.05, "fisherz", show_progress=False, node_names=DATA.names)
    )


def test_fci():
    graph, edges = fci(DATA, "fisher-z", verbose=False)
    theirs, _ = FCI.fci(DATA.values, "fisherz", 0.05, show_progress=False, node_names=list(DATA.names))
    assert (graph.graph == theirs.graph).all()
    assert skeleton(graph).names == DATA.names
    assert len(edges) == len(skeleton(graph).edges)


def test_their_options_are_passed_on():
    assert skeleton(pc(DATA, "fisher-z", max_k=0)) == learn(DATA, "pc-stable(max_conditioning=0)+fisher-z").graph


def test_one_alpha():
    with pytest.raises(ParameterError, match=r"alpha is that of the test, so write it there"):
        pc(DATA, "fisher-z", alpha=0.01)


def test_their_factory_makes_a_test_of_ours():
    table = pyknnmi.bind(DATA, KNN, seed=2)
    theirs = CIT(DATA.values, causal_learn.register(), table=table)
    assert theirs(np.int64(0), 1, (2, 3)) == table.test(0, 1, [2, 3]).p_value
    assert theirs(0, 1) == table.test(0, 1).p_value
    with pytest.raises(DataError, match="another shape"):
        CIT(DATA.values[:9], causal_learn.register(), table=table)
    with pytest.raises(ParameterError, match="takes no cache_path"):
        CIT(DATA.values, causal_learn.register(), table=table, cache_path="cache.json")


@pytest.mark.parametrize("given", [[], ["X3"], ["X7", "X3"]])
def test_their_p_values(given):
    theirs = CIT(DATA.values, "fisherz")(0, 1, [DATA.column(name) for name in given])
    found = ci_test(DATA, "X1", "X2", given, "causal-learn")
    assert found.p_value == pytest.approx(theirs, abs=1e-12)
    assert found.p_value == pytest.approx(ci_test(DATA, "X1", "X2", given, "fisher-z").p_value, abs=1e-12)
    assert (found.decided_by, found.n) == ("causal-learn", 300)


def test_their_tests_in_a_graph_of_ours():
    result = learn(DATA, "iamb+causal-learn(test=fisherz)")
    assert result.graph == learn(DATA, "iamb+fisher-z").graph
    assert result.versions["distributions"] == {"causal-learn": "0.1.4.8"}


def test_kci_decides_a_nonlinear_question():
    rows = DATA.values[:80]
    theirs = CIT(rows, "kci")(4, 5, [2])
    assert ci_test(rows, 4, 5, 2, "causal-learn(test=kci)").p_value == pytest.approx(theirs, rel=1e-6)


def test_a_test_that_draws_repeats_itself_and_leaves_the_global_generator():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    question = (DATA.values[:100], 4, 5, 2, "causal-learn(test=rcit)")
    answers = {ci_test(*question, seed=seed).p_value for seed in (0, 0, 0)}
    assert len(answers) == 1
    assert ci_test(*question, seed=1).p_value not in answers
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_categories():
    codes = np.random.default_rng(1).integers(0, 3, (200, 2))
    table = Dataset(np.column_stack([codes, codes[:, 0]]), ("a", "b", "c"), ("discrete",) * 3)
    assert ci_test(table, "a", "b", test="causal-learn(test=gsq)").p_value == pytest.approx(
        CIT(codes, "gsq")(0, 1), abs=1e-12
    )
    with pytest.raises(DataError, match="takes categories only"):
        ci_test(DATA, 0, 1, test="causal-learn(test=chisq)")
    with pytest.raises(DataError, match="takes numbers only"):
        ci_test(table, 0, 1, test="causal-learn")


def test_the_examples_of_the_page(check_examples):
    check_examples("causal-learn")
