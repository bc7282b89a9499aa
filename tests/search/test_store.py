"""The store: what is there is not computed again, and what differs is."""

from __future__ import annotations

import dataclasses
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import pyknnmi
from pyknnmi import CIResult, DataError, Dataset, Run, Store
from pyknnmi.cli import main
from pyknnmi.learning.exports import edges_csv
from pyknnmi.learning.pipeline import Pipeline
from pyknnmi.registry.registry import default_registry

ANSWER = CIResult(
    statistic=0.1 + 0.2,
    p_value=1 / 3,
    independent=False,
    n=10,
    decided_by="permutations",
    permutations=7,
    p_value_bounds=(0.1, 0.5),
    anytime_p_value=0.75,
    log_p_value=-1e300,
    redundant=("a", "b, c"),
)


@pytest.fixture
def counting_test(registry):
    """Return a maker of CI tests that append their questions to a list, each as of an installed plugin."""

    def make(calls, **settings):
        cls = counting_class(calls, **settings)
        plugin = SimpleNamespace(pyknnmi_ci_tests=pyknnmi.components.hookimpl(lambda: [cls]))
        registry._load("counting", "1.0", lambda: plugin)
        return cls

    return make


def counting_class(calls, **settings):

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Counting(pyknnmi.components.CITest):
        """Counts its calls."""

        name = "counting"
        symmetric = settings.get("symmetric", True)
        needs_seed = settings.get("needs_seed", False)
        alpha: float = 0.05

        def bind(self, dataset, run):
            class Bound(pyknnmi.components.BoundTest):
                def test(self, x, y, z):
                    calls.append((x, y, z))
                    r = np.corrcoef(dataset.values[:, x], dataset.values[:, y])[0, 1]
                    return CIResult(
                        statistic=abs(r), p_value=1 - abs(r), independent=abs(r) < 0.2, n=dataset.n, decided_by="r"
                    )

            return Bound()

    return Counting


def table(seed=0):
    return pyknnmi.simulate.small_network(100, seed=seed)[0]


def test_answers_come_back_to_the_bit(tmp_path):
    store = Store(tmp_path / "answers.db")
    assert store.get("data", "test", "x", "y", ("z",)) is None
    store.put("data", "test", "x", "y", ("z",), ANSWER)
    assert Store(tmp_path / "answers.db").get("data", "test", "x", "y", ("z",)) == ANSWER
    for other in (
        ("data2", "test", "x", "y", ("z",)),
        ("data", "test", "y", "x", ("z",)),
        ("data", "test", "x", "y", ()),
    ):
        assert store.get(*other) is None


def test_a_second_run_tests_nothing_and_agrees(tmp_path, counting_test):
    calls = []
    pipeline = Pipeline(default_registry().get("iamb")(), counting_test(calls)())
    store = Store(tmp_path / "answers.db")
    first = pipeline.learn(table(), Run(), store=store)
    before = len(calls)
    second = pipeline.learn(table(), Run(), store=store)
    assert len(calls) - before == second.counts["scored"]  # ranking is not kept; this test ranks by testing
    assert edges_csv(first) == edges_csv(second)
    assert first.counts == second.counts


@pytest.mark.parametrize("change", ["cell", "name", "parameter", "seed"])
def test_whatever_differs_is_tested_anew(tmp_path, counting_test, change):
    calls = []
    test = counting_test(calls, needs_seed=True)
    store = Store(tmp_path / "answers.db")
    learner = default_registry().get("pairwise")()
    data, run = table(), Run(seed=1)
    Pipeline(learner, test()).learn(data, run, store=store)
    before = len(calls)
    if change == "cell":
        values = data.values.copy()
        values[3, 4] = np.nextafter(values[3, 4], np.inf)
        data = Dataset(values, data.names)
    elif change == "name":
        data = Dataset(data.values, (*data.names[:-1], "other"))
    elif change == "seed":
        run = Run(seed=2)
    Pipeline(learner, test(alpha=0.01 if change == "parameter" else 0.05)).learn(data, run, store=store)
    assert len(calls) == 2 * before


def test_seed_does_not_matter_to_a_test_without_randomness(tmp_path, counting_test):
    calls = []
    pipeline = Pipeline(default_registry().get("pairwise")(), counting_test(calls)())
    store = Store(tmp_path / "answers.db")
    pipeline.learn(table(), Run(seed=1), store=store)
    before = len(calls)
    pipeline.learn(table(), Run(seed=2), store=store)
    assert len(calls) == before


