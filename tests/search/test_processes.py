"""Work in other processes: they end with the one that started them, and what is lost is reported or done again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pyknnmi
from pyknnmi import ParameterError, StoppedError, learn
from pyknnmi.learning.exports import edges_csv

DATA, _ = pyknnmi.simulate.small_network(100, seed=3)
SPEC = "iamb+knn-cmi(permutations=39)"


def gone(process, seconds=20):
    """Return whether a process ends within so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


PARENT = """
import os, time
from pyknnmi.search import processes

def work(item):
    print(os.getpid(), flush=True)  # what a worker prints goes to the standard error
    time.sleep(600)

list(processes.each(work, range(2), 2))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
def test_workers_end_with_a_parent_that_was_killed():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        workers = {int(parent.stderr.readline()) for _ in range(2)}
        parent.kill()
        assert len(workers) == 2
        assert all(gone(worker) for worker in workers)
        assert parent.communicate(timeout=20)[0] == ""  # nobody holds the outputs any more
    finally:
        parent.kill()
        parent.wait()


def test_a_killed_worker_is_named_with_the_columns_it_was_at(registry, tmp_path):
    @pyknnmi.register_ci_test("deadly")
    def deadly(x, y, z):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(
        StoppedError, match=r"a worker process was killed, perhaps .* these columns .*: X1, X2.*; take fewer"
    ):
        learn(DATA, "iamb+deadly", jobs=2)
    assert edges_csv(learn(DATA, SPEC, jobs=2)) == edges_csv(learn(DATA, SPEC))  # new workers take over


UNKNOWN = """
import sys, types
from dataclasses import dataclass
import pyknnmi
from pyknnmi.builtin.fisher_z import FisherZ

here = types.ModuleType("only_here")  # as a test file's or notebook's helper, which no other process can import
sys.modules["only_here"] = here
exec("class Mine(FisherZ): name = 'mine'", {"FisherZ": FisherZ, "__name__": "only_here"}, here.__dict__)
mine = dataclass(frozen=True, kw_only=True)(here.Mine)
data, _ = pyknnmi.simulate.small_network(60, seed=1)
pipeline = pyknnmi.Pipeline(pyknnmi.Pipeline.parse("iamb+fisher-z").learner, mine())
try:
    pipeline.learn(data, pyknnmi.Run(jobs=2))
except pyknnmi.PluginError as error:
    print(error)
"""


def test_what_a_worker_cannot_load_is_no_killed_worker():
    shown = subprocess.run([sys.executable, "-P", "-c", UNKNOWN], capture_output=True, text=True, check=True).stdout
    assert "cannot load what it is sent (ModuleNotFoundError: No module named 'only_here')" in shown


FORK = """
import os, sys, threading, warnings
import pyknnmi
from pyknnmi.registry import registry
warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks among threads
data, _ = pyknnmi.simulate.small_network(60, seed=1)
if sys.argv[1] == "workers":
    before = pyknnmi.learn(data, "iamb+fisher-z", jobs=2)
elif sys.argv[1] == "store":
    before = pyknnmi.learn(data, "iamb+fisher-z", store="store.db")
else:
    before = None
    threading.Thread(target=pyknnmi.learn, args=(data, "iamb+fisher-z")).start()  # makes the first registry meanwhile
child = os.fork()
jobs = 2 if sys.argv[1] == "workers" else 1
result = pyknnmi.learn(data, "iamb+fisher-z", jobs=jobs, store="store.db" if sys.argv[1] == "store" else None)
assert before is None or result.evidence == before.evidence
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


FORK_AMONG_THREADS = """
import os, sys, threading, time, warnings
import pyknnmi
warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks among threads
data, _ = pyknnmi.simulate.small_network(100, seed=1)
table = pyknnmi.bind(data, sys.argv[1])
x, y, *given = data.names
under_way = threading.Event()
def work():
    for i in range(1000):
        under_way.set()
        table.test(x, y, given[: i % 5])
        table.associations(x, given, [y] if i % 2 else [])
        table._tester.answers.clear(), table._known.clear()
threading.Thread(target=work, daemon=True).start()
under_way.wait()
for _ in range(10):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        for i in range(3):
            table._tester.answers.clear(), table._known.clear()
            table.test(x, y, given[:i]), table.associations(x, given)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("spec", ["residual-dependence(permutations=19)", "smooth-gcm"])
def test_a_fork_while_another_thread_tests_goes_on(spec):
    subprocess.run([sys.executable, "-c", FORK_AMONG_THREADS, spec], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("after", ["workers", "store", "registry"])
def test_a_fork_after_anything_goes_on(after, tmp_path):
    subprocess.run([sys.executable, "-c", FORK, after], cwd=tmp_path, check=True, timeout=120)


# A cluster


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50
    ) as cluster:
        yield cluster


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster's own libraries
def test_a_cluster_gives_the_same_answers_and_keeps_them_here(cluster, tmp_path):
    expected = learn(DATA, SPEC)
    store = tmp_path / "store.db"
    result = learn(DATA, SPEC, cluster=cluster.scheduler_address, store=store)
    assert (result.evidence, result.counts) == (expected.evidence, expected.counts)
    kept = pyknnmi.Store(store).summaries()[0].answers
    assert kept == expected.counts["tests"]
    again = learn(DATA, SPEC, cluster=cluster.scheduler_address, store=store)
    assert (again.evidence, pyknnmi.Store(store).summaries()[0].answers) == (expected.evidence, kept)


def test_no_cluster_there(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("pyknnmi.search.processes._CONNECT_SECONDS", 0.5)
    with pytest.raises(ParameterError, match=r"cluster = 'tcp://127.0.0.1:9': no Dask scheduler answers there"):
        learn(np.eye(3), "iamb+fisher-z", cluster="tcp://127.0.0.1:9")
