from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner
from pyknnmi_experiments import EXPERIMENTS, read_results

from pyknnmi.cli import main


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_paper_in_small(tmp_path):
    path, csv = tmp_path / "results.db", tmp_path / "results.csv"
    settings = ("--sizes", "125,250", "--repetitions", 3, "--csv", csv, "--out")
    command = ("experiment", "small-network-nonlinear-gaussian", *settings)
    result = invoke(*command, path)
    assert result.exit_code == 0, result.output
    rows = read_results(path)
    assert len(rows) == 12
    knn = [row.hamming_distance for row in rows if row.method == "iamb+knn-cmi" and row.n == 250]
    assert f"{sum(knn) / 3:.2f} (" in result.output
    assert "12 rows in" in result.output
    written = csv.read_bytes()
    assert read_results(csv) == rows
    assert invoke(*command, path).output == result.output
    path.unlink()
    invoke(*command, path)
    assert csv.read_bytes() == written, "rows of the CSV file are taken over, with their seconds"


def test_figures(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "results.db"
    methods = ("--methods", "fisher=iamb+fisher-z", "--methods", "or=iamb(rule=or)+fisher-z")
    made = invoke("experiment", "*-linear-t", *methods, "--sizes", "60,90", "--repetitions", 2, "--out", path)
    assert made.exit_code == 0, made.output
    result = invoke("figures", path, "--out", tmp_path / "figures")
    assert result.exit_code == 0, result.output
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {"small-network.png", "small-network.svg"}


def test_list():
    result = invoke("experiment", "--list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == list(EXPERIMENTS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["experiment"], "Missing argument 'NAME...'"),
        (["experiment", "large-net"], "there is no experiment 'large-net'; did you mean 'large-network'?"),
        (["experiment", "large-network", "--sizes", "125,many"], "'125,many' is no list of whole numbers"),
        (["experiment", "large-network", "--methods", "imb+fisher-z"], "did you mean 'iamb'?"),
        (["experiment", "large-network", "--out", "/dev/null/results.db"], "cannot write '/dev/null"),
        (["figures", "/nonexistent.csv"], "cannot read '/nonexistent.csv'"),
    ],
)
def test_errors(arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_cluster_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = invoke("experiment", "large-network", "--cluster", "tcp://localhost:1")
    assert result.exit_code == 2
    assert 'pip install "pyknnmi-experiments[cluster]"' in result.output
