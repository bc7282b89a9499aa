"""The learners, as a user of pyknnmi meets them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from pyknnmi_gaussian.glasso import GraphicalLasso
from pyknnmi_gaussian.neighbourhood import NeighbourhoodSelection

import pyknnmi
from pyknnmi.testing import check_learner

SPECS = [
    "glasso",
    "glasso(select=ric)",
    "glasso(select=ebic)",
    "glasso(penalty=0.1,penalize_diagonal=false)",
    "glasso(correlation=spearman)",
    "neighbourhood(select=none,penalty=0.2)",
    "neighbourhood",
    "neighbourhood(rule=or)",
    "neighbourhood(select=ric)",
    "neighbourhood(select=ebic)",
    "neighbourhood(select=auto)",
    "neighbourhood(correlation=kendall,select=auto,formula=code)",
]


def chain(n=500, seed=0):
    """A Markov chain a - b - c - d: a Gaussian one, so that its precision matrix has these entries only."""
    noise = np.random.default_rng(seed).standard_normal((n, 4))
    columns = [noise[:, 0]]
    for j in range(1, 4):
        columns.append(0.6 * columns[-1] + 0.8 * noise[:, j])
    return pyknnmi.Dataset.of(np.column_stack(columns), list("abcd"))


few_columns = pytest.mark.filterwarnings("ignore:.*so the empty graph is chosen")


@few_columns
@pytest.mark.parametrize("spec", SPECS)
def test_contract(spec):
    check_learner(pyknnmi.Pipeline.parse(spec).learner)


@few_columns
@pytest.mark.parametrize("spec", SPECS[:-1])
def test_details_are_json_and_name_the_edges(spec):
    result = pyknnmi.learn(chain(), spec, seed=1)
    details = json.loads(json.dumps(dict(result.details)))
    assert details["penalty"] > 0
    assert {(edge["source"], edge["target"]) for edge in details["edges"]} == set(result.graph.edges)
    curve = {"stars": "instability", "ebic": "ebic"}.get(details["select"])
    if curve:
        assert len(details[curve]) == len(details["penalties"]) == 20
        assert details["penalty"] in details["penalties"]
    if details["select"] == "stars":
        assert all(0 <= edge["stability"] <= 1 for edge in details["edges"])


@pytest.mark.parametrize("learner", ["glasso", "neighbourhood"])
def test_an_empty_graph_of_few_unstable_columns_is_warned_of(learner):
    random = np.random.default_rng(0)
    x, noise, other = random.standard_normal((3, 200))
    columns = np.column_stack([x, x + 0.4 * noise, other])
    with pytest.warns(pyknnmi.PyknnmiWarning, match="so the empty graph is chosen.*or select=ebic or ric"):
        assert pyknnmi.learn(columns, learner).graph.edges == ()
    assert ("X1", "X2") in pyknnmi.learn(columns, f"{learner}(select=ebic)").graph.edges


def test_chain_is_found():
    truth = pyknnmi.Graph("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    assert pyknnmi.learn(chain(), "neighbourhood(select=auto)").graph == truth
    assert pyknnmi.learn(chain(2000), "glasso(penalty=0.2)").graph.false_negatives(truth) == 0


@few_columns
def test_seed_decides_and_threads_do_not():
    first = pyknnmi.learn(chain(), "glasso", seed=1, threads=1)
    assert pyknnmi.learn(chain(), "glasso", seed=1, threads=2).details == first.details
    assert pyknnmi.learn(chain(), "glasso", seed=2).details["instability"] != first.details["instability"]


def test_a_test_in_the_spec_is_an_error():
    with pytest.raises(pyknnmi.SpecError, match="uses no CI test: leave 'fisher-z' out"):
        pyknnmi.learn(chain(), "glasso+fisher-z")


def test_parameters():
    with pytest.raises(pyknnmi.ParameterError, match="select = none needs a penalty"):
        GraphicalLasso(select=None)
    with pytest.raises(pyknnmi.ParameterError, match="path = 1 must be at least 2"):
        NeighbourhoodSelection(path=1)
    with pytest.raises(pyknnmi.ParameterError, match=r"alpha = 0\.0 must be between 0 and 1"):
        NeighbourhoodSelection(alpha=0.0)


def test_data_errors_are_pyknnmi_errors():
    values = np.zeros((100, 3))
    values[:, :2] = np.random.default_rng(0).standard_normal((100, 2))
    values[0, 2] = 1.0  # constant in subsamples without the first row
    data = pyknnmi.Dataset.of(values, ["zeta", "mid", "alpha"])  # the learner sees them in another order
    with pytest.raises(pyknnmi.DataError, match="glasso: column 'alpha' is constant in these 80 rows"):
        pyknnmi.learn(data, "glasso")


def test_a_column_that_its_neighbours_determine_is_named():
    values = np.random.default_rng(0).standard_normal((100, 3))
    data = pyknnmi.Dataset.of(np.column_stack([values, values[:, 0] + values[:, 1]]), ["d", "c", "b", "a"])
    with pytest.raises(pyknnmi.DataError, match="neighbourhood: column 'a' is a linear function of its neighbours"):
        pyknnmi.learn(data, "neighbourhood(select=ebic,min_ratio=1e-6)")


@pytest.mark.parametrize("n", [125, 250, 500, 1000, 2000])
def test_mb_auto_of_the_paper(reference, n):
    """With the formula of the 2018 program: all 150 stored graphs of each n."""
    stored = reference.json("paper_graphs_small_networks.json")["graphs"]
    spec = pyknnmi.Pipeline.parse("nonparanormal+neighbourhood(select=auto,formula=code)")
    for linear in (True, False):
        for noise in ("gaussian", "uniform", "t"):
            random = np.random.RandomState(123456)
            for expected in stored[f"{'Linear' if linear else 'Nonlinear'}{noise}"]["mb_auto"][str(n)]:
                data, _ = pyknnmi.simulate.small_network(2000, noise=noise, linear=linear, seed=random)
                graph = spec.learn(pyknnmi.Dataset(data.values[:n], data.names)).graph
                edges = [f"{data.column(a)}-{data.column(b)}" for a, b in graph.edges]
                assert " ".join(edges) == expected
