from __future__ import annotations

import sys
import time

import pytest
from click.testing import CliRunner

from pyknnmi.cli import main
from pyknnmi.experiments import EXPERIMENTS, read_results


def invoke(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_paper_in_small(tmp_path):
    path = tmp_path / "results.csv"
    command = ("experiment", "small-network-nonlinear-gaussian", "--sizes", "125,250", "--repeats", 3, "--out", path)
    start = time.perf_counter()
    result = invoke(*command)
    assert time.perf_counter() - start < 60
    assert result.exit_code == 0, result.output
    rows = read_results(path)
    assert len(rows) == 12
    knn = [row.hamming_distance for row in rows if row.method == "iamb+knn-cmi" and row.n == 250]
    assert f"{sum(knn) / 3:.2f} (" in result.output
    assert "12 rows in" in result.output
    written = path.read_bytes()
    assert invoke(*command).output == result.output
    assert path.read_bytes() == written


def test_figures(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "results.csv"
    methods = ("--methods", "fisher=iamb+fisher-z", "--methods", "or=iamb(rule=or)+fisher-z")
    made = invoke("experiment", "*-linear-t", *methods, "--sizes", "60,90", "--repeats", 2, "--out", path)
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
        (["experiment", "large-network", "--out", "/dev/null/results.csv"], "cannot write '/dev/null"),
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
    assert 'pip install "pyknnmi[cluster]"' in result.output
