"""The generalised covariance measure on features of smooth regressions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pyknnmi
from pyknnmi import Dataset
from pyknnmi.builtin.smooth_gcm import SmoothGCM
from pyknnmi.components import Run
from pyknnmi.testing import check_ci_test


def test_keeps_the_contract():
    check_ci_test(SmoothGCM())


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(400)
    x, y = np.sin(2 * z) + 0.5 * rng.standard_normal(400), z**2 + 0.5 * rng.standard_normal(400)
    square = x**2 + 0.5 * rng.standard_normal(400)
    with_z = x * z + 0.5 * rng.standard_normal(400)
    return pd.DataFrame({"x": x, "y": y, "z": z, "square": square, "with_z": with_z})


@pytest.mark.parametrize(
    ("x", "y", "given", "independent"),
    [("x", "y", ["z"], True), ("x", "square", [], False), ("x", "with_z", ["z"], False), ("z", "square", ["x"], True)],
)
def test_decisions_where_the_truth_is_known(frame, x, y, given, independent):
    answer = pyknnmi.ci_test(frame, x, y, given, test="smooth-gcm")
    assert answer.independent == independent
    assert answer.statistic == pytest.approx(-np.log10(answer.p_value))


def test_small_p_values_have_no_floor(frame):
    assert pyknnmi.ci_test(frame, "x", "square", test="smooth-gcm").p_value < 1e-20


def test_ranks_the_parent_first(frame):
    data = Dataset.of(frame)
    bound = SmoothGCM().bind(data, Run())
    scores = bound.associations(3, (0, 1, 2), ())  # square: x before y and z
    assert np.argmax(scores) == 0
    assert bound.associations(3, (1, 2), (0,)).max() < 5 < scores[0]


def test_categories(frame):
    group = pd.Categorical(np.where(frame["z"] > 0.5, "high", np.where(frame["z"] < -0.5, "low", "middle")))
    with_group = frame.assign(group=group)
    assert not pyknnmi.ci_test(with_group, "group", "y", test="smooth-gcm").independent
    assert pyknnmi.ci_test(with_group, "group", "x", ["z"], test="smooth-gcm").independent


def test_serves_a_learner(frame):
    graph = pyknnmi.learn(frame, "iamb+smooth-gcm", seed=1).graph
    assert {("x", "square"), ("x", "with_z")} <= set(graph.edges)
