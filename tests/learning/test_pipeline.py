from __future__ import annotations

import inspect
import itertools
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import pyknnmi
from pyknnmi import (
    DataError,
    Dataset,
    ParameterError,
    Pipeline,
    PluginError,
    PyknnmiWarning,
    Run,
    SpecError,
    UnknownNameError,
    ci_test,
    learn,
)
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.builtin.standardize import Standardize
from pyknnmi.components import LearnedGraph, Learner, Transform
from pyknnmi.learning.exports import edges_csv

DATA, TRUTH = pyknnmi.simulate.small_network(200, seed=3)

# Specs


@pytest.mark.parametrize(
    "spec",
    [
        "iamb+fisher-z",
        "iamb(rule=or,exhaustive=true)+knn-cmi(k=5,alpha=0.01,screen=none)",
        "standardize+ranks+nonparanormal(method=truncated)+iamb+fisher-z",
    ],
)
def test_the_full_form_means_the_same(spec):
    pipeline = Pipeline.parse(spec)
    assert Pipeline.parse(str(pipeline)) == pipeline
    assert str(Pipeline.parse(str(pipeline))) == str(pipeline)


def test_parts_of_a_pipeline():
    pipeline = Pipeline.parse("standardize + iamb(rule=or) + fisher-z")
    assert pipeline == Pipeline(IAMB(rule="or"), FisherZ(), (Standardize(),))
    assert pipeline.components() == (Standardize(), IAMB(rule="or"), FisherZ())


@pytest.mark.parametrize(
    ("spec", "problem", "position"),
    [
        ("imb+fisher-z", "there is no component 'imb'; did you mean 'iamb'?", 0),
        ("iamb+fisher-z(alhpa=1)", "fisher-z has no parameter 'alhpa'; did you mean 'alpha'?", 14),
        ("iamb+knn-cmi(k=3, permutations=0)", "knn-cmi: permutations = 0 must be at least 1", 18),
        ("iamb(rule=xor)+fisher-z", "iamb: rule = xor must be one of and, or", 5),
        ("iamb+fisher-z(alpha=2)", "fisher-z: alpha = 2.0 must be between 0 and 1", 14),
        ("iamb", "the learner 'iamb' needs a CI test: write 'iamb+knn-cmi'", 0),
        ("ranks+iamb", "the learner 'iamb' needs a CI test", 6),
        (
            "standardize",
            "a learner is missing: a spec is any wrappers, any transforms, then one learner, then its CI test",
            0,
        ),
        ("knn-cmi+iamb", "'knn-cmi' is a CI test and a learner follows", 0),
        ("iamb+ranks+knn-cmi", "'iamb' is a learner and a transform follows", 0),
        ("ranks+knn-cmi", "'ranks' is a transform and a CI test follows", 0),
        ("iamb+fisher-z+fisher-z", "'fisher-z' is a CI test and a CI test follows", 5),
    ],
)
def test_bad_specs(spec, problem, position):
    with pytest.raises(SpecError) as caught:
        learn(DATA, spec)
    assert problem in caught.value.problem
    assert caught.value.position == position


@dataclass(frozen=True, kw_only=True)
class NoTest(Learner):
    """Joins the first two columns without a test, or tests although it says it would not."""

    name: ClassVar[str] = "no-test"
    uses_test: ClassVar[bool] = False

    tests: bool = False

    def learn(self, dataset, tester, run):
        assert tester.targets == tuple(range(dataset.p))
        return LearnedGraph([(0, 1)] if not self.tests or tester.test(0, 1) else [])


def test_a_learner_without_a_test(registry):
    pyknnmi.register_learner(NoTest)
    result = learn(DATA, "no-test")
    assert result.graph.edges == (("X1", "X2"),)
    assert result.counts == {"tests": 0, "permutations": 0, "scored": 0}
    with pytest.raises(SpecError, match="the learner 'no-test' uses no CI test: leave 'fisher-z' out"):
        learn(DATA, "no-test+fisher-z")
    with pytest.raises(ParameterError, match="leave 'fisher-z' out"):
        Pipeline(NoTest(), FisherZ())
    with pytest.raises(PluginError, match="says uses_test = False, and used a CI test"):
        learn(DATA, "no-test(tests=true)")


def test_a_store_without_a_test(registry, tmp_path):
    pyknnmi.register_learner(NoTest)
    with pytest.raises(ParameterError, match="'no-test' uses no CI test, and a store keeps the answers of one"):
        learn(DATA, "no-test", store=tmp_path / "answers.db")
    assert not list(tmp_path.iterdir())


