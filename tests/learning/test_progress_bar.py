from __future__ import annotations

import io
import logging

import pyknnmi
from pyknnmi import Progress, ProgressBar

DATA, _ = pyknnmi.simulate.small_network(100, seed=4)


def test_a_run_fills_its_bar():
    screen = io.StringIO()
    pyknnmi.learn(DATA, "iamb+fisher-z", progress=ProgressBar(file=screen, mininterval=0))
    last = screen.getvalue().rstrip().rsplit("\r", 1)[-1]
    assert "7/7" in last
    assert "tests=" in last


def test_each_phase_has_a_bar():
    screen = io.StringIO()
    bar = ProgressBar(file=screen, mininterval=0)
    for done, total in [(0, 2), (2, 2), (0, 3), (1, 3), (0, 3), (3, 3)]:
        bar(Progress(done, total, 5))
    bars = [line.rsplit("\r", 1)[-1] for line in screen.getvalue().rstrip("\n").split("\n")]
    assert [bar.split("|")[-1].split()[0] for bar in bars] == ["2/2", "1/3", "3/3"]


def test_a_run_is_logged(caplog):
    with caplog.at_level(logging.DEBUG, logger="pyknnmi"):
        result = pyknnmi.learn(DATA, "iamb+fisher-z", threads=1)
    messages = [record.getMessage() for record in caplog.records if record.name == "pyknnmi"]
    assert messages[0] == f"learning {result.spec}"
    assert messages[-1] == f"learned {result!r}"
    assert sorted(messages[1:-1]) == [f"{i + 1} of 7: column 'X{i + 1}'" for i in range(7)]
