"""Inputs that broke other programs in public, each with its right answer.

The values are from brute force in NumPy over the formulas, by other hands (k = 3 unless said); `RandomState` is used
because NumPy has frozen its streams. The levels of the two nulls (D5) are in ``builtin/test_knn_cmi.py``, data frames
with text, categories and missing values (D10) in ``test_columns.py``.
"""

from __future__ import annotations

import math
import multiprocessing
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import oracle
import pytest

from pyknnmi import (
    DataTypeError,
    PyknnmiWarning,
    _core,
    ci_test,
    conditional_mutual_information,
    entropy,
    learn,
    mutual_information,
)
from pyknnmi.numbers import permutation_test

# D1. A kd-tree that prunes by the sum of distances loses neighbours in the max norm.


def test_max_norm_value():
    points = np.random.RandomState(7).standard_normal((2000, 3))
    found = conditional_mutual_information(*points.T, k=5)
    assert found == pytest.approx(-0.0162807397044, abs=1e-12)


@pytest.mark.parametrize("dimensions", range(1, 11))
def test_max_norm_keeps_all_neighbours(dimensions):
    points = np.random.RandomState(7).standard_normal((1000, dimensions))
    assert entropy(points, 5) == pytest.approx(oracle.entropy(points, 5), rel=1e-13)
    if dimensions > 1:
        xyz = points[:, :1], points[:, 1:2], points[:, 2:]
        for engine in ("tree", "auto"):
            counts = _core.neighbor_counts(*xyz, 5, engine)
            assert all(map(np.array_equal, counts, oracle.neighbor_counts(*xyz, 5)))


# D2. Columns of few values: the k-th neighbour lies at distance zero


@pytest.fixture
def tied():
    r = np.random.RandomState(11)
    a = r.randint(0, 4, 200)
    b = (a + r.randint(0, 2, 200)) % 4
    c = r.randint(0, 4, 200)
    return np.column_stack([a, b, c])


@pytest.mark.parametrize(("y", "value", "independent"), [(1, 0.6954453730, False), (2, -0.0630589031, True)])
def test_tied_columns(tied, y, value, independent):
    assert mutual_information(tied[:, 0], tied[:, y], estimator="mixed") == pytest.approx(value, abs=1e-10)
    with pytest.warns(PyknnmiWarning, match=r"in column 'X1' \(100% of the rows\), .* calls for the mixed estimator"):
        answer = ci_test(tied, 0, y)
    assert answer.statistic == pytest.approx(value, abs=1e-10)
    assert answer.independent == independent
    with pytest.warns(PyknnmiWarning, match=r"in column 'X1' \(100% of the rows\), .* biases the ksg estimator"):
        ci_test(tied, 0, y, test="knn-cmi(estimator=ksg)")


# D3. A constant column


@pytest.fixture
def with_constant():
    r = np.random.RandomState(3)
    x = r.standard_normal(150)
    y = x + r.standard_normal(150)
    return np.column_stack([x, y, np.full(150, 7.0)])


def test_constant_in_the_estimators(with_constant):
    x, y, c = with_constant.T
    assert mutual_information(x, c) == pytest.approx(0, abs=1e-12)
    assert conditional_mutual_information(x, y, c) == mutual_information(x, y)
    assert mutual_information(x, y) == pytest.approx(0.2582942289, abs=1e-10)


@pytest.mark.parametrize("test", ["knn-cmi", "fisher-z"])
def test_constant_in_a_test(with_constant, test):
    with pytest.warns(PyknnmiWarning, match="column X3 is constant: it depends on nothing") as caught:
        answer = ci_test(with_constant, "X1", "X3", test=test)
    assert len(caught) == 1
    assert (answer.statistic, answer.p_value, answer.independent) == (0.0, 1.0, True)
    with pytest.warns(PyknnmiWarning, match="column X3 is constant"):
        given = ci_test(with_constant, "X1", "X2", "X3", test)
    without = ci_test(with_constant, "X1", "X2", test=test)
    assert given.redundant == ("X3",)
    assert (given.statistic, given.p_value) == (without.statistic, without.p_value)
    assert not given.independent


