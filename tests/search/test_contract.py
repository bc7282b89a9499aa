"""What may come back from a component: one table of answers, graphs and transforms, held against runs of `learn`."""

from __future__ import annotations

import copy
import decimal
import gc
import json
import locale
import logging
import math
import os
import pickle
import random
import re
import signal
import sys
import tempfile
import threading
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from pyknnmi import (
    CIResult,
    DataError,
    Dataset,
    DataTypeError,
    ParameterError,
    PluginError,
    Run,
    SpecError,
    UnknownNameError,
    ci_test,
    learn,
    register_ci_test,
    register_learner,
    register_transform,
)
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.cli import main
from pyknnmi.components import Evidence, LearnedGraph, Tester
from pyknnmi.data.files import write_dataset
from pyknnmi.errors import IdentifierError
from pyknnmi.search.contract import checked_answer, checked_graph, number

DATA = Dataset.of(np.random.default_rng(6).standard_normal((40, 4)))


def answer(**changes):
    return CIResult(**{"statistic": 1.0, "p_value": 0.5, "independent": True, "n": 40, "decided_by": "x"} | changes)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.25, 0.25),
        (1, 1.0),
        (np.float32(0.5), 0.5),
        (np.int64(2), 2.0),
        (np.array(0.5), 0.5),
        (Fraction(1, 4), 0.25),
        (Decimal("0.5"), 0.5),
        (True, None),
        (np.True_, None),
        (np.array(True), None),
        ("0.5", None),
        (None, None),
        (0.5 + 0j, None),
        (np.array([0.5]), None),
        ((1, 2, 3), None),
        ({}, None),
        (10**400, None),
    ],
)
def test_what_is_a_number(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"statistic": True},
        {"p_value": True},
        {"p_value": np.False_},
        {"p_value": -1e-6},
        {"p_value": 1 + 1e-6},
        {"p_value": (0.1, 0.2, 0.3)},
        {"independent": 1},
        {"n": 0},
        {"n": 41},
        {"n": 10**9},
        {"n": 40.0},
        {"n": True},
        {"decided_by": ""},
        {"decided_by": None},
        {"decided_by": "required"},
        {"decided_by": "forbidden"},
        {"permutations": -1},
        {"permutations": None},
        {"log_p_value": 0.1},
        {"log_p_value": math.nan},
        {"p_value_bounds": (0.5, 0.1)},
        {"p_value_bounds": (0.1, 2.0)},
        {"p_value_bounds": 0.1},
        {"anytime_p_value": 1.5},
        {"anytime_p_value": "small"},
        {"redundant": "X1"},
        {"redundant": (1,)},
    ],
    ids=str,
)
def test_what_an_answer_may_not_hold(changes):
    value = next(iter(changes.values()))
    with pytest.raises(PluginError, match=f"returned .*{re.escape(repr(value))}"):
        checked_answer(answer(**changes), 40)


@pytest.mark.parametrize(("given", "expected"), [(-1e-17, 0.0), (1 + 1e-15, 1.0), (0, 0.0), (np.float32(1), 1.0)])
def test_a_p_value_is_outside_its_range_by_rounding(given, expected):
    found = checked_answer(answer(p_value=given), 40)
    assert (found.p_value, type(found.p_value)) == (expected, float)


def test_answers_come_in_types_of_python():
    given = answer(
        statistic=np.float32(2),
        independent=np.True_,
        n=np.int64(40),
        permutations=np.int32(3),
        log_p_value=np.float64(-0.5),
        p_value_bounds=(np.float32(0.25), np.float64(0.5)),
    )
    found = checked_answer(given, 40)
    types = [type(value) for value in (found.statistic, found.independent, found.n, found.permutations)]
    assert types == [float, bool, int, int]
    assert [type(bound) for bound in found.p_value_bounds] == [float, float]
    assert found == given


