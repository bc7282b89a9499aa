from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from pyknnmi_experiments import Method, find_experiments, parse_methods, read_results, run_experiments
from result_rows import assert_learned

from pyknnmi import DataError, ParameterError, Pipeline, PyknnmiError, register_learner

NETWORK = find_experiments(["small-network-nonlinear-gaussian"])
METHODS = parse_methods(["knn=iamb+knn-cmi(permutations=39); fisher=iamb+fisher-z"])
SIZES, REPETITIONS = (60, 100), 3


def run(path, experiments=NETWORK, methods=METHODS, **settings):
    settings = {"sizes": SIZES, "repetitions": REPETITIONS} | settings
    return run_experiments(experiments, methods, path, **settings)


def timeless(path):
    return [replace(row, seconds=0.0) for row in read_results(path)]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    path = tmp_path_factory.mktemp("uninterrupted") / "results.db"
    run(path)
    return timeless(path)


def test_rows_are_what_learning_gives(uninterrupted):
    assert len(uninterrupted) == len(METHODS) * len(SIZES) * REPETITIONS
    for row in uninterrupted:
        assert (row.true_edges, row.seed) == (8, 123456)
        assert_learned(row)


def test_returned_rows_are_those_of_the_table(tmp_path):
    path = tmp_path / "results.db"
    rows = run(path, repetitions=1)
    assert sorted(rows, key=str) == sorted(read_results(path), key=str)
    assert run(path, repetitions=1, sizes=[60]) == [row for row in rows if row.n == 60]


KILLED = """
import os, signal, sys
from pyknnmi_experiments import find_experiments, parse_methods, run_experiments

def kill(progress):
    if progress.done == 5:
        os.kill(os.getpid(), signal.SIGKILL)

run_experiments(
    find_experiments(["small-network-nonlinear-gaussian"]),
    parse_methods(["knn=iamb+knn-cmi(permutations=39); fisher=iamb+fisher-z"]),
    sys.argv[1], sizes=(60, 100), repetitions=3, progress=kill,
)
"""


def test_killed_and_resumed_gives_the_same_table(tmp_path, uninterrupted):
    path = tmp_path / "results.db"
    assert subprocess.run([sys.executable, "-P", "-c", KILLED, path], check=False).returncode == -9
    finished = read_results(path)
    assert len(finished) == 5
    counts = []
    run(path, progress=lambda progress: counts.append((progress.done, progress.total)))
    assert counts == [(done, 12) for done in range(6, 13)]
    assert timeless(path) == uninterrupted
    assert set(finished) <= set(read_results(path))  # with their seconds: not made again


def test_jobs_do_not_matter(tmp_path, uninterrupted):
    run(tmp_path / "results.db", jobs=2)
    assert timeless(tmp_path / "results.db") == uninterrupted


def test_what_is_added_later_does_not_matter(tmp_path, uninterrupted):
    path = tmp_path / "results.db"
    run(path, methods=METHODS[1:], repetitions=2)
    run(path, methods=METHODS[:1], sizes=[100])
    run(path)
    assert timeless(path) == uninterrupted


@pytest.mark.slow
def test_on_a_dask_cluster(tmp_path, uninterrupted):
    distributed = pytest.importorskip("distributed")
    import joblib

    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    cluster = distributed.LocalCluster(**settings)
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        assert joblib.effective_n_jobs(None) == 2
        run(tmp_path / "results.db")
    assert timeless(tmp_path / "results.db") == uninterrupted


def test_time_left_is_known_after_the_first_repetition(tmp_path):
    left = []
    run(tmp_path / "results.db", progress=lambda progress: left.append(progress.seconds_left))
    first = len(METHODS) * len(SIZES)
    assert left[: first - 1] == [None] * (first - 1)
    assert all(seconds > 0 for seconds in left[first - 1 : -1])
    assert left[-1] == 0


def test_other_data_or_specs_are_not_mixed(tmp_path):
    path = tmp_path / "results.db"
    run(path, methods=METHODS[1:], repetitions=1)
    before = read_results(path)
    with pytest.raises(
        DataError, match="rows of small-network-nonlinear-gaussian that were made with seed 123456, not 7"
    ):
        run(path, methods=METHODS[:1], seed=7)
    with pytest.raises(
        DataError, match=r"by 'fisher' that were made with .*and.*, not .*rule=or.*name the method anew"
    ):
        run(path, methods=parse_methods(["fisher=iamb(rule=or)+fisher-z"]))
    assert read_results(path) == before


def test_failed_run_does_not_stop_the_others(tmp_path, registry, uninterrupted):
    path = tmp_path / "results.db"
    broken = True

    @register_learner("brittle")
    def brittle(dataset, tester):
        if broken and dataset.n == 60:
            raise RuntimeError("singular matrix")
        return []

    methods = (*METHODS, Method("brittle", Pipeline.parse("brittle+fisher-z")))
    with pytest.raises(
        PyknnmiError, match=r"3 of 18 runs failed; first 'brittle' on small-.*, n = 60.*singular matrix"
    ):
        run(path, methods=methods)
    assert len(read_results(path)) == 15
    broken = False
    assert len(run(path, methods=methods)) == 18
    assert [row for row in timeless(path) if row.method != "brittle"] == uninterrupted


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sizes": [1]}, "n = 1: give sizes from 2 to 2000"),
        ({"sizes": [100, 2001]}, "n = 2001: give sizes from 2 to 2000"),
        ({"repetitions": 0}, "repetitions = 0"),
        ({"seed": -1}, "seed = -1"),
    ],
)
def test_bad_settings(tmp_path, settings, message):
    with pytest.raises(ParameterError, match=message):
        run(tmp_path / "results.db", **settings)
    assert not (tmp_path / "results.db").exists()
