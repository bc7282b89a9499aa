from __future__ import annotations

import csv

import pytest
from click.testing import CliRunner

from pyknnmi import read_table, simulate
from pyknnmi.cli import main


@pytest.mark.parametrize(
    ("arguments", "made"),
    [
        ("small-network --noise t --linear", lambda: simulate.small_network(30, noise="t", linear=True, seed=4)),
        ("large-network --noise uniform", lambda: simulate.large_network(30, noise="uniform", seed=4)),
        ("random-gaussian --p 5", lambda: simulate.random_gaussian(30, 5, seed=4)),
        ("random-nonparanormal", lambda: simulate.random_nonparanormal(30, seed=4)),
        (
            "g-wishart-mixture --edge-probability 0.5",
            lambda: simulate.g_wishart_mixture(30, edge_probability=0.5, seed=4),
        ),
    ],
)
def test_writes_data_and_true_edges(tmp_path, arguments, made):
    path = tmp_path / "new" / "data.csv"
    command = ["simulate", *arguments.split(), "--n", "30", "--seed", "4", "--out", str(path)]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    data, truth = made()
    assert read_table(path).sha256 == data.sha256
    with (tmp_path / "new" / "data_true_edges.csv").open() as stream:
        assert [tuple(edge.values()) for edge in csv.DictReader(stream)] == list(truth.edges)


def test_error():
    result = CliRunner().invoke(main, ["simulate", "random-gaussian", "--p", "1", "--out", "unwritten.csv"])
    assert result.exit_code == 2
    assert "p = 1: give at least 2 columns" in result.output


@pytest.mark.parametrize(("out", "message"), [(".", "File '.' is a directory"), ("", "the name is empty")])
def test_out_is_a_folder(out, message):
    result = CliRunner().invoke(main, ["simulate", "small-network", "--n", "10", "--out", out])
    assert result.exit_code == 2
    assert message in result.output


def test_full_disk(tmp_path, room):
    with room(40):
        result = CliRunner().invoke(main, ["simulate", "small-network", "--n", "10", "--out", str(tmp_path / "a.csv")])
    assert result.exit_code == 2
    assert result.stderr == f"Error: cannot write '{tmp_path / 'a.csv'}': File too large\n"
    assert list(tmp_path.iterdir()) == []
