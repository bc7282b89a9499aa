from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pyknnmi
from pyknnmi import DataError, ParameterError, Progress, PyknnmiWarning, Run, StoppedError
from pyknnmi.components import warn, without_warnings
from pyknnmi.run import check_memory, cores, work_elsewhere


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, r"seed = -1: give a whole number from 0 to 2\*\*64 - 1"),
        ({"seed": 2**64}, "seed = 18446744073709551616"),
        ({"seed": 1.5}, r"seed = 1\.5: give a whole number"),
        ({"seed": True}, "seed = True: give a whole number"),
        ({"threads": True}, "threads = True: give a whole number"),
        ({"jobs": np.True_}, r"jobs = np.True_: give a whole number"),
        ({"seed": "1"}, "seed = '1': give a whole number"),
        ({"threads": -1}, "threads = -1: give 0 for all cores"),
        ({"jobs": 0}, "jobs = 0: give a positive number, or -1 for all cores"),
        ({"jobs": -2}, "jobs = -2"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        Run(**arguments)


def test_numpy_numbers_become_pythons():
    assert type(Run(seed=np.uint64(2**64 - 1)).seed) is int


def test_streams_depend_on_names_alone():
    run = Run()
    assert run.stream("x", "y", ["b", "a"]) == run.stream("x", "y", ["a", "b"])
    streams = [
        run.stream(*question)
        for question in (
            ("x", "y", ()),
            ("y", "x", ()),
            ("x", "y", ("z",)),
            ("x", "yz", ()),
            ("xy", "z", ()),
            ("x", "", ("yz",)),
            ("x", "y", ("z", "z")),
            ("å", "y", ()),
        )
    ]
    assert len(set(streams)) == len(streams)
    assert all(0 <= stream < 2**64 for stream in streams)
    # the same in a process with another hash seed
    code = "import pyknnmi; print(pyknnmi.Run().stream('x', 'y', ('a', 'b')))"
    run_elsewhere = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert int(run_elsewhere.stdout) == run.stream("x", "y", ("a", "b"))


def drawn(seed, *question):
    return tuple(Run(seed=seed).generator(*question).integers(2**62, size=2).tolist())


def test_generators_differ_by_seed_and_question():
    seeds = (0, 1, 2**53, 2**53 + 1, 2**64 - 2, 2**64 - 1)
    questions = [(name, "q", ()) for name in "abcdefgh"]
    numbers = {drawn(seed, *question) for seed in seeds for question in questions}
    assert len(numbers) == len(seeds) * len(questions)
    assert drawn(1, "a", "b", ("c",)) == drawn(1, "a", "b", ("c",))


@pytest.mark.parametrize(
    ("threads", "jobs", "each"),
    [(8, 1, 8), (8, 2, 4), (8, 3, 2), (2, 4, 1), (0, 1, 8), (0, 8, 1), (1, -1, 1)],
)
def test_jobs_share_the_threads(monkeypatch, threads, jobs, each):
    monkeypatch.setattr("pyknnmi.run.cores", lambda: 8)
    assert Run(threads=threads, jobs=jobs).threads_per_job == each


def test_all_cores():
    assert Run(jobs=-1).workers == cores() >= 1


def test_pickling_leaves_progress_and_stop_behind():
    run = Run(seed=3, threads=2, jobs=4, progress=print)
    run.stop()
    copy = pickle.loads(pickle.dumps(run))
    assert copy == run
    assert copy.progress is None
    copy.poll()
    with pytest.raises(StoppedError, match="the run was stopped"):
        run.poll()


def test_a_part_stops_with_the_whole_and_not_the_other_way_round():
    whole = Run(seed=3, threads=2)
    first, second = whole.part(), whole.part()
    assert first == whole
    first.stop()
    with pytest.raises(StoppedError):
        first.poll()
    whole.poll()
    second.poll()
    first.resume()
    first.poll()
    whole.stop()
    with pytest.raises(StoppedError):
        first.poll()


def test_a_topic_is_warned_of_once_in_each_part_of_a_run():
    def warn_in_each_part(run):
        for part in (run.part(), run.part()):
            for topic in ("a", "b", "a"):
                part.warn_once(topic, f"about {topic}")

    with pytest.warns(PyknnmiWarning) as warned:
        warn_in_each_part(Run())
    assert [str(each.message) for each in warned] == ["about a", "about b"] * 2


def test_progress_is_a_value():
    assert Progress(1, 2, 3) == Progress(done=1, total=2, tests=3)


def test_threads_of_other_machines_are_not_limited_by_the_cores_here(monkeypatch):
    monkeypatch.setattr("pyknnmi.run.cores", lambda: 2)
    monkeypatch.setenv("OMP_THREAD_LIMIT", "1")
    run = Run(threads=12)
    with work_elsewhere():
        run.warn_of_fewer_threads()  # a warning would be an error
        assert (run.threads_per_job, run.part().threads_per_job, Run(threads=12, jobs=3).threads_per_job) == (12, 12, 4)
        # What is sent to a worker has the limits that the worker finds.
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(lambda: pickle.loads(pickle.dumps(run)).threads_per_job).result() == 1
    assert run.threads_per_job == 1


def test_what_does_not_fit_is_refused_before_it_is_begun(monkeypatch):
    monkeypatch.setattr("pyknnmi.run._LITTLE", 0)
    monkeypatch.setattr("pyknnmi.run._free_memory", lambda: 10**6)
    values = np.random.default_rng(0).standard_normal((5, 1000))
    # two matrices of 1000 x 1000 doubles and the 5000 doubles of the data
    with pytest.raises(DataError, match=r"correlation matrix of 1000 columns needs 0.016 GB of memory, and 0.001 GB"):
        pyknnmi.learn(values, "iamb+fisher-z")
    with pytest.raises(DataError, match=r"needs 0.024 GB"):
        pyknnmi.numbers.correlation_matrix(values, "spearman")


def of_categories(table):
    values = np.column_stack([np.arange(1000) % 300, table[:, 0], table[:, 1]])
    return pyknnmi.Dataset(values, ("many", "x", "y"), ("discrete", "continuous", "continuous"))


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        # numbers of rows of 4 bytes: a row of them for each permutation; 300 neighbours of each of 1000 rows
        (lambda z: pyknnmi.numbers.permuted_rows(z, permutations=10**6), 4e9),
        (lambda z: pyknnmi.numbers.permutation_test(z[:, 0], z[:, 1], z, neighbors=300), 1.2e6),
        # 16 features of each column, here and in the core, and 16 x 16 products of each pair with itself, all doubles
        (lambda z: pyknnmi.learn(z, "functional-anova"), 8 * (2 * 16 * 40 * 1000 + 256 * 40 * 41 / 2)),
        # of each row and category three doubles
        (lambda z: pyknnmi.numbers.indicators(z[:, 0]), 24 * 1000 * 1000),
        (lambda z: pyknnmi.bind(of_categories(z), "residual-dependence"), 24 * 1000 * 300),
        (lambda z: pyknnmi.calibrate(of_categories(z), "knn-cmi", [(1, 2, (0,))], draws=1), 24 * 1000 * 300),
        # in a number of two words each, and the pairs of a graph as tuples
        (lambda z: pyknnmi.simulate.small_network(10**6), 16 * 7 * 10**6),
        (lambda z: pyknnmi.simulate.random_graph(1000), 50 * 10**6),
        (lambda z: pyknnmi.Dataset.of(z.astype("f4").repeat(100, axis=1)), 8 * 1000 * 4000),
    ],
    ids=[
        *("permutations", "neighbors", "regressions", "indicators", "a test on indicators", "a model of indicators"),
        *("simulated rows", "pairs", "conversion"),
    ],
)
def test_other_large_needs_are_refused_before_they_are_begun(monkeypatch, call, needed):
    monkeypatch.setattr("pyknnmi.run._LITTLE", 0)
    monkeypatch.setattr("pyknnmi.run._free_memory", lambda: 10**6)
    table = np.random.default_rng(0).standard_normal((1000, 40))
    with pytest.raises(DataError, match=re.escape(f"needs {needed / 1e9:.3g} GB of memory, and 0.001 GB are free")):
        call(table)


