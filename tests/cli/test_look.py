from __future__ import annotations

import pytest
from click.testing import CliRunner
from made_results import mixed_result

import pyknnmi
from pyknnmi.cli import main

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.fixture
def results(tmp_path):
    pyknnmi.write_result(mixed_result(), tmp_path / "results")
    return tmp_path / "results"


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_plot_draws_a_file_of_the_kind_that_its_name_says(results, tmp_path, room, ending, start):
    target = tmp_path / "new" / f"net.{ending}"
    done = invoke("plot", results, "--kind", "matrix", "--out", target)
    assert done.exit_code == 0, done.output
    written = target.read_bytes()
    assert written.startswith(start)
    with room(len(written) // 2):
        done = invoke("plot", results, "--out", target)
    assert (done.exit_code, done.stderr) == (2, f"Error: cannot write '{target}': File too large\n")
    assert target.read_bytes() == written


@pytest.mark.parametrize("name", ["net", "net."])
def test_a_plot_without_an_ending_gets_one(results, tmp_path, name):
    done = invoke("plot", results, "--out", tmp_path / name)
    assert (done.exit_code, done.output) == (0, f"wrote {tmp_path / 'net.png'}\n")
    assert (tmp_path / "net.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / name).exists()


def test_plot_names_an_ending_that_it_does_not_know(results, tmp_path):
    done = invoke("plot", results, "--out", tmp_path / "net.docx")
    assert done.exit_code == 2
    assert "docx" in done.output
    assert "svg" in done.output


def test_report_is_the_same_as_that_of_the_run(results, tmp_path):
    done = invoke("report", results, "--data", "ages.csv")
    assert done.exit_code == 0, done.output
    own = mixed_result().report(tmp_path / "own.html", data="ages.csv")
    assert (results / "report.html").read_bytes() == own.read_bytes()


def test_what_is_no_result_is_named(tmp_path):
    (tmp_path / "result.json").write_text("{", encoding="utf-8")
    for command in ("plot", "report"):
        done = invoke(command, tmp_path)
        assert done.exit_code == 2
        assert "is no result" in done.output