def test_constant_in_a_graph(with_constant):
    with pytest.warns(PyknnmiWarning, match="column X3 is constant: it depends on nothing") as caught:
        result = learn(with_constant)
    assert len(caught) == 1
    assert result.graph.edges == (("X1", "X2"),)
    assert result.constant_columns == ("X3",)
    assert result.blankets == {"X1": ("X2",), "X2": ("X1",), "X3": ()}
    rest = learn(with_constant[:, :2])
    assert [pair.answer for pair in result.evidence] == [pair.answer for pair in rest.evidence]


def test_nothing_but_constants():
    with pytest.warns(PyknnmiWarning, match="columns X1, X2 are constant: they depend on nothing"):
        result = learn(np.ones((10, 2)))
    assert result.graph.edges == ()
    assert result.counts == {"tests": 0, "permutations": 0, "scored": 0}


# D4. Duplicated and collinear columns


@pytest.fixture
def collinear():
    r = np.random.RandomState(5)
    x, z = r.standard_normal(100), r.standard_normal(100)
    y = x + r.standard_normal(100)
    return np.column_stack([x, y, z, x, x + z])


NAMES = {"x": "X1", "y": "X2", "z": "X3", "dup": "X4", "s": "X5"}


@pytest.mark.parametrize(
    ("x", "y", "given", "p_value"),
    [
        ("x", "y", "", 7.0998e-19),
        ("x", "y", "dup", 1.0),
        ("y", "x", "z s", 1.0),
        ("y", "z", "x", 0.7668705444),
        ("y", "z", "x dup", 0.7668705444),
    ],
)
def test_collinear_columns_in_fisher_z(collinear, x, y, given, p_value):
    given = [NAMES[name] for name in given.split()]
    answer = ci_test(collinear, NAMES[x], NAMES[y], given, "fisher-z")
    assert answer.p_value == pytest.approx(p_value, rel=1e-5 if p_value < 1e-9 else 1e-10)
    assert answer.redundant == (("X4",) if given == ["X1", "X4"] else ())


def test_a_copy_in_fisher_z(collinear):
    answer = ci_test(collinear, "X1", "X4", test="fisher-z")
    assert math.isfinite(answer.statistic)
    assert 0 < answer.p_value < 1e-300
    assert -1e5 < answer.log_p_value < math.log(1e-300)
    assert not answer.independent


def test_a_copy_in_the_estimators(collinear):
    x, y, _, copy, _ = collinear.T
    assert mutual_information(x, copy) == pytest.approx(3.6773775, abs=1e-7)  # psi(100) - psi(3)
    assert conditional_mutual_information(x, y, copy) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("test", ["fisher-z", "knn-cmi(permutations=39)"])
def test_collinear_columns_in_a_graph(collinear, test):
    with pytest.warns(PyknnmiWarning, match="Columns 'X1' and 'X4' are the same but for their units"):
        result = learn(collinear, f"iamb+{test}")
    assert all(math.isfinite(pair.answer.statistic) for pair in result.evidence)


# D6. A p-value of zero, and ties that do not count


def test_smallest_p_value():
    x = np.random.RandomState(0).standard_normal(50)
    with pytest.warns(
        PyknnmiWarning, match=r"with 19 permutations no p-value is below alpha = 0\.05: give at least 20"
    ):
        answer = ci_test(np.column_stack([x, x]), 0, 1, test="knn-cmi(permutations=19)")
    assert answer.p_value == 0.05
    assert answer.independent, "0.05 is not below 0.05"
    assert ci_test(np.column_stack([x, x]), 0, 1, test="knn-cmi(permutations=20)").p_value == 1 / 21


def test_largest_p_value():
    x = np.random.RandomState(0).standard_normal((50, 1))
    found = permutation_test(x, np.zeros((50, 1)), np.empty((50, 0)), 3, permutations=19)
    assert found.p_value == 1.0


# D7. Same seed, other answer


@pytest.fixture
def six_columns():
    data = np.random.RandomState(21).standard_normal((200, 6))
    data[:, 1] += np.cos(2 * data[:, 0])
    data[:, 2] += data[:, 1]
    return data


def compared(result):
    return result.graph, result.blankets, result.evidence, result.counts


def test_threads_and_runs_agree(six_columns):
    expected = learn(six_columns, seed=1, threads=1)
    for threads in (1, 2, 3, 8):
        assert compared(learn(six_columns, seed=1, threads=threads)) == compared(expected)
        answer = ci_test(six_columns, 0, 1, [2, 3], seed=1, threads=threads)
        assert answer == ci_test(six_columns, 0, 1, [2, 3], seed=1, threads=1)