def returning(result):
    """A learner that returns this, or raises it."""

    @dataclass(frozen=True, kw_only=True)
    class Strange(NoTest):
        """Has a mistake."""

        name: ClassVar[str] = "strange"

        def learn(self, dataset, tester, run):
            if isinstance(result, Exception):
                raise result
            return result

    return Pipeline(Strange())


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (IndexError("none left"), "learning the graph: IndexError: none left"),
        ([(0, 1)], r"learn returned \[\(0, 1\)\], not a LearnedGraph"),
        (LearnedGraph([(0, -1)]), r"learn returned the pair \(0, -1\), not two columns of range\(0, 7\)"),
        (LearnedGraph([(0, 7)]), r"the pair \(0, 7\)"),
        (LearnedGraph([(2, 2)]), r"the pair \(2, 2\)"),
        (LearnedGraph([(0, 1, 2)]), r"the pair \(0, 1, 2\)"),
        (LearnedGraph([], {0: (1, 9)}), r"the blanket \(1, 9\) of column 0, not other columns of range\(0, 7\)"),
        (LearnedGraph([], {3: (3,)}), r"the blanket \(3,\) of column 3"),
    ],
)
def test_a_learner_that_fails_is_named(result, problem):
    with pytest.raises(PluginError, match=f"^strange: .*{problem}"):
        learn(DATA, returning(result))


@pytest.mark.parametrize("spec", [None, 5, IAMB()])
def test_what_is_no_spec(spec):
    with pytest.raises(ParameterError, match=r"spec = .*: give a text such as iamb\+knn-cmi, or a Pipeline"):
        learn(DATA, spec)
    with pytest.raises(ParameterError, match=r"test = .*: give a text such as knn-cmi\(k=5\), or a CITest"):
        ci_test(DATA, 0, 1, test=spec)


# Transforms


@dataclass(frozen=True, kw_only=True)
class Failing(Transform):
    """Has a mistake."""

    name: ClassVar[str] = "failing"

    def apply(self, dataset):
        return dataset[0]


def test_a_transform_that_fails_is_named():
    with pytest.raises(PluginError, match="failing: transforming: TypeError: 'Dataset' object is not subscriptable"):
        Pipeline(IAMB(), FisherZ(), (Failing(),)).learn(DATA)


@dataclass(frozen=True, kw_only=True)
class Returning(Transform):
    """Gives what was laid down."""

    name: ClassVar[str] = "returning"
    result: ClassVar[object] = None

    def apply(self, dataset):
        return self.result


@pytest.mark.parametrize(
    "result",
    [None, np.zeros((200, 7)), Dataset(DATA.values[:9], DATA.names), Dataset(DATA.values, tuple("abcdefg"))],
    ids=["none", "array", "rows", "names"],
)
def test_what_a_transform_may_not_return(monkeypatch, result):
    monkeypatch.setattr(Returning, "result", result)
    with pytest.raises(PluginError, match="the transform 'returning' "):
        Pipeline(IAMB(), FisherZ(), (Returning(),)).learn(DATA)


def test_transforms_work_in_their_order():
    twice = learn(DATA, "ranks+nonparanormal+iamb+fisher-z")
    once = learn(DATA, "nonparanormal+iamb+fisher-z")
    assert twice.evidence == once.evidence, "the nonparanormal transform sees ranks only"
    assert learn(DATA, "nonparanormal+ranks+iamb+fisher-z").evidence != once.evidence


# The result


def test_the_result_says_how_to_repeat_the_run():
    result = learn(DATA, "iamb(rule=or)+knn-cmi(permutations=39)", seed=11)
    again = learn(DATA, result.spec, seed=result.seed)
    assert (again.graph, again.evidence, again.counts) == (result.graph, result.evidence, result.counts)
    assert result.data_sha256 == DATA.sha256
    assert result.shape == (200, 7)
    assert result.seconds > 0
    assert result.versions["numpy"] == np.__version__
    assert result.versions["core"] == pyknnmi.build_info()
    json.dumps(result.versions)


def test_counts():
    result = learn(DATA, "iamb+knn-cmi(permutations=39,screen=none,stop=never)", seed=1)
    assert result.counts["permutations"] == 39 * result.counts["tests"]
    assert result.counts["scored"] >= 6 * 7


