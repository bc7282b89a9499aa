import pickle

import numpy as np
import pytest
from pyknnmi_kernel import GCM, KCI, RCIT, RCoT

import pyknnmi
from pyknnmi.registry.registry import default_registry
from pyknnmi.testing import check_ci_test

NAMES = {"gcm": GCM, "kci": KCI, "rcit": RCIT, "rcot": RCoT}


@pytest.mark.parametrize("name", NAMES)
def test_found_by_its_entry_point(name):
    registry = default_registry()
    assert registry.get(name) is NAMES[name]
    assert registry.plugin_of(name).name == "kernel"


@pytest.mark.parametrize(
    "test",
    [
        KCI(),
        KCI(null="spectral", draws=50),
        KCI(bandwidth="median", small_sample=False),
        RCIT(),
        RCIT(null="hbe", features=3),
        RCoT(),
        RCoT(null="gamma", conditioning_features=20),
        GCM(),
        GCM(regressor="linear"),
        GCM(regressor="gradient-boosting"),
        GCM(regressor="sklearn.neighbors.KNeighborsRegressor"),
    ],
    ids=str,
)
def test_conformance(test):
    check_ci_test(test)


@pytest.mark.parametrize(("spec", "most_wrong"), [("rcot", 3), ("rcit", 6), ("kci", 4)])
def test_small_network(spec, most_wrong):
    data, truth = pyknnmi.simulate.small_network(500, seed=1)
    result = pyknnmi.learn(data, f"iamb+{spec}")
    assert result.graph.hamming(truth) <= most_wrong
    assert result.versions["plugins"] == {"kernel": default_registry().plugin_of(spec).version}


def test_small_linear_network():
    data, truth = pyknnmi.simulate.small_network(500, linear=True, seed=1)
    assert pyknnmi.learn(data, "iamb+gcm").graph == truth


@pytest.mark.parametrize("name", NAMES)
def test_bound_tests_can_be_sent_to_workers(name):
    data, _ = pyknnmi.simulate.small_network(60, seed=1)
    bound = NAMES[name]().bind(data, pyknnmi.Run())
    answer = bound.test(0, 1, (2,))
    assert pickle.loads(pickle.dumps(bound)).test(0, 1, (2,)) == answer


@pytest.mark.parametrize("name", NAMES)
def test_order_of_columns_and_constants_do_not_matter(name):
    data, _ = pyknnmi.simulate.small_network(80, seed=1)
    graph = pyknnmi.learn(data, f"iamb+{name}").graph
    constant = np.column_stack([data.values[:, ::-1], np.ones(80)])
    names = (*data.names[::-1], "constant")
    with pytest.warns(pyknnmi.PyknnmiWarning, match="constant"):
        other = pyknnmi.learn(pyknnmi.Dataset.of(constant, names), f"iamb+{name}").graph
    assert other.reordered((*data.names, "constant")).edges == graph.edges
