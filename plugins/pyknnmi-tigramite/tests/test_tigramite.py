"""tigramite itself, with our tests; and its tests in ours."""

import copy
import doctest
import pickle
from pathlib import Path

import numpy as np
import pytest
from pyknnmi_tigramite import Tigramite, TigramiteTest
from tigramite.data_processing import DataFrame
from tigramite.independence_tests.parcorr import ParCorr
from tigramite.independence_tests.robust_parcorr import RobustParCorr
from tigramite.pcmci import PCMCI

import pyknnmi
from pyknnmi.testing import check_ci_test

KNN = "knn-cmi(permutations=59)"


def series(n):
    """x drives y one step later, and y drives z; z(t) depends on x(t - 2) only through y(t - 1)."""
    values = np.random.default_rng(3).standard_normal((n, 3))
    for t in range(1, n):
        values[t, 1] += 0.9 * values[t - 1, 0]
        values[t, 2] += 0.9 * values[t - 1, 1]
    return values


@pytest.mark.parametrize("test", ["fisher-z", KNN])
def test_pcmci_finds_the_links_of_a_known_process(test):
    found = PCMCI(DataFrame(series(250)), TigramiteTest(test), verbosity=0).run_pcmci(
        tau_max=1, pc_alpha=0.05, alpha_level=0.02
    )
    assert [tuple(link) for link in np.argwhere(found["graph"] == "-->")] == [(0, 1, 1), (1, 2, 1)]


def test_p_values_are_near_those_of_the_same_test_there():
    """Fisher's z and Student's t differ by less than .01 at 250 rows."""
    ours, theirs = TigramiteTest("fisher-z"), ParCorr()
    for test in (ours, theirs):
        test.set_dataframe(DataFrame(series(250)))
    for x, y, z in [([(0, -1)], [(1, 0)], []), ([(0, -1)], [(2, 0)], [(1, -1)]), ([(0, 0)], [(2, 0)], [])]:
        assert ours.run_test(x, y, z)[1] == pytest.approx(theirs.run_test(x, y, z)[1], abs=0.01)


def test_an_answer_is_the_one_of_pyknnmi():
    values = series(100)
    test = TigramiteTest(KNN, seed=4)
    statistic, p_value = test.run_test_raw(values[:, [0]], values[:, [1]], values[:, [2]])
    table = pyknnmi.Dataset(values, ("x0", "y1", "z2"))
    answer = pyknnmi.ci_test(table, 0, 1, 2, "knn-cmi(permutations=59,screen=none)", seed=4)
    assert (statistic, p_value) == (answer.statistic, answer.p_value)
    groups = pyknnmi.ci_test(
        pyknnmi.Dataset(values, ("x0", "x1", "y2")), ["x0", "x1"], "y2", test=test.component, seed=4
    )
    assert test.run_test_raw(values[:, [0, 1]], values[:, [2]]) == (groups.statistic, groups.p_value)


def test_what_decides_at_another_alpha_is_switched_off():
    component = TigramiteTest("knn-cmi(stop=sequential)").component
    assert (component.screen, component.stop) == (None, "never")
    with pytest.raises(pyknnmi.ParameterError, match="leave significance out"):
        TigramiteTest(significance="shuffle_test")


def test_copies_and_pickles_after_use():
    values = series(60)
    test = TigramiteTest("fisher-z")
    question = values[:, [0]], values[:, [1]]
    expected = test.run_test_raw(*question)
    assert copy.deepcopy(test).run_test_raw(*question) == expected
    assert pickle.loads(pickle.dumps(test)).run_test_raw(*question) == expected


def test_a_p_value_without_its_statistic():
    with pytest.raises(RuntimeError, match="another statistic"):
        TigramiteTest("fisher-z").get_analytic_significance(0.5, 10, 2, np.array([0, 1]))


@pytest.mark.parametrize("test", ["parcorr", "robust-parcorr"])
def test_theirs_in_ours(test):
    check_ci_test(Tigramite(test=test))
    values = series(100)
    theirs = {"parcorr": ParCorr, "robust-parcorr": RobustParCorr}[test]()
    value, p_value = theirs.run_test_raw(values[:, [0]], values[:, [1]], values[:, [2]])
    found = pyknnmi.ci_test(values, 0, 1, 2, f"tigramite(test={test})")
    assert (found.statistic, found.p_value) == (pytest.approx(abs(value)), pytest.approx(p_value))


def test_a_graph_of_ours_with_a_test_of_theirs():
    result = pyknnmi.learn(series(200), "iamb+tigramite(test=parcorr)")
    assert result.versions["distributions"].keys() == {"tigramite"}
    assert result.versions["plugins"].keys() == {"tigramite"}


def test_the_examples_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = str(Path(__file__).parent.parent / "README.md")
    failed, tried = doctest.testfile(page, module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (failed, tried > 5) == (0, True)