def test_evidence_is_what_ci_test_says():
    result = learn(DATA, "iamb+knn-cmi(permutations=59,stop=never)", seed=5)
    assert result.evidence
    for row in result.evidence:
        answer = ci_test(DATA, row.source, row.target, row.given, "knn-cmi(permutations=59,stop=never)", seed=5)
        assert answer == row.answer
    assert [(row.source, row.target) for row in result.edge_evidence()] == list(result.graph.edges)
    assert all(not row.answer.independent for row in result.edge_evidence())


def test_the_printed_result():
    lines = str(learn(DATA, "iamb+fisher-z")).splitlines()
    assert lines[0].split() == ["edge", "statistic", "p-value"]
    assert lines[1].startswith("X")
    assert "edges between 7 columns (200 rows)" in lines[-1]


# What must not change the answer


def compared(result):
    return edges_csv(result), result.blankets, result.counts, result.evidence


@pytest.mark.parametrize("spec", ["iamb+knn-cmi(permutations=79)", "iamb(rule=or)+fisher-z"])
@pytest.mark.parametrize("resources", [{"threads": 2}, {"threads": 3}, {"jobs": 2}, {"jobs": 2, "threads": 1}, {}])
def test_threads_jobs_and_runs(spec, resources):
    expected = learn(DATA, spec, seed=1, threads=1)
    assert compared(learn(DATA, spec, seed=1, **resources)) == compared(expected)


def test_many_quick_searches_in_processes():
    """They travel in batches, and must not see each other's questions."""
    data, _ = pyknnmi.simulate.random_gaussian(200, 40, seed=1)
    expected = learn(data, "iamb+fisher-z", threads=1)
    for _ in range(2):
        assert compared(learn(data, "iamb+fisher-z", jobs=2)) == compared(expected)


def test_order_of_columns():
    spec = "iamb+knn-cmi(permutations=79)"
    expected = learn(DATA, spec, seed=1)
    lines = edges_csv(expected).splitlines()
    for order in ([6, 5, 4, 3, 2, 1, 0], [3, 0, 6, 1, 5, 2, 4]):
        found = learn(DATA.select(order), spec, seed=1)
        assert found.graph.reordered(DATA.names) == expected.graph
        turned = edges_csv(found).splitlines()

        def ends_sorted(line):
            return sorted(line.split(",")[:2]), line.split(",")[2:]

        assert sorted(map(ends_sorted, turned)) == sorted(map(ends_sorted, lines))


def test_further_columns_do_not_change_the_answer_to_a_question():
    alone = ci_test(DATA.select([1, 4]), "X2", "X5", seed=1)
    assert ci_test(DATA, "X2", "X5", seed=1) == alone


def test_the_rules_differ():
    # X3 - X7 is weak: one of the two searches finds it
    both = learn(DATA, "iamb(rule=and)+fisher-z")
    either = learn(DATA, "iamb(rule=or)+fisher-z")
    assert both.blankets == either.blankets
    in_both = {
        (a, b) for a, b in itertools.combinations(DATA.names, 2) if b in both.blankets[a] and a in both.blankets[b]
    }
    in_either = {
        (a, b) for a, b in itertools.combinations(DATA.names, 2) if b in both.blankets[a] or a in both.blankets[b]
    }
    assert in_both < in_either, "this case shows nothing"
    assert set(both.graph.edges) == in_both
    assert set(either.graph.edges) == in_either


def test_the_default_finds_most_of_the_network():
    data, truth = pyknnmi.simulate.small_network(1000, seed=0)
    # the paper's mean over 25 repetitions is 1.08, with a standard error of 0.05
    assert learn(data).graph.hamming(truth) <= 3


# The door


def test_a_column_in_other_units_is_warned_of():
    x, y, z = np.random.default_rng(2).standard_normal((3, 100))
    table = np.column_stack([x, y + x, z, 2.54 * x + 10, -x])
    with pytest.warns(PyknnmiWarning, match="are the same but for their units. .* Leave one out") as caught:
        learn(table, "iamb+fisher-z")
    copies = {name for warning in caught for name in ("X1", "X4", "X5") if f"'{name}'" in str(warning.message)}
    assert (len(caught), copies) == (1, {"X1", "X4", "X5"})
    learn(np.column_stack([x, x + 0.2 * z, y]), "iamb+fisher-z")  # near, and no copy: the rows have another order
    with pytest.warns(PyknnmiWarning, match="too few"):  # and of two rows that is the only warning
        learn(table[:2], "iamb+fisher-z")