VERDICT = "the p-value .*True.*: a verdict is no p-value"


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (True, VERDICT),
        (np.True_, VERDICT),
        ((2.0, True), VERDICT),
        ((1.0, 2.0, 3.0), r"the p-value \(1.0, 2.0, 3.0\)"),
        (None, "the p-value None"),
        (math.nan, "the p-value nan"),
        ((math.nan, 0.5), "the statistic nan"),
    ],
    ids=str,
)
def test_a_function_that_returns_no_p_value_is_named_with_the_columns(registry, returned, problem):
    register_ci_test("odd", lambda x, y, z: returned)
    with pytest.raises(PluginError, match=f"^odd: testing 'X1' and 'X3' given 'X2', 'X4': returned {problem}"):
        ci_test(DATA, 2, 0, (1, 3), test="odd")
    with pytest.raises(PluginError, match=rf"^odd: testing 'X\d' and 'X\d' given nothing: returned {problem}"):
        learn(DATA, "iamb+odd")


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        (10**5000, "an object of type int"),
        ("x" * 10**6, f"'{'x' * 159}..."),
        (np.full((2, 2), 0.5), "array([[0.5, 0.5], [0.5, 0.5]])"),
    ],
    ids=["of thousands of digits", "long", "of two lines"],
)
def test_what_came_back_is_shown_in_a_line(registry, returned, shown):
    register_ci_test("odd", lambda x, y, z: returned)
    with pytest.raises(PluginError, match=f"^odd: testing .*: returned the p-value {re.escape(shown)}: it must"):
        ci_test(DATA, 0, 1, test="odd")


def test_a_function_that_raises_is_named_with_the_columns_where_candidates_are_ranked(registry):
    @register_ci_test("raising")
    def raising(x, y, z):
        raise ZeroDivisionError("no rows")

    with pytest.raises(PluginError, match=r"^raising: testing 'X1' and 'X2' given nothing: ZeroDivisionError: no rows"):
        learn(DATA, "iamb+raising", threads=1)
    holes = DATA.values.copy()
    holes[0, 0] = np.nan
    with pytest.raises(PluginError, match=r"^raising: testing 'X1' and 'X2' given nothing: ZeroDivisionError: no rows"):
        learn(holes, "iamb+raising", threads=1, missing="drop-per-test")


EVIDENCE = Evidence((0, 1, (2,)), answer())


@pytest.mark.parametrize(
    ("learned", "problem"),
    [
        (None, "None, not a LearnedGraph"),
        (LearnedGraph(3), "3 as edges"),
        (LearnedGraph([3]), "the pair 3"),
        (LearnedGraph([(0, 1.0)]), "the pair (0, 1.0)"),
        (LearnedGraph([(False, 1)]), "the pair (False, 1)"),
        (LearnedGraph([("X1", "X2")]), "the pair ('X1', 'X2')"),
        (LearnedGraph([], [0]), "[0] as blankets"),
        (LearnedGraph([], {0: 1}), "1 as the blanket of column 0"),
        (LearnedGraph([], {"X1": (1,)}), "the blanket (1,) of column 'X1'"),
        (LearnedGraph([], None, {(0, 9): EVIDENCE}), "the pair (0, 9)"),
        (LearnedGraph([], None, {(0, 2): EVIDENCE}), "the question (0, 1, (2,)) as the evidence of (0, 2)"),
        (LearnedGraph([], None, {(0, 1): answer()}), "as the evidence of (0, 1), not an Evidence"),
        (LearnedGraph([], None, {(0, 1): Evidence((0, 1, (1,)), answer())}), "the question (0, 1, (1,))"),
        (LearnedGraph([], None, {(0, 1): Evidence((0, 1, ()), answer(n=41))}), "n = 41"),
        (LearnedGraph([], details={"path": np.zeros(2)}), "details that JSON does not know"),
    ],
)
def test_what_a_learned_graph_may_not_hold(learned, problem):
    with pytest.raises(PluginError, match=f"^mine: .*{re.escape(problem)}"):
        checked_graph("mine", learned, DATA)