def test_asymmetric_test_keeps_both_directions(tmp_path, counting_test):
    calls = []
    pipeline = Pipeline(default_registry().get("pairwise")(), counting_test(calls, symmetric=False)())
    pipeline.learn(table(), Run(), store=Store(tmp_path / "answers.db"))
    with closing(sqlite3.connect(tmp_path / "answers.db")) as connection:
        kept = connection.execute("SELECT x, y FROM answers").fetchall()
    assert len(kept) == len(set(kept)) == len(calls)


def test_tests_that_have_no_version_are_refused_before_anything_is_tested(tmp_path, registry):
    """A test that is registered anew under its name, or never was, may answer otherwise than before."""
    calls = []
    cls = counting_class(calls)
    store = Store(tmp_path / "answers.db")
    pipeline = Pipeline(registry.get("pairwise")(), cls())
    with pytest.raises(pyknnmi.ParameterError, match="'counting' does not come from an installed plugin"):
        pipeline.learn(table(), Run(), store=store)
    pyknnmi.register_ci_test(cls)
    with pytest.raises(pyknnmi.ParameterError, match="'counting' does not come from an installed plugin"):
        pyknnmi.learn(table(), "pairwise+counting", store=tmp_path / "answers.db")
    assert not calls
    assert pyknnmi.learn(table(), "pairwise+counting").counts["tests"] == len(calls)


