from __future__ import annotations

import dataclasses
import json

import jsonschema
import numpy as np
import pytest

import pyknnmi
from pyknnmi import (
    DataError,
    PyknnmiWarning,
    learn,
    provenance_schema,
    read_result,
    result_schema,
    write_result,
)
from pyknnmi.components import LearnedGraph
from pyknnmi.learning.provenance import provenance
from pyknnmi.learning.record import from_record, to_record

DATA, _ = pyknnmi.simulate.small_network(120, seed=4)


def results():
    yield learn(DATA, "iamb+knn-cmi(permutations=39,stop=certain)", seed=3)
    yield learn(DATA, "pc-stable+fisher-z", orient=True, required=[("X1", "X2")], forbidden=[("X1", "X7")])
    yield learn(DATA, "iamb+fisher-z", targets=["X2"])
    yield learn(DATA, "iamb+fisher-z", calibrate=3)
    yield learn(DATA, "stability(runs=4)+iamb+fisher-z")
    yield learn(DATA, "functional-anova")
    with pytest.warns(PyknnmiWarning):  # repeated rows, a finding
        yield learn(np.repeat(DATA.values, 2, axis=0), "iamb+fisher-z")
    values = np.column_stack([DATA.values, DATA.values[:, 0] + DATA.values[:, 1]])
    values[:9, 3] = np.nan
    yield learn(values, "iamb+fisher-z", missing="drop-per-test")
    with pytest.warns(PyknnmiWarning, match="constant"):
        yield learn(np.column_stack([DATA.values, np.ones(DATA.n)]), "iamb+fisher-z")


RESULTS = list(results())


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.spec[:12])
def test_what_is_read_back_is_equal(result, tmp_path):
    write_result(result, tmp_path)
    assert read_result(tmp_path) == result
    assert read_result(tmp_path / "result.json") == result


@pytest.mark.parametrize("schema", [result_schema, provenance_schema])
def test_schemas_are_schemas(schema):
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.spec[:12])
def test_files_keep_to_their_schemas(result, tmp_path):
    write_result(result, tmp_path, {"data": "table.csv"})
    for name, schema in (("result.json", result_schema()), ("provenance.json", provenance_schema())):
        jsonschema.validate(json.loads((tmp_path / name).read_text()), schema)


@pytest.mark.parametrize(
    ("record", "schema"),
    [(to_record(RESULTS[0]), result_schema()), (to_record(provenance(RESULTS[0])), provenance_schema())],
    ids=["result", "provenance"],
)
def test_the_schemas_have_every_entry_and_refuse_others(record, schema):
    assert list(schema["properties"]) == schema["required"] == list(record)
    without_seed = {name: value for name, value in record.items() if name != "seed"}
    for wrong in ({**record, "format": 0}, {**record, "seed": "one"}, without_seed):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_a_result_has_no_further_entries():
    with pytest.raises(jsonschema.ValidationError, match="Additional properties"):
        jsonschema.validate({**to_record(RESULTS[0]), "more": 1}, result_schema())


def test_details_come_back_as_the_learner_gave_them(registry, tmp_path):
    @pyknnmi.register_learner
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Detailed(pyknnmi.components.Learner):
        """Reports what it did."""

        name = "detailed"

        def learn(self, dataset, tester, run):
            return LearnedGraph([(0, 1)], details={"curve": [1.5, 2.0], "best": {"at": None, "steps": 3}})

    result = learn(DATA, "detailed+fisher-z")
    write_result(result, tmp_path)
    assert read_result(tmp_path) == result


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no result"),
        ("[1]", "it holds no JSON object"),
        ('{"format": 2}', "has the format 2, and this version of pyknnmi reads format 1"),
        ("{}", "has the format None"),
        ('{"format": 1}', "this is no complete result"),
        ('{"format": 1, "unknown": 1}', "this is no complete result: 'unknown'"),
    ],
)
def test_files_that_are_no_results(text, problem, tmp_path):
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(DataError, match=problem):
        read_result(tmp_path)


def test_a_damaged_record():
    record = to_record(RESULTS[0])
    with pytest.raises(DataError, match="this is no complete result: edge X - Y: there is no node 'Y'"):
        from_record({**record, "graph": {"names": ["X"], "edges": [["X", "Y"]]}})
    with pytest.raises(DataError, match="this is no complete result"):
        from_record({**record, "shape": [1]})