def test_an_edge_between_two_columns_that_are_no_targets():
    checked_graph("mine", LearnedGraph([(0, 1)]), DATA, targets=(1, 2))
    with pytest.raises(PluginError, match=r"^mine: the edge X1 - X4 was joined, but neither end is a target"):
        checked_graph("mine", LearnedGraph([(3, 0)]), DATA, targets=(1, 2))


def test_a_learned_graph_comes_in_plain_column_numbers():
    one, two = np.arange(1, 3)
    found = checked_graph("mine", LearnedGraph([(two, one)], {one: [two]}, {(one, 0): EVIDENCE}), DATA)
    assert found.edges == {(1, 2)}
    assert found.blankets == {1: (2,)}
    assert found.evidence == {(0, 1): EVIDENCE}
    assert {type(i) for pair in found.edges for i in pair} == {int}


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda tester: pickle.loads(pickle.dumps(tester))])
def test_a_tester_that_was_used_can_be_copied(copied):
    tester = Tester(FisherZ(), DATA, Run())
    expected = tester.test(0, 1)
    twin = copied(tester)
    assert twin.answers == {(0, 1, ()): expected}
    assert twin.test(1, 2) == tester.test(1, 2)


# What a stranger's code does besides


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_test_that_leaves_python_is_an_error_with_its_name(registry, jobs):
    @register_ci_test("leaving")
    def leaving(x, y, z):
        sys.exit(3)

    with pytest.raises(PluginError, match=r"leaving: testing 'X1' and 'X2' given nothing: SystemExit: 3"):
        learn(np.random.default_rng(0).random((20, 2)), "pairwise+leaving", jobs=jobs)


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (DataError, ()),
        (DataTypeError, ()),
        (IdentifierError, ()),
        (ParameterError, ("k",)),
        (UnknownNameError, ()),
        (SpecError, ("x", 0)),
        (PluginError, ()),
    ],
)
def test_errors_of_ours_that_a_plugin_raises_name_it_too(registry, error, arguments):
    table = np.random.default_rng(0).random((20, 2))

    @register_ci_test("borrowing")
    def borrowing(x, y, z):
        raise error("not mine", *arguments)

    @register_learner("around")
    def around(dataset, tester):
        return tester.test(0, 1)

    @register_learner("alone")
    def alone(dataset, tester):
        raise error("not mine", *arguments)

    @register_transform("changing")
    def changing(column):
        raise error("not mine", *arguments)

    where = {
        "pairwise+borrowing": "borrowing: testing 'X1' and 'X2' given nothing",
        "around+borrowing": "borrowing: testing 'X1' and 'X2' given nothing",  # the innermost
        "alone+fisher-z": "alone: learning the graph",
        "changing+pairwise+fisher-z": "changing: transforming",
    }
    for spec, place in where.items():
        with pytest.raises(error, match=f"^{place}: not mine"):
            learn(table, spec)
    with pytest.raises(error, match=r"^borrowing: testing .*: not mine"):
        learn(table, "pairwise+borrowing", jobs=2)


