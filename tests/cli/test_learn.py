from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pyknnmi
from pyknnmi import read_table
from pyknnmi.cli import main
from pyknnmi.data.files import write_dataset
from pyknnmi.learning.exports import WRITERS

DATA, TRUTH = pyknnmi.simulate.small_network(200, seed=3)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "data.csv"
    write_dataset(DATA, path)
    return path


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def untimed(result):
    """What a command printed, without the time that it took."""
    return re.sub(r"(?m), [0-9.]+ s$", "", result.stdout)


def test_learn_prints_edges_and_writes_files(table, tmp_path):
    spec = "iamb+knn-cmi(permutations=39)"
    out = tmp_path / "new" / "out"
    result = invoke("learn", table, "--spec", spec, "--seed", 3, "--threads", 1, "--out", out)
    assert result.exit_code == 0, result.output
    expected = pyknnmi.learn(DATA, spec, seed=3)
    for name, write in WRITERS.items():
        assert (out / name).read_text(encoding="utf-8") == write(expected)
    provenance = json.loads((out / "provenance.json").read_text())
    assert provenance["spec"] == expected.spec
    assert provenance["spec_as_given"] == spec
    assert provenance["data"] == str(table)
    lines = result.stdout.splitlines()
    printed = [re.match(r"(\S+) - (\S+) +(\S+) +(\S+)$", line) for line in lines[3 : 3 + len(expected.graph.edges)]]
    strong_to_weak = sorted(expected.edge_evidence(), key=lambda row: -row.answer.statistic)
    assert [match.groups()[:2] for match in printed] == [(row.source, row.target) for row in strong_to_weak]
    for match, row in zip(printed, strong_to_weak, strict=True):
        assert float(match[3]) == pytest.approx(row.answer.statistic, rel=1e-3)
        assert float(match[4]) == pytest.approx(row.answer.p_value, rel=1e-3)
    assert lines[-1].startswith(f"wrote {', '.join(WRITERS)}, provenance.json")


def test_jobs_and_threads_give_the_same_bytes(table, tmp_path):
    spec = "iamb+knn-cmi(permutations=39)"
    written = set()
    for number, resources in enumerate([("--threads", 1), ("--threads", 2), ("--threads", 3), ("--jobs", 2)]):
        out = tmp_path / str(number)
        assert invoke("learn", table, "--spec", spec, *resources, "--out", out).exit_code == 0
        written.add((out / "edges.csv").read_bytes())
    assert len(written) == 1


def test_the_seed_is_used(table):
    spec = "iamb+knn-cmi(permutations=39)"
    printed = {untimed(invoke("learn", table, "--spec", spec, "--seed", seed)) for seed in (1, 1, 2)}
    assert len(printed) == 2


def test_constraints(table):
    arguments = ("--spec", "iamb+fisher-z", "--required", "X1,X7", "--forbidden", "X5,X6", "--orient")
    result = invoke("learn", table, *arguments)
    assert result.exit_code == 0, result.output
    assert "X1 - X7" in result.stdout
    assert "X5 - X6" not in result.stdout
    assert "oriented: " in result.stdout
    targets = invoke("learn", table, "--spec", "iamb+fisher-z", "--targets", "X6").stdout
    edges = re.findall(r"^(\S+) - (\S+) ", targets, re.MULTILINE)
    assert edges
    assert all("X6" in edge for edge in edges)


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line_on_the_error_stream(tmp_path):
    path = tmp_path / "data.csv"
    write_dataset(pyknnmi.Dataset.of(np.column_stack([DATA.values[:, :2], np.ones(200)])), path)
    result = invoke("learn", path, "--spec", "iamb+fisher-z")
    assert result.exit_code == 0
    assert result.stderr == "Warning: column X3 is constant: it depends on nothing\n"
    assert "Warning" not in result.stdout