def test_order_of_questions_and_of_columns_does_not_count(six_columns):
    questions = [(0, 1, ()), (0, 1, (2,)), (4, 2, (1, 5)), (3, 0, (4, 1))]
    forward = [ci_test(six_columns, *question, seed=1) for question in questions]
    backward = [ci_test(six_columns, y, x, z[::-1], seed=1) for x, y, z in reversed(questions)]
    assert forward == backward[::-1]


def test_the_seed_counts(six_columns):
    values = {ci_test(six_columns, 3, 4, test="knn-cmi(screen=none)", seed=seed).p_value for seed in range(5)}
    assert len(values) > 1


def test_the_global_generator_is_left_alone(six_columns):
    np.random.seed(0)  # noqa: NPY002
    expected = np.random.rand(3)  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    learn(six_columns, seed=1, threads=2)
    ci_test(six_columns, 0, 1)
    assert np.random.rand(3).tolist() == expected.tolist()  # noqa: NPY002


# D8. OpenMP after a fork


QUESTION = np.hsplit(np.random.RandomState(4).standard_normal((400, 3)), 3)


def one_test():
    return permutation_test(*QUESTION, 3, permutations=20, threads=2)


def send_one_test(pipe):
    pipe.send(one_test())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
def test_after_a_fork():
    expected = one_test()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=send_one_test, args=(sender,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of threads at a fork: the case at hand
        child.start()
    try:
        assert receiver.poll(30), "the child hangs"
        assert receiver.recv() == expected
    finally:
        child.kill()
        child.join()


def test_in_worker_processes_and_threads():
    expected = one_test()
    task = joblib.delayed(permutation_test)(*QUESTION, 3, permutations=20, threads=2)
    assert joblib.Parallel(n_jobs=2)([task] * 3) == [expected] * 3
    with ThreadPoolExecutor(2) as pool:
        assert [future.result() for future in [pool.submit(one_test) for _ in range(4)]] == [expected] * 4


# D9. Layouts of arrays


def read_only(v):
    v = v.copy()
    v.setflags(write=False)
    return v


LAYOUTS = {
    "C": lambda v: v,
    "Fortran": np.asfortranarray,
    "reversed": lambda v: v[::-1][::-1],
    "strided": lambda v: np.repeat(v, 2, axis=1)[:, ::2],
    "backward": lambda v: v[:, ::-1].copy()[:, ::-1],
    "big-endian": lambda v: v.astype(">f8"),
    "read-only": read_only,
    "list": lambda v: v.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    values = np.random.RandomState(9).standard_normal((300, 3))
    before = values.tobytes()
    given = LAYOUTS[layout](values)
    columns = list(zip(*given, strict=True)) if layout == "list" else given.T
    found = conditional_mutual_information(*columns)
    assert found == pytest.approx(-0.0092120144317, abs=1e-12)
    assert found == conditional_mutual_information(*values.T)
    assert ci_test(given, 0, 1, 2) == ci_test(values, 0, 1, 2)
    assert values.tobytes() == before


def test_memory_map(tmp_path):
    values = np.random.RandomState(9).standard_normal((300, 3))
    np.save(tmp_path / "v.npy", values)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert conditional_mutual_information(*mapped.T) == conditional_mutual_information(*values.T)
    assert ci_test(mapped, 0, 1, 2) == ci_test(values, 0, 1, 2)


def test_float32_is_widened_once():
    values = np.random.RandomState(9).standard_normal((300, 3)).astype(np.float32)
    assert conditional_mutual_information(*values.T) == conditional_mutual_information(*values.astype(float).T)
    assert ci_test(values, 0, 1, 2) == ci_test(values.astype(float), 0, 1, 2)


@pytest.mark.parametrize("kind", [complex, object])
def test_arrays_that_are_no_numbers(kind):
    values = np.random.RandomState(9).standard_normal((300, 3)).astype(kind)
    with pytest.raises(DataTypeError, match="X1, X2, X3"):
        learn(values)
    with pytest.raises(DataTypeError, match=f"x holds {np.dtype(kind)}"):
        mutual_information(values[:, 0], values[:, 1])