def test_data_that_cannot_be_learned_from():
    with pytest.raises(DataError, match="the data have one column, 'X1': a network needs two"):
        learn(np.arange(10.0)[:, None])
    with pytest.raises(DataError, match="3 rows are too few for k = 3: give at least 4"):
        learn(np.random.default_rng(0).standard_normal((3, 2)))
    with pytest.raises(DataError, match=r"missing values \(NaN\) in column 'X2'"):
        learn([[1.0, np.nan], [2.0, 3.0]])


def test_bad_questions():
    with pytest.raises(UnknownNameError, match="there is no column 'X8'"):
        ci_test(DATA, "X1", "X8")
    with pytest.raises(UnknownNameError, match="there is no column number 7"):
        ci_test(DATA, 0, 1, 7)
    with pytest.raises(DataError, match="X1"):
        ci_test(DATA, "X1", 0)
    with pytest.raises(DataError, match=r"X2.* in the conditioning set too"):
        ci_test(DATA, "X1", "X2", ["X2"])
    with pytest.raises(SpecError, match="expected one CI test"):
        ci_test(DATA, 0, 1, test="iamb")
    with pytest.raises(SpecError, match="expected one CI test"):
        ci_test(DATA, 0, 1, test="iamb+fisher-z")


def test_names_numbers_and_numpy_numbers():
    expected = ci_test(DATA, "X1", "X2", ["X3"], "fisher-z")
    assert ci_test(DATA, 0, 1, 2, "fisher-z") == expected
    assert ci_test(DATA, np.int64(0), np.int64(1), np.array([2]), "fisher-z") == expected
    assert ci_test(DATA, 0, 1, np.int64(2), "fisher-z") == expected
    assert ci_test(DATA, 0, 1, ["X3", 2, "X3"], FisherZ()) == expected
    assert ci_test(DATA, 0, 1, None, "fisher-z") == ci_test(DATA, 0, 1, test="fisher-z")


def test_a_path_is_read(tmp_path):
    path = tmp_path / "data.csv"
    pyknnmi.data.files.write_dataset(DATA, path)
    assert learn(path, "iamb+fisher-z").data_sha256 == DATA.sha256
    assert ci_test(str(path), 0, 1, test="fisher-z") == ci_test(DATA, 0, 1, test="fisher-z")


def line_of(text):
    lines, start = inspect.getsourcelines(test_warnings_point_at_the_caller)
    return start + next(i for i, line in enumerate(lines) if text in line and "line_of" not in line)


def test_warnings_point_at_the_caller():
    values = np.column_stack([DATA.values[:, :2], np.ones(200)])
    with pytest.warns(PyknnmiWarning, match="constant") as caught:
        learn(values, "iamb+fisher-z")
    with pytest.warns(PyknnmiWarning, match="constant") as caught_too:
        ci_test(values, 0, 2)
    found = [(w[0].filename, w[0].lineno) for w in (caught, caught_too)]
    calls = ("        learn(values", "        ci_test(values")
    assert found == [(__file__, line_of(call)) for call in calls]


# Stopping


INTERRUPTED = """
import os, signal, threading, pyknnmi
data, _ = pyknnmi.simulate.small_network(4000, seed=1)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    # the first test takes many minutes
    pyknnmi.learn(data, "iamb+knn-cmi(permutations=100000,screen=none)", {resources})
except KeyboardInterrupt:
    print("ended")
"""


@pytest.mark.parametrize("resources", ["threads=1", "threads=2"])
def test_ctrl_c_ends_a_long_run(interruptible, resources):
    code = INTERRUPTED.format(resources=resources)
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "ended\n"


def test_an_error_in_the_progress_callback_ends_the_run():
    def raising(progress):
        raise KeyError("enough")

    for threads in (1, 2):
        with pytest.raises(KeyError, match="enough"):
            learn(DATA, "iamb+fisher-z", progress=raising, threads=threads)


def test_an_error_in_the_progress_callback_while_orienting():
    def raising(progress):
        calls.append(progress)
        if len(calls) == last:
            raise KeyError("enough")

    calls, last = [], 0
    learn(DATA, "pc-stable+fisher-z", orient=True, progress=raising)
    calls, last = [], len(calls)
    with pytest.raises(KeyError, match="enough"):
        learn(DATA, "pc-stable+fisher-z", orient=True, progress=raising)


def test_a_run_can_be_used_again():
    run = Run(seed=1, threads=2)
    pipeline = Pipeline.parse("iamb+knn-cmi(permutations=39)")
    assert pipeline.learn(DATA, run).evidence == pipeline.learn(DATA, run).evidence
