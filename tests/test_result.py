from __future__ import annotations

import pickle

import pytest

from pyknnmi import learn, simulate
from pyknnmi.result import format_p_value

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
    assert format_p_value(p) == written


def test_table():
    result = learn(DATA, "iamb+fisher-z")
    head, *rows, last = str(result).splitlines()
    assert head.split() == ["edge", "statistic", "p-value"]
    assert [tuple(row.split("  ")[0].split(" - ")) for row in rows] == list(result.graph.edges)
    assert last.startswith(f"{len(rows)} edges between 7 columns (150 rows), {result.counts['tests']} tests, ")


def test_no_edges():
    assert str(learn(DATA.select([0, 5]), "iamb+fisher-z")).splitlines()[1].startswith("0 edges between 2 columns")


def test_pickle():
    result = learn(DATA, "iamb+fisher-z")
    assert pickle.loads(pickle.dumps(result)) == result