def test_what_all_code_shares_is_changed_back(registry, monkeypatch, tmp_path):
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # whatever other tests left

    @register_ci_test("careless")
    def careless(x, y, z):
        np.seterr(all="ignore")
        np.random.seed(0)  # noqa: NPY002 (what strangers use)
        random.seed(0)
        np.set_printoptions(precision=2)
        warnings.simplefilter("ignore")
        os.chdir("/")
        locale.setlocale(locale.LC_ALL, "POSIX" if locale.setlocale(locale.LC_ALL) == "C" else "C")
        sys.setrecursionlimit(777)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        logging.disable(logging.CRITICAL)
        gc.disable()
        logging.root.setLevel(1)
        logging.root.addHandler(logging.NullHandler())
        os.umask(0o077)
        sys.settrace(lambda *given: None)
        sys.setprofile(lambda *given: None)
        sys.setswitchinterval(1.0)
        sys.set_int_max_str_digits(1000)
        sys.stdout, sys.stderr, sys.excepthook, tempfile.tempdir = None, None, print, "/"
        warnings.showwarning = print
        decimal.getcontext().prec = 2
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        return 0.5

    def state():
        (tmp_path / "new").unlink(missing_ok=True)
        return (
            (np.geterr(), np.random.get_state()[1].tolist(), np.get_printoptions()),  # noqa: NPY002
            (random.getstate(), warnings.filters[:], gc.isenabled(), logging.root.manager.disable),
            (Path.cwd(), locale.setlocale(locale.LC_ALL), sys.getrecursionlimit()),
            (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)),
            (signal.pthread_sigmask(signal.SIG_BLOCK, []), decimal.getcontext().prec, tempfile.tempdir),
            (logging.root.level, logging.root.handlers[:], sys.stdout, sys.stderr, sys.excepthook),
            (sys.gettrace(), sys.getprofile(), sys.getswitchinterval(), sys.get_int_max_str_digits()),
            (warnings.showwarning, (tmp_path / "new").touch(), (tmp_path / "new").stat().st_mode),
        )

    before = state()
    learn(np.random.default_rng(0).random((20, 3)), "pairwise+careless", threads=1)
    assert state() == before


def test_what_other_threads_change_meanwhile_stays(registry):
    wanted, done, errors = threading.Event(), threading.Event(), []

    def other():
        wanted.wait(10)
        random.seed(5)
        np.random.seed(5)  # noqa: NPY002
        warnings.filterwarnings("ignore", "of the other thread")
        done.set()

    @register_ci_test("meanwhile")
    def meanwhile(x, y, z):
        wanted.set()
        done.wait(10)
        errors.append(np.geterr()["over"])
        np.seterr(over="ignore")
        return 0.5

    kept = random.getstate(), np.random.get_state(), np.geterr()  # noqa: NPY002
    thread = threading.Thread(target=other)
    unrelated = threading.Event()
    waiting = threading.Thread(target=unrelated.wait, args=(10,))  # runs on when the call ends
    try:
        with warnings.catch_warnings():
            thread.start()
            waiting.start()
            learn(np.random.default_rng(0).random((20, 3)), "pairwise+meanwhile", threads=1)
            assert random.getstate() == random.Random(5).getstate()
            assert np.array_equal(np.random.get_state()[1], np.random.RandomState(5).get_state()[1])  # noqa: NPY002
            assert any(entry[1] and entry[1].pattern == "of the other thread" for entry in warnings.filters)
        assert np.geterr() == kept[2]
        assert set(errors) == {kept[2]["over"]}  # at each question
    finally:
        unrelated.set()
        thread.join()
        waiting.join()
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002


def test_what_a_test_sets_up_once_stays(registry, monkeypatch):
    monkeypatch.setenv("SET_UP", "")
    monkeypatch.setattr(sys, "path", sys.path[:])

    @register_ci_test("lazy")
    def lazy(x, y, z):
        if "ready" not in ready:
            ready.append("ready")
            os.environ["SET_UP"] = "yes"
            sys.path.append("/nowhere")
        return 0.5 if os.environ["SET_UP"] and "/nowhere" in sys.path else 2.0

    ready: list[str] = []
    assert len(learn(np.random.default_rng(0).random((20, 3)), "pairwise+lazy").evidence) == 3


def test_a_working_folder_that_is_gone_is_no_error(registry, tmp_path, monkeypatch):
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").mkdir()
    os.chdir("gone")
    before = random.getstate()

    @register_ci_test("removing")
    def removing(x, y, z):
        random.seed(0)
        os.chdir(tmp_path)
        if (tmp_path / "gone").exists():
            (tmp_path / "gone").rmdir()
        logging.disable(logging.CRITICAL)
        return 0.5

    assert len(learn(np.random.default_rng(0).random((20, 3)), "pairwise+removing").evidence) == 3
    assert (random.getstate(), logging.root.manager.disable) == (before, logging.NOTSET)


