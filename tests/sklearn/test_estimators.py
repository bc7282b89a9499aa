"""The estimators keep to scikit-learn's contract, as its own checks see it, and answer as `learn` does."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import pyknnmi
from pyknnmi import DataError, Dataset, ParameterError, PyknnmiWarning, SpecError
from pyknnmi.sklearn import MarkovBlanketSelector, MarkovNetwork

DATA, _ = pyknnmi.simulate.small_network(200, seed=4)
SPECS = ["iamb+knn-cmi", "iamb+fisher-z", "pc-stable+fisher-z", "ranks+inter-iamb(rule=or)+knn-cmi(permutations=39)"]


@pytest.mark.parametrize(
    "spec", [pytest.param(spec, marks=pytest.mark.slow if "knn" in spec else ()) for spec in SPECS]
)
@pytest.mark.parametrize("estimator", [MarkovNetwork, MarkovBlanketSelector])
@pytest.mark.filterwarnings("ignore")  # the checks warn themselves, and give data that is warned of
def test_the_checks_of_scikit_learn_pass(estimator, spec):
    for checked, check in estimator_checks_generator(estimator(spec)):
        if check.func.__name__ != "check_array_api_input":  # it skips itself unless an environment variable is set
            check(checked)


@pytest.mark.parametrize("spec", SPECS)
def test_a_network_is_the_one_of_learn(spec):
    network = MarkovNetwork(spec, random_state=3).fit(pd.DataFrame(DATA.values, columns=DATA.names))
    result = pyknnmi.learn(DATA, spec, seed=3)
    assert network.graph_ == network.result_.graph == result.graph
    assert (network.adjacency_ == result.graph.adjacency()).all()
    assert network.feature_names_in_.tolist() == list(DATA.names)
    assert (network.n_features_in_, network.result_.spec) == (7, result.spec)


def test_features_of_an_array_have_the_names_of_scikit_learn():
    assert MarkovNetwork("iamb+fisher-z").fit(DATA.values).graph_.names == tuple(f"x{i}" for i in range(7))


def test_random_states():
    graphs = [MarkovNetwork(random_state=np.random.RandomState(5)).fit(DATA.values).result_.seed for _ in range(2)]
    assert graphs[0] == graphs[1]
    assert MarkovNetwork("iamb+fisher-z", random_state=None, n_jobs=1).fit(DATA.values).result_.seed >= 0


def test_parameters_of_the_components():
    network = MarkovNetwork("ranks+iamb+knn-cmi")
    assert network.get_params()["test__k"] == 3
    assert network.get_params(deep=False).keys() == {"spec", "random_state", "threads", "n_jobs"}
    network.set_params(test__k=np.int64(5), learner__rule="or", test__screen=None, random_state=2)
    params = clone(network).get_params()
    assert (params["test__k"], params["learner__rule"], params["test__screen"], params["random_state"]) == (
        *(5, "or", None),
        2,
    )
    assert network.set_params(test__alpha=0.01, spec="iamb+fisher-z").get_params()["test__alpha"] == 0.01


def test_parameters_of_several_transforms_and_a_wrapper():
    network = MarkovNetwork("stability+standardize+nonparanormal+iamb+fisher-z")
    assert network.set_params(wrapper__runs=4).spec.startswith("stability(runs=4,")
    assert network.get_params()["transform2__method"] == "shrunken"
    assert "nonparanormal(method=truncated)" in network.set_params(transform2__method="truncated").spec


@pytest.mark.parametrize("key", ["test__kk", "transform__k", "tests__k"])
def test_a_parameter_that_does_not_exist(key):
    with pytest.raises(ParameterError, match=rf"has no parameter '{key}' \(it has learner__rule, "):
        MarkovNetwork().set_params(**{key: 1})


def test_a_spec_that_is_none():
    network = MarkovNetwork("iamb+knn-mci")
    assert "test__k" not in network.get_params()
    with pytest.raises(SpecError, match="did you mean 'knn-cmi'"):
        network.fit(DATA.values)


@pytest.mark.parametrize("spec", ["iamb+fisher-z", "pc-stable+fisher-z", "fdr+iamb+fisher-z"])  # targets: the first
def test_the_blanket_of_a_column(spec):
    frame = pd.DataFrame(DATA.values, columns=DATA.names)
    selector = MarkovBlanketSelector(spec).fit(frame.drop(columns="X5"), frame["X5"])
    expected = pyknnmi.learn(DATA, spec, targets=["X5"] if spec == "iamb+fisher-z" else None).graph.neighbors("X5")
    assert selector.blanket_ == tuple(selector.get_feature_names_out()) == expected
    selected = selector.set_output(transform="pandas").transform(frame.drop(columns="X5"))
    assert list(selected.columns) == list(expected)
    assert selected.equals(frame[list(expected)])


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [0, 1]], ids=str)
def test_a_target_of_categories(labels):
    codes = (DATA.values[:, 0] > 0).astype(int)
    y = np.array(labels)[codes]
    features = DATA.values[:, [0, 6]]
    table = Dataset(np.column_stack([features, codes]), ("x0", "x1", "y"), ("continuous", "continuous", "discrete"))
    expected = pyknnmi.learn(table, targets="y")
    for target in (y, pd.Series(y).astype("category"), y.astype(object)):
        selector = MarkovBlanketSelector().fit(features, target)
        assert selector.result_.data_sha256 == expected.data_sha256
        assert selector.blanket_ == expected.graph.neighbors("y")


def test_a_target_of_categories_for_a_test_of_numbers():
    y = np.where(DATA.values[:, 0] > 0, "yes", "no")
    with pytest.raises(DataError, match="column 'y' holds categories, and fisher-z"):
        MarkovBlanketSelector("iamb+fisher-z").fit(DATA.values, y)
    with pytest.raises(DataError, match="the target 'y' holds no numbers: pass target='discrete'"):
        MarkovBlanketSelector(target="continuous").fit(DATA.values, y)
    classes = (DATA.values[:, 0] > 0).astype(int)
    assert MarkovBlanketSelector("iamb+fisher-z").fit(DATA.values[:, [0, 6]], classes).blanket_ == ("x0",)


@pytest.mark.parametrize(("if_empty", "count"), [("best", 1), ("none", 0), ("all", 3)])
def test_an_empty_blanket(if_empty, count):
    y = np.random.default_rng(1).standard_normal(DATA.n)
    selector = MarkovBlanketSelector("iamb+fisher-z(alpha=0.001)", if_empty=if_empty)
    with pytest.warns(PyknnmiWarning, match="the Markov blanket of 'y' is empty"):
        selector.fit(DATA.values[:, :3], y)
    assert (selector.blanket_, selector.get_support().sum()) == ((), count)
    if if_empty == "best":
        best = np.argmax([abs(np.corrcoef(x, y)[0, 1]) for x in DATA.values[:, :3].T])
        assert selector.get_support()[best]


@pytest.mark.parametrize("wrong", [{"if_empty": "some"}, {"target": "number"}])
def test_words_that_are_not_allowed(wrong):
    with pytest.raises(ParameterError, match="must be one of"):
        MarkovBlanketSelector(**wrong).fit(DATA.values, DATA.values[:, 0])


def test_a_feature_called_as_the_target():
    frame = pd.DataFrame(DATA.values[:, :3], columns=["y", "y'", "z"])
    y = DATA.values[:, 3] + frame["z"]
    assert MarkovBlanketSelector("iamb+fisher-z").fit(frame, y.to_numpy()).result_.graph.names[-1] == "y''"


def test_a_grid_over_parameters_of_the_test():
    grid = GridSearchCV(
        make_pipeline(MarkovBlanketSelector("iamb+fisher-z"), LinearRegression()),
        {"markovblanketselector__test__alpha": [0.01, 0.2], "markovblanketselector__learner__exhaustive": [True]},
        cv=3,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PyknnmiWarning)
        grid.fit(DATA.values[:, :5], DATA.values[:, 5])
    assert len(grid.cv_results_["params"]) == 2
    assert "exhaustive=true" in grid.best_estimator_[0].spec