def test_free_memory_is_known_where_linux_tells_it(monkeypatch, tmp_path):
    free = pyknnmi.run._free_memory()
    assert free is None or 0 < free < 2**60
    if free is not None:
        monkeypatch.setattr("pyknnmi.run._CONTAINER", tmp_path)
        (tmp_path / "memory.max").write_text("3000000\n")
        (tmp_path / "memory.current").write_text("1000000\n")
        assert pyknnmi.run._free_memory() == 2_000_000
        (tmp_path / "memory.stat").write_text("anon 100000\nfile 900000\ninactive_file 300000\nactive_file 400000\n")
        assert pyknnmi.run._free_memory() == 2_700_000
        (tmp_path / "memory.max").write_text("max\n")
        assert pyknnmi.run._free_memory() > 2_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux tells it")
def test_a_limit_of_the_shell_counts():
    code = "import numpy, pyknnmi; pyknnmi.numbers.permuted_rows(numpy.zeros((10**6, 1)), permutations=2000)"
    command = ["bash", "-c", f"ulimit -v 4000000; exec {sys.executable} -c '{code}'"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert re.search(r"2000 permutations of 1000000 rows needs 8 GB of memory, and [0-3]\.\d* GB are free", done.stderr)


def test_little_is_taken_without_a_look_at_what_is_free(monkeypatch):
    monkeypatch.setattr("pyknnmi.run._free_memory", lambda: 0)
    check_memory(2.0**26 - 1, "this", "wait")
    with pytest.raises(DataError, match=r"this needs 0.0671 GB of memory, and 0 GB are free: wait"):
        check_memory(2.0**26, "this", "wait")


def test_fewer_threads_than_wanted_are_warned_of(monkeypatch, tmp_path):
    data = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.warns(PyknnmiWarning, match=r"threads = 100000: this process may use \d+ cores, so \d+ will be used"):
        result = pyknnmi.learn(data, "iamb+fisher-z", threads=100_000)
    assert any(message.startswith("threads = 100000") for message in result.warnings)
    monkeypatch.setattr("pyknnmi.run._CONTAINER", tmp_path)
    (tmp_path / "cpu.max").write_text("50000 100000\n")  # half a core
    assert (cores(), Run(threads=2).threads_per_job) == (1, 1)
    (tmp_path / "cpu.max").write_text("max 100000\n")
    monkeypatch.setenv("OMP_THREAD_LIMIT", "1")
    with pytest.warns(PyknnmiWarning, match=r"threads = 2: OMP_THREAD_LIMIT is 1, so 1 will be used"):
        pyknnmi.learn(data, "iamb+fisher-z", threads=2)
    for call in (
        lambda: pyknnmi.bind(data, "fisher-z", threads=2),
        lambda: pyknnmi.ci_test(data, 0, 1, test="fisher-z", threads=2),
        lambda: pyknnmi.calibrate(data, "fisher-z", questions=[(0, 1, ())], draws=19, threads=2),
    ):
        with pytest.warns(PyknnmiWarning, match=r"threads = 2: OMP_THREAD_LIMIT is 1, so 1 will be used"):
            call()


def test_what_is_silent_is_not_yet_warned_of():
    run = Run()
    with without_warnings():
        warn("this")
        run.warn_once("topic", "that")
    with pytest.warns(PyknnmiWarning, match="that"):
        run.warn_once("topic", "that")
