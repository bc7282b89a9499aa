"""Functional ANOVA."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import reference

import pyknnmi
from pyknnmi import DataError, Dataset, simulate
from pyknnmi.builtin.functional_anova import FunctionalANOVA, _checked
from pyknnmi.components import Run
from pyknnmi.regression import Allowed, GraphSearch, SmoothRegressions
from pyknnmi.testing import check_learner


def test_keeps_the_contract():
    check_learner(FunctionalANOVA())


@pytest.mark.parametrize("name", ["nonlin_gaussian", "nonlin_t", "nonlin_uniform", "lin_gaussian", "lin_t"])
def test_reference_graphs(name):
    # from another implementation; its cosines were of ranks, and its check had one function of a column less
    expected = {tuple(edge) for edge in reference.load("functional_anova.json")[name]["graph"]}
    found = set(pyknnmi.learn(reference.table(f"inputs/{name}_n500.csv"), "functional-anova").graph.edges)
    assert len(expected ^ found) <= 1


def test_one_cause_of_many():
    # What is left of the cause's effects, where it is rare or they jump, once joined more than one pair a graph.
    false = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal(800)
        effects = (np.sin(z), z**2, np.tanh(z), np.abs(z), z, np.cos(2 * z))
        table = np.column_stack([z, *[1.5 * f + 0.5 * rng.standard_normal(800) for f in effects]])
        edges = set(pyknnmi.learn(table, "functional-anova").graph.edges)
        star = {("X1", f"X{j}") for j in range(2, 8)}
        assert star <= edges
        false += len(edges - star)
    assert false <= 1


@pytest.fixture(scope="module")
def result():
    data, _ = simulate.small_network(400, seed=2)
    return data, pyknnmi.learn(data, "functional-anova", threads=1)


def test_threads_and_order_of_columns_change_nothing(result):
    data, one = result
    many = pyknnmi.learn(data.select([6, 2, 0, 3, 5, 1, 4]), "functional-anova", threads=3)
    assert many.graph.reordered(data.names) == one.graph
    assert many.details == one.details


def test_increasing_functions_of_columns_change_little(result):
    # features of ranks; only the raw values differ
    data, one = result
    other = pyknnmi.learn(Dataset(np.sinh(data.values), data.names), "functional-anova")
    assert other.graph.hamming(one.graph) <= 1


def test_details_are_plain_and_complete(result):
    _, one = result
    details = json.loads(json.dumps(one.details))
    assert [(row["source"], row["target"]) for row in details["edges"]] == list(one.graph.edges)
    for row in details["edges"]:
        assert row["evidence"] == pytest.approx(sum(direction["evidence"] for direction in row["directions"]))
        assert row["p_value"] == pytest.approx(min(1.0, 2 * min(d["p_value"] for d in row["directions"])))
    by_pair = one.evidence_by_pair()
    for row in details["edges"]:
        answer = by_pair[row["source"], row["target"]].answer
        assert (answer.statistic, answer.p_value) == (row["evidence"], row["p_value"])
    for row in details["effects"]:
        assert row["on"][0] in one.blankets[row["column"]]


def test_says_how_columns_depend():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 4))
    frame = pd.DataFrame(
        {"a": x[:, 0], "b": x[:, 1], "line": x[:, 0] + 0.5 * x[:, 2], "both": x[:, 0] * x[:, 1] + 0.3 * x[:, 3]}
    )
    found = pyknnmi.learn(frame, "functional-anova").details["edges"]
    shapes = {(d["column"], d["on"]): (d["shape"], d["interacts_with"]) for row in found for d in row["directions"]}
    assert shapes["line", "a"] == ("linear", [])
    assert shapes["both", "a"] == ("interaction", ["b"])
    assert shapes["both", "b"] == ("interaction", ["a"])


def test_copied_rows_count_once():
    x = np.random.default_rng(3).standard_normal((200, 5))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        twice = pyknnmi.learn(np.vstack([x, x]), "functional-anova")
    assert any("200 of 400 rows are copies of others" in str(warning.message) for warning in caught)
    once = pyknnmi.learn(x, "functional-anova")
    assert twice.graph == once.graph
    assert twice.details == {**once.details, "copied_rows": 200}


def test_categories_and_two_valued_columns_are_used():
    rng = np.random.default_rng(4)
    group = rng.choice(["red", "green", "blue"], 400)
    height = rng.standard_normal(400) + 1.5 * (group == "red") - 1.5 * (group == "blue")
    frame = pd.DataFrame(
        {
            "group": group,
            "height": height,
            "tall": (height + 0.5 * rng.standard_normal(400) > 0) * 1.0,
            "coin": rng.integers(0, 2, 400),
        }
    )
    result = pyknnmi.learn(frame, "functional-anova")
    assert {("group", "height"), ("height", "tall")} <= set(result.graph.edges)
    assert not result.graph.neighbors("coin")


def test_missing_values_are_refused_with_the_way_out():
    x = np.random.default_rng(5).standard_normal((60, 3))
    x[0, 1] = np.nan
    with pytest.raises(DataError, match='functional-anova needs complete rows: pass missing="drop"'):
        pyknnmi.learn(x, "functional-anova", missing="drop-per-test")
    pyknnmi.learn(x, "functional-anova", missing="drop")


def test_too_few_rows_are_refused():
    with pytest.raises(DataError, match="at least 20 different rows; there are 12"):
        pyknnmi.learn(np.random.default_rng(6).standard_normal((12, 3)), "functional-anova")


def test_targets_alone_are_searched():
    data, _ = simulate.small_network(400, seed=2)
    found = pyknnmi.learn(data, "functional-anova", targets=["X5"])
    assert all("X5" in edge for edge in found.graph.edges)
    assert set(found.blankets) == {"X5"}


def test_progress_is_reported_and_can_stop_the_run():
    data, _ = simulate.small_network(150, seed=1)
    seen = []
    pyknnmi.learn(data, "functional-anova", progress=seen.append)
    assert all(0 <= step.done <= step.total == 7 for step in seen)

    def stop(step):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        pyknnmi.learn(data, "functional-anova", progress=stop)


@pytest.mark.parametrize(
    ("n", "p", "level", "penalty"),
    [
        (60, 3, 0.2, 4),
        (200, 3, 0.125, 4 + np.log(1.6)),
        (200, 14, 0.125, 4 + 2.33 * np.log(2)),
        (500, 3, 0.05, 4 + np.log(4)),
    ],
)
def test_level_and_penalty_go_with_rows_and_columns(n, p, level, penalty):
    # the formulas of the documentation
    details = pyknnmi.learn(np.random.default_rng(8).standard_normal((n, p)), "functional-anova").details
    assert (details["level"], details["penalty"]) == pytest.approx((level, penalty))


@pytest.mark.parametrize("given", ["penalty=0", "alpha=1"])
def test_ranges_are_checked(given):
    with pytest.raises(pyknnmi.SpecError, match=given.partition("=")[0]):
        pyknnmi.Pipeline.parse(f"functional-anova({given})")


def test_effects_that_jump_at_the_same_places():
    # Without steps three and five edges are wrong.
    wrong = 0
    for function in (lambda z: 2 * (z > 0.6), np.floor):
        rng = np.random.default_rng(3)
        z = rng.standard_normal(800)
        table = np.column_stack([z, *[function(z) + 0.4 * rng.standard_normal(800) for _ in range(4)]])
        result = pyknnmi.learn(table, "functional-anova")
        wrong += len({("X1", f"X{j}") for j in range(2, 6)} ^ set(result.graph.edges))
    assert wrong <= 1
    ways = [way for row in result.details["edges"] for way in row["directions"] if way["on"] == "X1"]
    assert {way["shape"] for way in ways} <= {"steps", "linear"}


def test_of_two_columns_that_tell_the_same_one_stays():
    # Beside the other each seems needless: taken out together, y would be left alone.
    rng = np.random.default_rng(0)
    a = rng.standard_normal(300)
    values = np.column_stack([a, a + 1e-3 * rng.standard_normal(300), a + rng.standard_normal(300)])
    regressions = SmoothRegressions(Dataset(values, ("a", "b", "y")))
    search = GraphSearch(regressions, Allowed(~np.eye(3, dtype=bool)), 4.0)
    neighbors = [{1, 2}, {0, 2}, {0, 1}]
    kept, rejected = _checked(
        search, regressions, neighbors, lambda p_values: frozenset(e for e, p in p_values.items() if p < 0.01), Run()
    )
    assert kept.keys() in ({(0, 1), (0, 2)}, {(0, 1), (1, 2)})
    assert len(rejected) == 1
    assert sum(map(len, neighbors)) == 4
    ((first, second),) = rejected
    assert rejected[first, second].given == tuple({0, 1, 2} - {first, second})
