import numpy as np
import pytest
from pyknnmi_example import ChowLiu, PermutedCorrelation

import pyknnmi
from pyknnmi.registry.registry import default_registry
from pyknnmi.testing import check_ci_test, check_learner, example_data


def test_both_keep_the_contract():
    check_ci_test(PermutedCorrelation())
    check_learner(ChowLiu())
    check_learner(ChowLiu(), "permuted-correlation")


@pytest.mark.parametrize("name", ["permuted-correlation", "chow-liu"])
def test_both_are_found_by_the_entry_point(name):
    assert default_registry().plugin_of(name).name == "example"


@pytest.mark.parametrize("given", [(), ("X3",), ("X3", "X7")])
def test_p_values_agree_with_fisher_z_on_gaussian_data(given):
    """4999 permutations have a standard error of at most 0.007."""
    data, _ = pyknnmi.simulate.small_network(100, linear=True, seed=1)
    for x, y in [("X1", "X6"), ("X2", "X4")]:
        found = pyknnmi.ci_test(data, x, y, given, test="permuted-correlation(permutations=4999)")
        normal = pyknnmi.ci_test(data, x, y, given, test="fisher-z")
        assert found.p_value == pytest.approx(normal.p_value, abs=0.03)


def test_a_column_that_is_explained_is_independent():
    values = np.random.default_rng(0).standard_normal((30, 2))
    data = np.column_stack([values, values[:, 0]])
    assert pyknnmi.ci_test(data, "X1", "X2", "X3", test="permuted-correlation").p_value == 1.0


def test_the_tree_of_a_chain():
    graph = pyknnmi.learn(example_data(), "chow-liu+permuted-correlation").graph
    assert graph.edges == (("a", "b"), ("b", "c"))


@pytest.mark.parametrize("parameter", [{"alpha": 0.0}, {"permutations": 0}])
def test_bad_parameters(parameter):
    with pytest.raises(pyknnmi.ParameterError, match=next(iter(parameter))):
        PermutedCorrelation(**parameter)
