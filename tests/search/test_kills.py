"""Runs that are killed at any moment, with one job, two, and on a cluster: they go on, and end with the same bytes.

``--kills N`` kills each way N times, ``--fuzz-seed`` at other moments.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from pyknnmi import Store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of the cluster's own libraries
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them"),
]

RUN = """
import os, sys, time, warnings
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyknnmi
from pyknnmi.components import BoundTest, CITest, hookimpl
from pyknnmi.learning.exports import WRITERS
from pyknnmi.registry.registry import default_registry

warnings.simplefilter("ignore")

@dataclass(frozen=True, kw_only=True)
class Logged(CITest):
    "Fisher's z-test, slowly; each question stands in a file before it is answered."
    name = "logged"
    symmetric = False  # so that no two columns share a question
    alpha: float = 0.05

    def bind(self, dataset, run):
        return BoundLogged(pyknnmi.parse_test("fisher-z").bind(dataset, run), log, 0.03 if cluster else 0.01)

class BoundLogged(BoundTest):
    def __init__(self, inner, log, seconds):
        self.inner, self.log, self.seconds = inner, log, seconds

    def test(self, x, y, z):
        with open(self.log, "a") as file:
            print(x, y, *z, file=file)
        time.sleep(self.seconds)
        return self.inner.test(x, y, z)

    def associations(self, x, candidates, z):
        return self.inner.associations(x, candidates, z)

if __name__ == "__main__":
    store, log, out, jobs, cluster = sys.argv[1:]
    plugin = SimpleNamespace(pyknnmi_ci_tests=hookimpl(lambda: [Logged]))
    default_registry()._load("logged", "1.0", lambda: plugin)
    networks = [pyknnmi.simulate.small_network(200, seed=seed)[0].values for seed in (1, 2)]
    options = {"cluster": cluster} if cluster else {"jobs": int(jobs)}
    result = pyknnmi.learn(np.hstack(networks), "iamb+logged", threads=1, store=store or None, **options)
    text = "".join(WRITERS[name](result) for name in sorted(WRITERS)) + repr(sorted(result.counts.items()))
    Path(out).write_text(text)
"""


@contextmanager
def started(folder, way, store, cluster=""):
    """Give a run in a process of its own; it and its workers are gone after it."""
    arguments = [store, folder / "log", folder / "out", "2" if way == "two jobs" else "1", cluster]
    process = subprocess.Popen(
        [sys.executable, "-P", folder / "run.py", *map(str, arguments)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def processes_of(session):
    """Return the processes of a session that are at work."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its_session = path.read_text(encoding="utf-8").rpartition(")")[2].split()[:4]
        except OSError:  # it ended meanwhile
            continue
        if int(its_session) == session and state != "Z":
            found.append(int(path.parent.name))
    return found


def workers_of(process):
    """Return the worker processes of a run, without those that only keep the books."""
    return [
        number
        for number in processes_of(process.pid)
        if number != process.pid and b"popen_loky" in Path(f"/proc/{number}/cmdline").read_bytes()
    ]


def all_gone(session, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not processes_of(session):
            return True
        time.sleep(0.05)
    return False


def questions(folder):
    """Return the questions of a run, as often as each was put."""
    log = folder / "log"
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines()] if log.exists() else []


def answered(path):
    """Return the questions in a store."""
    if not path.exists():
        return set()
    store, column = Store(path), lambda name: int(name[1:]) - 1
    kept = [row for held in store.summaries() for row in store.all(held.data, held.test)]
    return {(column(x), column(y), *map(column, z)) for x, y, z, _ in kept}


def wait_for(folder, process, count):
    """Wait until a run has put so many questions, or is at its end."""
    while process.poll() is None and len(questions(folder)) < count:
        time.sleep(0.002)


@pytest.fixture
def scheduler():
    """The address of a cluster of two workers, and a function that returns their processes; none is left behind."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50
    ) as cluster:
        seen = set()

        def workers():
            now = [worker.pid for worker in cluster.workers.values() if worker.pid]
            seen.update(now)
            return now

        yield cluster.scheduler_address, workers
        workers()
    assert seen
    assert not [number for number in seen if Path(f"/proc/{number}").exists()]


@pytest.mark.parametrize("way", ["one job", "two jobs", "cluster"])
def test_a_killed_run_goes_on_and_ends_the_same(request, tmp_path, way):
    address, on_cluster = request.getfixturevalue("scheduler") if way == "cluster" else ("", list)
    kills, seed = (request.config.getoption(option) for option in ("--kills", "--fuzz-seed"))
    draw = random.Random(f"{way} {seed}")
    (tmp_path / "run.py").write_text(RUN, encoding="utf-8")
    with started(tmp_path, "one job", "") as process:
        assert process.wait() == 0, process.stderr.read()
    expected, count = (tmp_path / "out").read_bytes(), len(questions(tmp_path))
    store, done, at_worker, repeated = tmp_path / "0.db", 0, 0, 0
    while True:
        for name in ("out", "log"):
            (tmp_path / name).unlink(missing_ok=True)
        before = answered(store)
        with started(tmp_path, way, store, address) as process:
            wait_for(tmp_path, process, draw.randint(1, 12))
            is_running = process.poll() is None and done < kills
            if is_running:
                worker = draw.choice(workers_of(process) or on_cluster() or [process.pid]) if draw.random() < 0.5 else 0
                os.kill(worker or process.pid, signal.SIGKILL)
                done += 1
                at_worker += worker not in (0, process.pid)
            ended, said = process.wait(), process.stderr.read()
            assert all_gone(process.pid)
        put, kept = questions(tmp_path), answered(store)
        assert not before & set(put)  # what is kept is not tested again
        lost = set(put) - kept
        repeated += len(lost) + len(put) - len(set(put))
        if way == "cluster":  # columns, not questions: those that two workers are at, and those on the way from them
            again = {question[0] for question in put if put.count(question) > 1} | {question[0] for question in lost}
            assert len(again) <= 6, again
        else:
            assert len(lost) <= (2 if way == "two jobs" else 1), lost
            assert len(put) == len(set(put))
        if ended == 0:
            assert (tmp_path / "out").read_bytes() == expected
            assert len(kept) == count
            if done == kills:
                break
            store = tmp_path / f"{done}.db"
        elif is_running and ended != -signal.SIGKILL:
            assert "a worker process was killed, perhaps since memory ran out, while these columns" in said
    print(f"{way}: {done} kills, {at_worker} of workers; {repeated} questions of {count} put again")  # noqa: T201