def test_ci_test(table):
    result = invoke("test", table, "X1", "X2", "--given", "X3, X5", "--test", "fisher-z(alpha=0.01)")
    answer = pyknnmi.ci_test(DATA, "X1", "X2", ["X3", "X5"], "fisher-z(alpha=0.01)")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == f"X1 and X2 given X3, X5: {'independent' if answer.independent else 'dependent'}"
    shown = dict(re.split(r"  +", line, maxsplit=1) for line in lines[1:])
    assert float(shown["statistic"]) == pytest.approx(answer.statistic, rel=1e-5)
    assert float(shown["p-value"]) == pytest.approx(answer.p_value, rel=1e-3)
    assert shown["decided by"] == "normal"
    assert shown["rows"] == "200"


def test_ci_test_by_permutations(table):
    result = invoke("test", table, "X5", "X6", "--test", "knn-cmi(permutations=39)", "--seed", 4, "--threads", 1)
    assert "X5 and X6: dependent" in result.stdout
    assert "decided by  permutations (39)" in result.stdout


def test_ci_test_of_groups(table):
    result = invoke("test", table, "X1,X2", "X5, X6", "--given", "X3", "--test", "knn-cmi(permutations=39)")
    answer = pyknnmi.ci_test(DATA, ["X1", "X2"], ["X5", "X6"], ["X3"], "knn-cmi(permutations=39)")
    assert result.stdout.startswith("X1, X2 and X5, X6 given X3: ")
    assert f"statistic   {answer.statistic:.6g}\n" in result.stdout


def test_ci_test_with_missing_values(tmp_path):
    path = tmp_path / "data.csv"
    rows = "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(30))
    path.write_text(f'a,b,"c,d"\n{rows}1,,2\n')
    assert "missing" in invoke("test", path, "a", "c,d", "--test", "fisher-z").stderr
    assert "rows        30" in invoke("test", path, "a", "c,d", "--test", "fisher-z", "--missing", "drop").stdout
    shown = invoke("test", path, "a", "c,d", "--test", "fisher-z", "--missing", "drop-per-test").stdout
    assert shown.startswith("a and c,d: ")  # a name with a comma in it
    assert "rows        31" in shown


def test_names_with_commas_in_pairs(tmp_path):
    path = tmp_path / "data.csv"
    write_dataset(pyknnmi.Dataset.of(DATA.values[:, :3], ["dose, mg", "plain", 'a "q"']), path)
    result = invoke("learn", path, "--spec", "iamb+fisher-z", "--required", '"dose, mg", plain')
    assert "dose, mg - plain" in result.stdout
    result = invoke("test", path, 'a "q"', "plain", "--given", '"dose, mg"', "--test", "fisher-z")
    assert result.stdout.startswith('a "q" and plain given dose, mg: ')


def test_copies_of_columns(tmp_path):
    path = tmp_path / "data.csv"
    x, y = DATA.values[:, :1], DATA.values[:, 1:2]
    write_dataset(pyknnmi.Dataset.of(np.column_stack([x, x, y, y])), path)
    assert "p-value     <1e-300" in invoke("test", path, "X1", "X2", "--test", "fisher-z").stdout
    shown = invoke("test", path, "X1", "X2", "--given", "X3,X4", "--test", "fisher-z").stdout
    assert "redundant   X4" in shown


def test_demo():
    result = invoke("demo", "--n", 150, "--seed", 2)
    assert result.exit_code == 0, result.output
    data, truth = pyknnmi.simulate.small_network(150, seed=2)
    distance = pyknnmi.learn(data, seed=2).graph.hamming(truth)
    assert f"Hamming distance to the true graph (8 edges): {distance}" in result.stdout
    assert "missed: " in result.stdout


