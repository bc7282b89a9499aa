from __future__ import annotations

import json
import math
import pickle
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import pyknnmi
from pyknnmi import CIResult, Pipeline, PyknnmiWarning, Run, learn, simulate
from pyknnmi.builtin.fisher_z import BoundFisherZ, FisherZ
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.learning import exports
from pyknnmi.learning.result import format_p_value

DATA, _ = simulate.small_network(150, seed=3)


@pytest.mark.parametrize(
    ("p", "written"),
    [
        (1.0, "1"),
        (0.05, "0.05"),
        (1 / 201, "0.004975"),
        (7.0998e-19, "7.1e-19"),
        (1e-300, "1e-300"),
        (2e-308, "<1e-300"),
    ],
)
def test_p_values_for_people(p, written):
    answer = CIResult(statistic=1.0, p_value=p, independent=False, n=9, decided_by="normal")
    assert format_p_value(answer) == written
    early = replace(answer, p_value_bounds=(0.0, 1.0), anytime_p_value=1.0)
    assert format_p_value(early) == f"~{written}"


def test_table():
    result = learn(DATA, "iamb+fisher-z")
    head, *rows, last = str(result).splitlines()
    assert head.split() == ["edge", "statistic", "p-value"]
    assert [tuple(row.split("  ")[0].split(" - ")) for row in rows] == list(result.graph.edges)
    assert last.startswith(f"{len(rows)} edges between 7 columns (150 rows), {result.counts['tests']} tests, ")


def test_a_short_form_for_the_prompt():
    result = learn(DATA, "pc-stable+fisher-z")
    assert repr(result) == f"<LearnResult of {result.spec}: {str(result).splitlines()[-1]}>"


def test_a_required_edge_has_no_p_value():
    result = learn(DATA.select([0, 5]), "iamb+fisher-z", required=[("X1", "X6")])
    _, row, last = str(result).splitlines()
    assert row.split() == ["X1", "-", "X6", "required"]
    assert last.startswith("1 edge between 2 columns")
    assert exports.edges_csv(result).splitlines()[1] == "X1,X6,,,,required,0,150"
    (edge,) = json.loads(exports.graph_json(result))["edges"]
    assert (edge["p_value"], edge["statistic"], edge["decided_by"]) == (None, None, "required")
    assert "p_value" not in exports.graphml(result).partition("<graph ")[2]


def test_what_there_is_one_of():
    assert ", 1 test, " in str(learn(DATA.select([0, 1]), "iamb+fisher-z"))


def test_no_edges():
    assert str(learn(DATA.select([0, 5]), "iamb+fisher-z")).splitlines()[1].startswith("0 edges between 2 columns")


def test_pickle():
    result = learn(DATA, "iamb+fisher-z")
    assert pickle.loads(pickle.dumps(result)) == result


def test_a_data_frame_has_a_row_for_each_pair():
    result = learn(DATA, "iamb+fisher-z", required=[("X1", "X2")])
    frame = result.to_pandas()
    assert list(zip(frame["source"], frame["target"], strict=True)) == sorted(result.evidence_by_pair())
    assert [(row.source, row.target) for row in frame.itertuples() if row.edge] == list(result.graph.edges)
    for pair, row in zip(result.evidence, frame.itertuples(), strict=True):
        assert (row.given, row.decided_by, row.n) == (pair.given, pair.answer.decided_by, pair.answer.n)
        if pair.is_constrained:
            assert math.isnan(row.statistic)
            assert math.isnan(row.p_value)
        else:
            assert (row.statistic, row.p_value) == (pair.answer.statistic, pair.answer.p_value)


def test_a_result_knows_what_was_warned_of():
    values = np.column_stack([DATA.values, np.ones(DATA.n)])
    with pytest.warns(PyknnmiWarning, match="constant"):
        result = learn(values, "iamb+fisher-z")
    assert result.warnings == ("column X8 is constant: it depends on nothing",)
    assert learn(DATA, "iamb+fisher-z").warnings == ()


def doubtful_test():
    """A test that warns at each question, and may be used from several threads. Workers need not import this module."""

    class DoubtfulFisherZ(BoundFisherZ):
        def test(self, x, y, z):
            pyknnmi.components.warn("this test doubts all it says")
            return super().test(x, y, z)

        def for_threads(self):
            return self

    @dataclass(frozen=True, kw_only=True)
    class Doubtful(FisherZ):
        name: ClassVar[str] = "doubtful"

        def bind(self, dataset, run):
            return DoubtfulFisherZ(self, dataset)

    return Doubtful()


@pytest.mark.parametrize("resources", [{"threads": 1}, {"threads": 2}, {"jobs": 2}], ids=str)
def test_warnings_of_a_test_are_known_wherever_it_works(resources):
    with pytest.warns(PyknnmiWarning, match="doubts all"):
        result = Pipeline(IAMB(), doubtful_test()).learn(DATA, Run(**resources))
    assert result.warnings == ("this test doubts all it says",)
