"""Work in other processes: they end with the one that started them, and what is lost is reported or done again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest

import pyknnmi
from pyknnmi import Dataset, ParameterError, Run, StoppedError, learn
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.components import Tester
from pyknnmi.learning.exports import edges_csv
from pyknnmi.search import processes

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
    # What a worker prints goes to the standard error; in one piece, since two do so at a time.
    print(f"{os.getpid()}\\n", end="", flush=True)
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster's own libraries
def test_a_cluster_takes_its_decisions_from_the_store(cluster, tmp_path):
    """The statistics in the store are one larger than those of the data, and these come back."""
    learned = learn(DATA, SPEC, store=tmp_path / "learned.db")
    changed = pyknnmi.Store(tmp_path / "changed.db")
    for kept in pyknnmi.Store(tmp_path / "learned.db").summaries():
        for x, y, z, answer in pyknnmi.Store(tmp_path / "learned.db").all(kept.data, kept.test):
            changed.put(kept.data, kept.test, x, y, z, replace(answer, statistic=answer.statistic + 1))
    changed.close()
    found = learn(DATA, SPEC, cluster=cluster.scheduler_address, store=tmp_path / "changed.db")
    assert found.evidence
    expected = {(pair.source, pair.target): pair.answer for pair in learned.evidence}
    for pair in found.evidence:
        before = expected[pair.source, pair.target]
        assert pair.answer == replace(before, statistic=before.statistic + 1)


class OneProcess:
    """A cluster in this process: client, scheduler and worker. Each item is done twice, as if the first were lost."""

    status, loop = "running", None

    def __init__(self):
        self.events, self.fetched, self.handlers, self.unsubscribed = [], [], {}, []

    def subscribe_topic(self, topic, handler):
        self.handlers[topic] = handler

    def unsubscribe_topic(self, topic):  # handlers stay, as those of distributed do
        self.unsubscribed.append(topic)

    def log_event(self, topics, message):
        topics = [topics] if isinstance(topics, str) else topics
        self.events.append((topics, message))
        for topic in set(topics) & set(self.handlers):
            self.handlers[topic]((0.0, message))

    def get_events(self, topic):
        found = tuple((0.0, message) for topics, message in self.events if topic in topics)
        self.fetched.append(len(found))
        return found

    def scatter(self, work, **_):
        return work

    def submit(self, function, *arguments, **_):
        function(*arguments)
        future = Mock()
        future.cancelled.return_value, future.found = False, function(*arguments)
        return future

    def cancel(self, futures):
        pass


@pytest.fixture
def one_process(monkeypatch):
    distributed = pytest.importorskip("distributed")
    cluster, now = OneProcess(), iter(range(10**6))
    monkeypatch.setattr(distributed, "get_worker", lambda: cluster)
    monkeypatch.setattr(distributed, "get_client", lambda: cluster)
    monkeypatch.setattr(distributed, "as_completed", lambda futures, **_: [(one, one.found) for one in futures])
    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: next(now) / 5))  # 0.2 s a look
    token = processes._client.set(cluster)
    yield cluster
    processes._client.reset(token)


def send_twenty(item):
    before = processes.sent_so_far()
    for number in range(20):
        processes.send((item, number))
    return before


def test_messages_go_in_batches_and_come_back_to_the_same_item(one_process):
    heard = []
    found = list(processes.each(send_twenty, [5, 6, 7], None, heard.append))
    assert 0 < len(one_process.events) <= 3 * 2 * 7
    for item, before in zip([5, 6, 7], found, strict=True):
        own = [message for message in heard if message[0] == item]
        assert (
            before == own[: len(own) // 2] == own[len(own) // 2 :] == [(item, number) for number in range(len(before))]
        )
        assert len(before) > 15
    assert one_process.fetched[::2] == [0, 0, 0]


def test_an_error_sends_what_was_waiting(one_process):
    def work(item):
        processes.send("last")
        raise KeyError(item)

    heard = []
    with pytest.raises(KeyError):
        list(processes.each(work, [1], None, heard.append))
    assert heard == ["last"]


def test_what_comes_after_the_end_is_not_heard(one_process):
    heard = []
    list(processes.each(send_twenty, [1], None, heard.append))
    in_time = len(heard)
    (topics, message), *_ = one_process.events
    one_process.log_event(topics, message)
    assert len(heard) == in_time > 0
    assert one_process.unsubscribed == list(one_process.handlers)


def test_nothing_is_sent_where_nothing_is_stored(one_process, tmp_path):
    def work(item, branch):
        for other in range(5):
            branch.test(item, other + (other >= item))

    for stored in (None, pyknnmi.Store(tmp_path / "store.db").answers("data", "test")):
        tester = Tester(FisherZ(), Dataset.of(DATA), Run(threads=1), stored=stored)
        list(tester.each(work, range(6)))
        assert bool(one_process.events) is bool(one_process.handlers) is bool(one_process.fetched) is bool(stored)


def test_no_cluster_there(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("pyknnmi.search.processes._CONNECT_SECONDS", 0.5)
    with pytest.raises(ParameterError, match=r"cluster = 'tcp://127.0.0.1:9': no Dask scheduler answers there"):
        learn(np.eye(3), "iamb+fisher-z", cluster="tcp://127.0.0.1:9")