class Mute:
    """What came back, and cannot be shown."""

    def __repr__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (KeyboardInterrupt(), "it raised KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (Mute(), "returned the p-value an object of type Mute"),
        (np.ma.masked, "returned the p-value masked"),
        ((np.ma.masked, 0.5), "returned the statistic masked"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_a_test_does_is_an_error_with_its_name(registry, fault, problem):
    @register_ci_test("odd")
    def odd(x, y, z):
        if isinstance(fault, BaseException):
            raise fault
        return fault

    with pytest.raises(PluginError, match=rf"^odd: testing 'X1' and 'X2' given nothing: {problem}"):
        learn(np.random.default_rng(0).random((20, 2)), "iamb+odd", threads=1)


def test_a_blanket_of_what_cannot_be_shown():
    with pytest.raises(PluginError, match=r"^mine: .* the blanket \(1,\) of column an object of type Mute"):
        checked_graph("mine", LearnedGraph([], {Mute(): (1,)}), DATA)


@pytest.mark.parametrize("columns", [(0, 9), (-1, 1), (0, 1, (9,))])
def test_a_learner_that_names_columns_that_do_not_exist(registry, columns):
    @register_learner("lost")
    def lost(dataset, tester):
        tester.test(*columns)
        return []

    with pytest.raises(
        PluginError, match=r"^lost: learning the graph: ValueError: columns .*: there are columns 0 to 1"
    ):
        learn(np.random.default_rng(0).random((20, 2)), "lost+knn-cmi")


@pytest.mark.parametrize("edges", [None, 5, ["a"], [("X1", "Q")], [("X1", "X2", "X2")]], ids=str)
def test_a_function_that_returns_no_edges(registry, edges):
    register_learner("wrong", lambda dataset, tester: edges)
    with pytest.raises(
        PluginError,
        match=rf"^wrong: learning the graph: it returned {re.escape(repr(edges))}, not pairs",
    ):
        learn(np.random.default_rng(0).random((20, 2)), "wrong+fisher-z")


@pytest.mark.parametrize("column", [None, 1.0, np.zeros(3), np.zeros((20, 2)), ["a"] * 20], ids=np.shape)
def test_a_function_that_returns_no_column(registry, column):
    register_transform("wrong", lambda given: column)
    with pytest.raises(PluginError, match=r"(?s)^wrong: transforming: of column 'X1' it returned .*, not an array"):
        learn(np.random.default_rng(0).random((20, 2)), "wrong+iamb+fisher-z")


def test_masked_values_of_a_transform_are_missing(registry):
    register_transform("mask", lambda column: np.ma.masked_greater(column, 0.5))
    with pytest.raises(DataError, match=r"the transform 'mask' makes missing values"):
        learn(np.random.default_rng(0).random((20, 2)), "mask+iamb+fisher-z")


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_test_prints_does_not_mix_with_the_result(registry, tmp_path, capfd, jobs):
    @register_ci_test("talking")
    def talking(x, y, z):
        print("said by the test")  # noqa: T201
        return 0.5

    get_reusable_executor().shutdown()  # workers that are there already write to what was standard error then
    path = tmp_path / "data.csv"
    write_dataset(Dataset.of(np.random.default_rng(0).random((20, 2))), path)
    main(["learn", str(path), "--spec", "pairwise+talking", "--json", "--jobs", str(jobs)], standalone_mode=False)
    shown = capfd.readouterr()
    assert json.loads(shown.out)["spec"].startswith("pairwise+talking")
    assert "said by the test" in shown.err


def test_errors_of_strangers_do_nothing_to_a_terminal(registry):
    @register_ci_test("red")
    def red(x, y, z):
        raise ValueError("\x1b[31mred\x07")

    with pytest.raises(PluginError, match=re.escape(r"ValueError: \x1b[31mred\x07")):
        ci_test(np.random.default_rng(0).random((20, 2)), 0, 1, test="red")