def test_threads_and_processes_share_a_file(tmp_path):
    path = tmp_path / "answers.db"
    plain = pyknnmi.learn(table(), "iamb+knn-cmi(permutations=20)", threads=1)
    runs = [
        threading.Thread(
            target=pyknnmi.learn, args=(table(), "iamb+knn-cmi(permutations=20)"), kwargs={"threads": 2, "store": path}
        )
        for _ in range(2)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    shared = pyknnmi.learn(table(), "iamb+knn-cmi(permutations=20)", jobs=2, store=path)
    assert edges_csv(plain) == edges_csv(shared)
    assert Store(path).summaries()[0].answers == plain.counts["tests"]


def test_a_new_file_may_be_opened_by_many_at_once(tmp_path):
    def put_together(path):
        together.wait()
        Store(path).put("data", "test", "x", "y", (), ANSWER)

    together = threading.Barrier(4)
    with ThreadPoolExecutor(together.parties) as threads:
        for path in [tmp_path / f"{number}.db" for number in range(20)]:
            for done in [threads.submit(put_together, path) for _ in range(together.parties)]:
                done.result()
            assert Store(path).get("data", "test", "x", "y", ()) == ANSWER


def test_threads_of_a_forked_child_leave_the_parents_connection_alone(tmp_path, monkeypatch):
    """Both threads find themselves in a child before either has acted on it, unless one waits for the other."""
    together, calls = threading.Barrier(2), iter(range(2))

    def child():
        if next(calls, None) is not None:
            with suppress(threading.BrokenBarrierError):
                together.wait(0.2)
        return -1

    with closing(Store(tmp_path / "answers.db")) as store:
        store.put("data", "test", "x", "y", (), ANSWER)
        parents = store._connection
        monkeypatch.setattr("pyknnmi.search.store.os", SimpleNamespace(getpid=child))
        with ThreadPoolExecutor(2) as threads:
            found = [threads.submit(store.get, "data", "test", "x", "y", ()) for _ in range(2)]
            assert [thread.result() for thread in found] == [ANSWER] * 2
        assert store._abandoned is parents
        parents.close()


def test_the_file_stays_where_it_was_named(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    monkeypatch.chdir(first)
    store = Store("answers.db")
    monkeypatch.chdir(second)
    store.put("data", "test", "x", "y", (), ANSWER)
    assert (first / "answers.db").exists()
    assert not list(second.iterdir())


def test_learning_leaves_the_callers_store_open(tmp_path):
    with closing(Store(tmp_path / "answers.db")) as store, ThreadPoolExecutor(4) as threads:
        pipeline = Pipeline.parse("iamb+fisher-z")
        runs = [threads.submit(pipeline.learn, table(), Run(threads=1), store=store) for _ in range(12)]
        assert len({edges_csv(run.result()) for run in runs}) == 1


def test_looking_at_a_store_changes_nothing(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()
    assert Store(path).summaries() == []
    assert [file.name for file in tmp_path.iterdir()] == ["empty.db"]
    assert not path.stat().st_size


def test_another_kind_of_file_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, and longer than the hundred bytes that a header of SQLite takes " * 3)
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"cannot use .*notes.txt"):
        pyknnmi.learn(table(), "iamb+fisher-z", store=path)
    assert path.read_bytes() == before
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.execute("CREATE TABLE answers (x)")
    connection.close()
    with pytest.raises(DataError, match="another kind of file"):
        Store(tmp_path / "other.db").summaries()
    with pytest.raises(DataError, match="there is no store"):
        Store(tmp_path / "nowhere.db").summaries()


def test_answers_at_another_level_are_kept_apart(tmp_path):
    answers = Store(tmp_path / "store").answers("data", "test")
    finer = CIResult(statistic=1.0, p_value=0.01, independent=True, n=9, decided_by="normal", level=0.001)
    answers.at(0.001).put("x", "y", (), finer)
    assert answers.at(0.001).get("x", "y", ()) == finer
    assert answers.get("x", "y", ()) is None
    assert answers.at(0.002).get("x", "y", ()) is None


# Damaged files


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Return the bytes of a store, the data, and the answers of the run that filled it."""
    path = tmp_path_factory.mktemp("store") / "store.db"
    data, _ = pyknnmi.simulate.small_network(60, seed=2)
    result = pyknnmi.learn(data, "iamb+fisher-z", store=path)
    return path.read_bytes(), data, result


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_file_is_an_error_or_changes_nothing(filled, seed, tmp_path):
    whole, data, expected = filled
    random = np.random.default_rng(seed)
    path = tmp_path / "store.db"
    refused = 0
    for _ in range(25):
        content = np.frombuffer(whole, dtype=np.uint8).copy()
        places = random.integers(0, len(content), random.integers(1, 40))
        content[places] = random.integers(0, 256, len(places))
        path.write_bytes(content.tobytes())
        try:
            result = pyknnmi.learn(data, "iamb+fisher-z", store=path)
        except DataError as error:
            refused += "as a store" in str(error)
        else:
            assert result.evidence == expected.evidence
        for name in ("store.db", "store.db-wal", "store.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
    assert refused


def test_a_changed_answer_is_named(filled, tmp_path):
    whole, data, _ = filled
    path = tmp_path / "store.db"
    path.write_bytes(whole)
    assert Store(path).check() == Store(path).summaries()[0].answers
    with closing(sqlite3.connect(path)) as connection:
        (x, y), *_ = connection.execute("SELECT x, y FROM answers").fetchall()
        connection.execute("UPDATE answers SET answer = replace(answer, '0.', '1.') WHERE x = ? AND y = ?", (x, y))
        connection.commit()
    for look in (Store(path).check, lambda: pyknnmi.learn(data, "iamb+fisher-z", store=path)):
        with pytest.raises(DataError, match=f"it is damaged, in the answer about '{x}' and '{y}' given"):
            look()
    outcome = CliRunner().invoke(main, ["store", "check", str(path)])
    assert (outcome.exit_code, "it is damaged" in outcome.output) == (2, True)
    path.write_bytes(whole)
    assert CliRunner().invoke(main, ["store", "check", str(path)]).output.endswith(" answers, all whole\n")


@pytest.mark.parametrize("damage", ["an answer", "all"])
def test_a_damaged_file_is_no_fault_of_the_learner_that_asks(registry, tmp_path, damage):
    @pyknnmi.register_learner("first-pair")
    def first_pair(dataset, tester):
        tester.test(0, 1)
        return []

    data, path = table(), tmp_path / "store.db"
    pyknnmi.learn(data, "first-pair+fisher-z", store=path)
    if damage == "all":
        path.write_bytes(b"no store" * 1000)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE answers SET checksum = ''")
            connection.commit()
    with pytest.raises(DataError, match=r"^cannot use '.*store\.db' as a store: "):
        pyknnmi.learn(data, "first-pair+fisher-z", store=path)


def test_a_table_of_other_columns_is_no_store(tmp_path):
    path = tmp_path / "store.db"
    pyknnmi.learn(pyknnmi.simulate.small_network(60, seed=2)[0], "iamb+fisher-z", store=path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE answers")
        connection.execute("CREATE TABLE answers (data)")
    with pytest.raises(DataError, match=r"cannot use .* as a store: no such column: test"):
        Store(path).check()