ERRORS = {
    "no file": (("learn", "none.csv"), "Error: cannot read 'none.csv': No such file or directory"),
    "bad spec": (
        ("learn", "DATA", "--spec", "imb+knn-cmi"),
        "Error: there is no component 'imb'; did you mean 'iamb'?",
    ),
    "bad parameter": (("learn", "DATA", "--spec", "iamb+knn-cmi(k=0)"), "Error: knn-cmi: k = 0 must be at least 1"),
    "bad seed": (("learn", "DATA", "--seed", "-1"), "Error: seed = -1: give a whole number from 0"),
    "seed of no number": (("learn", "DATA", "--seed", "x"), "is not a valid integer"),
    "bad threads": (("learn", "DATA", "--threads", "-1"), "Error: threads = -1: give 0 for all cores"),
    "bad jobs": (("learn", "DATA", "--jobs", "0"), "Error: jobs = 0: give a positive number"),
    "unknown column": (("test", "DATA", "X1", "X9"), "Error: there is no column 'X9' (the columns are X1, X2"),
    "same column": (("test", "DATA", "X1", "X1"), "Error: column 'X1' is in x and in y"),
    "column in given": (("test", "DATA", "X1", "X2", "--given", "X1"), "Error: column 'X1' is in the conditioning set"),
    "a learner as test": (("test", "DATA", "X1", "X2", "--test", "iamb"), "Error: expected one CI test"),
    "edge of one": (("learn", "DATA", "--required", "X1"), "Error: required: ['X1'] is no edge"),
    "out is a file": (("learn", "DATA", "--spec", "iamb+fisher-z", "--out", "DATA"), "is a file"),
    "out in a file": (("learn", "DATA", "--spec", "iamb+fisher-z", "--out", "DATA/x"), "Error: cannot write"),
    "out is read-only": (
        ("learn", "DATA", "--spec", "iamb+fisher-z", "--out", "/proc"),
        "Error: cannot write '/proc': ",
    ),
    "few rows": (("demo", "--n", "1"), "Error: n = 1: give at least 2 rows"),
    "seed of the demo": (("demo", "--seed", "-1"), "Error: seed = -1: give a whole number from 0 to 2**32 - 1"),
    "no command": (("lern", "DATA"), "No such command 'lern'"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_one_line_with_exit_code_2(case, table):
    arguments, message = ERRORS[case]
    result = invoke(*(str(argument).replace("DATA", str(table)) for argument in arguments))
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("option", ["--out", "--report", "--store"])
def test_an_empty_name_is_not_the_folder_here(table, option):
    done = CliRunner().invoke(main, ["learn", str(table), "--spec", "iamb+fisher-z", option, ""])
    assert (done.exit_code, f"Invalid value for '{option}': the name is empty" in done.stderr) == (2, True)


def test_full_disk(table, tmp_path, room):
    with room(40):
        result = invoke("learn", table, "--spec", "iamb+fisher-z", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr == f"Error: cannot write '{tmp_path / 'out' / 'edges.csv'}': File too large\n"
    assert list((tmp_path / "out").iterdir()) == []


def test_a_broken_line_in_the_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("age,dose\n1,2\n3,much\n")
    result = invoke("learn", path)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert "line 3: column 'dose' holds the text 'much'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_spec_error_marks_the_place(table):
    result = invoke("learn", table, "--spec", "iamb+knn-cmi(kk=3)")
    head, spec, caret = result.stderr.splitlines()
    assert "knn-cmi has no parameter 'kk'; did you mean 'k'?" in head
    assert spec[caret.index("^") :].startswith("kk=3")


def test_a_store(table, tmp_path):
    store = tmp_path / "answers.db"
    first = invoke("learn", table, "--spec", "iamb+fisher-z", "--store", store)
    again = invoke("learn", table, "--spec", "iamb+fisher-z", "--store", store)
    assert untimed(first) == untimed(again)
    shown = invoke("store", "show", store)
    assert shown.exit_code == 0
    assert DATA.sha256[:12] in shown.stdout


def test_the_written_data_can_be_read(table):
    assert read_table(table).sha256 == DATA.sha256


def test_report_is_written_for_the_table_that_was_given(table, tmp_path):
    report = tmp_path / "new" / "report.html"
    done = invoke("learn", table, "--spec", "iamb+fisher-z", "--report", report)
    assert done.exit_code == 0, done.output
    assert f"wrote the report to {report}" in done.output
    page = report.read_text(encoding="utf-8")
    assert "Network of data.csv" in page
    assert f"pyknnmi learn {table} --spec" in page


def test_calibrate_shows_a_row_for_each_size(tmp_path):
    file = tmp_path / "data.csv"
    invoke("simulate", "small-network", "--n", "60", "--seed", "1", "--out", str(file))
    shown = invoke("calibrate", str(file), "--spec", "iamb+fisher-z", "--draws", "5").stdout
    assert "size  questions" in shown
    learned = invoke("learn", str(file), "--spec", "iamb+fisher-z", "--calibrate").stdout
    assert "on synthetic independence, at alpha = 0.05" in learned


def test_how_the_table_is_read(tmp_path):
    path = tmp_path / "data.csv"
    rows = "".join(f"s{i},{1 + i % 2},{i * 37 % 101},{-9 if i == 3 else i * 53 % 97},$\n" for i in range(30))
    path.write_text(f"id,code,x,y,note\n{rows}")
    given = ["--index", "id", "--ignore", "note", "--categories", "code", "--missing-marks=-9", "--missing", "drop"]
    result = invoke("learn", path, "--spec", "iamb+knn-cmi(permutations=19,alpha=0.1)", *given)
    assert result.exit_code == 0, result.output
    assert "3 columns, learned from 29 rows (1 more was left out)" in result.output
    result = invoke("test", path, "x", "y", "--test", "fisher-z", *given)
    assert "rows        29" in result.output
    result = invoke("calibrate", path, "--spec", "iamb+knn-cmi(permutations=19,alpha=0.1)", "--draws", "3", *given)
    assert result.exit_code == 0, result.output
    options = {"index": "id", "ignore": "note", "categories": "code", "missing_marks": "-9", "missing": "drop"}
    spec = "iamb+knn-cmi(permutations=19,alpha=0.1)"
    assert result.output.rstrip() == str(pyknnmi.calibrate(path, spec, draws=3, **options))
    result = invoke("learn", path, "--ignore", "id,notes")
    assert (result.exit_code, "ignore: there is no column 'notes'" in result.output) == (2, True)
    result = CliRunner().invoke(
        main, ["test", "-", "X1", "X2", "--test", "fisher-z", "--no-header"], input="1,2\n3,5\n5,4\n7,9\n"
    )
    assert "rows        4" in result.output


def test_json_is_the_whole_result(table, tmp_path):
    done = invoke("learn", table, "--spec", "iamb+fisher-z", "--json", "--out", tmp_path / "out")
    record = json.loads(done.stdout)
    kept = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert {**record, "seconds": 0} == {**kept, "seconds": 0}


def test_quiet_prints_nothing(table, tmp_path):
    done = invoke("learn", table, "--spec", "iamb+fisher-z", "--quiet", "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert done.output == ""
    assert (tmp_path / "out" / "edges.csv").exists()


def test_the_command_in_the_report_reads_the_table_as_this_one_did(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data.csv"
    rows = "".join(f"s{i},{1 + i % 2},{i * 37 % 101},{i * 53 % 97},$\n" for i in range(30))
    path.write_text(f"id,code,x,y,note\n{rows}")
    given = ["--index", "id", "--ignore", "note", "--categories", "code"]
    learned = invoke("learn", path, "--spec", "iamb+knn-cmi(permutations=19,alpha=0.1)", *given, "--report", "r.html")
    page = Path("r.html").read_text(encoding="utf-8")
    words = shlex.split(html.unescape(re.search(r'<pre id="command">(.*?)</pre>', page, re.DOTALL)[1]))
    assert {"--index=id", "--ignore=note", "--categories=code"} <= set(words)
    again = CliRunner().invoke(main, words[1:])
    assert untimed(again) == untimed(learned).partition("wrote the report")[0]


def test_audit_leaves_identifiers_out_and_its_command_too(tmp_path):
    path = tmp_path / "data.csv"
    values = np.random.default_rng(0).normal(size=(40, 2)).tolist()
    rows = "".join(f"s{i},note {i},{x},{y}\n" for i, (x, y) in enumerate(values))
    path.write_text(f'id,"a, note",x,y\n{rows}')
    said = invoke("audit", path).stdout
    assert "! column 'id' holds 40 different texts in 40 rows" in said
    assert "! column 'a, note' holds 40 different texts in 40 rows" in said
    words = shlex.split(said.splitlines()[-1])
    assert {"--ignore=id", '--ignore="a, note"'} <= set(words)
    assert invoke(*words[1:]).exit_code == 0
    piped = CliRunner().invoke(main, ["audit", "-"], input=path.read_text())
    assert piped.stdout.splitlines()[:-1] == said.splitlines()[:-1]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_audit_reports_every_column_that_cannot_be_used(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    rows = range(40)
    columns = {
        "x": np.random.default_rng(0).normal(size=40).tolist(),
        "price": [f"${i}.50" for i in rows],
        "day": [f"2024-01-{1 + i % 28:02d}" for i in rows],
        "y": [i * 37 % 101 for i in rows],
        "note": [f"note {i}" for i in rows],
    }
    frame = pytest.importorskip("pandas").DataFrame(columns)
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    said = invoke("audit", path).stdout
    for name, problem in [("price", "a number with a unit"), ("day", "a date"), ("note", "40 different texts")]:
        assert re.search(f"^! .*column '{name}' holds .*{problem}", said, re.MULTILINE)
        assert re.search(f"^{name} +refused$", said, re.MULTILINE)
    assert "\n40 rows, 2 columns\n" in f"\n{said}"
    words = shlex.split(said.splitlines()[-1])
    assert words[-3:] == ["--ignore=price", "--ignore=day", "--ignore=note"]
    assert invoke(*words[1:]).exit_code == 0
    found = pyknnmi.audit(path)
    assert str(found) in said
    assert found.options["ignore"] == ["price", "day", "note"]
    assert "ignore: price, day, note cannot be used" in found.reasons
    assert dict(pyknnmi.audit(frame).refused).keys() == found.refused.keys()  # without the lines of the file
    record = json.loads(invoke("audit", path, "--json").stdout)
    assert list(record["refused"]) == ["price", "day", "note"]
    assert "! " + record["refused"]["day"] in said
    refused = CliRunner().invoke(main, ["learn", str(path)])
    assert refused.exit_code == 2
    assert record["refused"]["price"] + "; columns 'day', 'note' cannot be used either" in refused.stderr


def test_no_run_suits_a_table_that_has_one_usable_column(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("note,x\n" + "".join(f"note {i},{i * 37 % 101}\n" for i in range(40)))
    why = "a network needs two columns, and only 'x' is left"
    found = pyknnmi.audit(path)
    assert (found.spec, found.options, found.reasons, found.command("data.csv")) == ("", {}, (why,), "")
    said = invoke("audit", path).stdout
    assert said.endswith(f"\nno run suits this table\n    {why}\n")
    assert json.loads(invoke("audit", path, "--json").stdout)["command"] == ""
    explained = invoke("explain", "iamb+fisher-z", "--data", path).stdout
    assert explained.endswith(f"\nfor these data: no run\n   {why}\n")


def test_audit_of_a_table_that_has_no_usable_column(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("price,note\n" + "".join(f"${i},note {i}\n" for i in range(40)))
    said = CliRunner().invoke(main, ["audit", str(path)])
    assert said.exit_code == 2
    assert "column 'price' holds '$0'" in said.stderr
    assert "column 'note' cannot be used either" in said.stderr


def test_audit_says_what_each_column_was_read_as(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(
        "id,x,level\n" + "".join(f"s{i},{'NA' if i == 2 else i * 37 % 101},{'ab'[i % 2]}\n" for i in range(40))
    )
    given = ["--index", "id", "--missing-marks", "NA"]
    lines = invoke("audit", path, *given).stdout.splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["id", "left", "out"],
        ["x", "numbers", "39", "0", "NA", "(1)"],
        ["level", "categories", "2", "a"],
    ]
    record = json.loads(invoke("audit", path, "--json", *given).stdout)
    assert record["left_out"] == ["id"]
    assert record["columns_read"][0] == {
        "name": "x",
        "kind": "continuous",
        "distinct": 39,
        "first": "0",
        "missing_marks": {"NA": 1},
    }
