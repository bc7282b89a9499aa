"""What the compiled module itself promises about its arguments and about being interrupted."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from pyknnmi import _core

POINTS = np.random.default_rng(1).standard_normal((60, 3))
NOTHING = np.empty((60, 0))


def unaligned(values):
    raw = np.zeros(values.nbytes + 1, np.uint8)[1:]
    view = raw.view(np.float64).reshape(values.shape)
    view[...] = values
    return view


def between_other_fields(values):
    records = np.zeros(values.shape, [("value", np.float64), ("flag", np.int32)])
    records["value"] = values
    return records["value"]


@pytest.mark.parametrize("kind", ["f4", ">f8", "i8", "c16", "O", "?"])
def test_other_types_are_refused_and_not_cast(kind):
    with pytest.raises(TypeError, match="x must be an array of float64"):
        _core.entropy(POINTS.astype(kind), 3)


@pytest.mark.parametrize("shape", [(60,), (60, 3, 1), ()])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=f"x must have 2 dimensions, not {len(shape)}"):
        _core.entropy(np.ones(shape), 3)


@pytest.mark.parametrize("layout", [unaligned, between_other_fields])
def test_values_that_cannot_be_read_as_they_lie_are_refused(layout):
    with pytest.raises(ValueError, match="copy it first"):
        _core.entropy(layout(POINTS), 3)
    assert _core.entropy(layout(POINTS).copy(), 3) == _core.entropy(POINTS, 3)


def test_what_is_no_array_is_refused():
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.entropy(POINTS.tolist(), 3)


def test_repeated_rows_of_stride_zero():
    column = np.broadcast_to(np.float64(2.0), (60, 1))
    assert _core.conditional_mutual_information(POINTS[:, :1], column, NOTHING, 3) == 0.0


def test_errors_of_the_library_are_value_errors():
    x, y, z = POINTS[:, :1], POINTS[:, 1:2], POINTS[:, 2:]
    for k in (0, 60):
        with pytest.raises(ValueError, match="k must be at least 1"):
            _core.conditional_mutual_information(x, y, z, k)
    with pytest.raises(ValueError, match="the same number of rows"):
        _core.conditional_mutual_information(x, y[:-1], z, 3)
    with pytest.raises(ValueError, match="threads must be"):
        _core.conditional_mutual_information(x, y, z, 3, threads=-1)
    with pytest.raises(ValueError, match="engine must be"):
        _core.conditional_mutual_information(x, y, z, 3, engine="fast")
    with pytest.raises(ValueError, match="not finite, in row 7, column 0"):
        _core.conditional_mutual_information(x, np.where(np.arange(60) == 7, np.nan, 0)[:, None], z, 3)


TABLE = np.random.default_rng(4).standard_normal((2, 9, 16))
PRIORS = np.ones((1, 16))
REGRESSION = _core.BlockRegression(TABLE, [0, 0], [PRIORS], PRIORS, (0, 1, 2, 3))


@pytest.mark.parametrize("column", [-1, 2, 2**31 - 1])
def test_regressions_on_columns_that_there_are_not(column):
    fit = (0, 0), []
    calls = [
        lambda: REGRESSION.fits([(*fit[:1], [column], [])], 0.0, 0.0, 20, 4),
        lambda: REGRESSION.main_gains([fit], [[column]], 0.0),
        lambda: REGRESSION.pair_scores([fit], [[1]], [[column]]),
        lambda: REGRESSION.pair_scores([fit], [[column]], [[1]]),
        lambda: REGRESSION.without([fit], [column], 0.0, 0.0),
        lambda: REGRESSION.coefficients((column, 0), []),
        lambda: REGRESSION.residual((0, 0), [(column, -1, 0)]),
        lambda: REGRESSION.products([fit], [[fit]], [[column]], [[]], 5),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"there is no column {column}, but 0 to 1"):
            call()


@pytest.mark.parametrize(
    ("target", "term", "what"),
    [
        ((0, 16), (0, -1, 0), "no feature 16"),
        ((0, -1), (0, -1, 0), "no feature -1"),
        ((0, 0), (0, -1, 1), "no prior 1"),
        ((0, 0), (0, -1, -1), "no prior -1"),
        ((0, 0), (0, -2, 0), "no column -2"),
        ((0, 0), (1, 0, 0), "the lower one be first"),
        ((0, 0), (1, 1, 0), "must differ"),
    ],
)
def test_regressions_on_blocks_that_there_are_not(target, term, what):
    with pytest.raises(ValueError, match=what):
        REGRESSION.residual(target, [term])


def test_tables_that_no_regression_is_made_of():
    for features, priors, slots, what in [
        (np.where(TABLE.max() == TABLE, np.nan, TABLE), PRIORS, (0, 1, 2, 3), "features must be finite"),
        (TABLE, -PRIORS, (0, 1, 2, 3), "deviations of priors"),
        (TABLE, PRIORS * np.nan, (0, 1, 2, 3), "deviations of priors"),
        (TABLE, PRIORS[:0], (0, 1, 2, 3), "at least one prior"),
        (TABLE, PRIORS, (0, 1, 2, 16), "no feature 16"),
        (TABLE[:, :, :15], PRIORS, (0, 1, 2, 3), "must have the shape"),
    ]:
        with pytest.raises(ValueError, match=what):
            _core.BlockRegression(features, [0, 0], [priors], PRIORS, slots)
    with pytest.raises(ValueError, match="costs must be numbers"):
        REGRESSION.main_gains([((0, 0), [])], [[1]], np.nan)
    assert len(REGRESSION.products([((0, 0), [(1, -1, 0)])], [[((1, 0), [(1, -1, 0)])]], [[]], [[]], 2**63)[0]) == 2


@pytest.mark.parametrize("engine", ["tree", "single", "batch"])
def test_an_exception_from_poll_comes_out_as_it_is(engine):
    raised = LookupError("enough")

    def poll():
        raise raised

    values = np.random.default_rng(2).standard_normal((2000, 3))
    x, y, z = values[:, :1], values[:, 1:2], values[:, 2:]
    with pytest.raises(LookupError) as caught:
        _core.permutation_test(x, y, z, 3, permutations=10**6, engine=engine, poll=poll)
    assert caught.value is raised


# One long estimate, in which no single step may be long, and a long test.
@pytest.mark.parametrize(("rows", "columns"), [(200_000, 4), (2000, 1)])
def test_an_interrupt_ends_a_call_that_would_take_minutes(interruptible, rows, columns):
    values = np.random.default_rng(3).standard_normal((rows, 3 * columns))
    x, y, z = (values[:, i * columns : (i + 1) * columns] for i in range(3))
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _core.permutation_test(x, y, z, 3, permutations=10**6)
    timer.join()


def test_numbers_of_the_generator():
    # Fisher and Yates on the published words of Philox4x32-10 for key 0 and counter 0: 6627e8d5 e169c58d bc57ac4c.
    expected = [0, 1, 2, 3]
    for left, word in zip((4, 3, 2), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C), strict=True):
        other = word * left >> 32
        expected[left - 1], expected[other] = expected[other], expected[left - 1]
    assert _core.permuted_rows(np.empty((4, 0)), 1).tolist() == [expected]


@pytest.mark.parametrize(("given", "allowed"), [("plain", True), ("avx1024", False)])
def test_the_instruction_set_of_the_environment_is_used_or_an_error(given, allowed):
    code = "import pyknnmi as p; p.mutual_information(range(9), range(9)); print(p.build_info()['instruction_set'])"
    env = {**os.environ, "KNNMI_INSTRUCTION_SET": given}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    if allowed:
        assert done.stdout == "plain\n"
    else:
        assert "ParameterError: the environment variable KNNMI_INSTRUCTION_SET is 'avx1024': unset it" in done.stderr


PERMUTATIONS = """
x, y, z = np.random.default_rng(0).standard_normal((3, 2000, 1))
def call(poll):
    _core.permutation_test(x, y, z, 3, permutations=10**6, poll=poll)
"""
REGRESSIONS = """
features, priors = np.random.default_rng(0).standard_normal((8, 2000, 16)), np.ones((1, 16))
regressions = _core.BlockRegression(features, [0] * 8, [priors], priors, (0, 1, 2, 3))
def call(poll):
    regressions.fits([((0, 0), list(range(8)), [])] * 10**4, 0.0, 0.0, 20, 4, poll=poll)
"""


# A daemon thread, and an ordinary one that Ctrl-C keeps Python from waiting for.
@pytest.mark.parametrize(("calls", "daemon"), [(PERMUTATIONS, True), (PERMUTATIONS, False), (REGRESSIONS, True)])
def test_the_process_ends_while_another_thread_is_in_the_core(calls, daemon):
    code = f"""
import os, signal, threading, numpy as np
from pyknnmi import _core
{calls}
entered = threading.Event()
def work():
    while True:
        call(entered.set)
thread = threading.Thread(target=work, daemon={daemon})
thread.start()
entered.wait()
if not {daemon}:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert ("KeyboardInterrupt" in done.stderr) != daemon


# The work of a point must not grow with k, nor what is held in memory with the permutations.
def test_an_interrupt_is_heeded_at_any_k_and_number_of_permutations():
    x, y, z = np.random.default_rng(3).standard_normal((3, 20_000, 1))
    calls = [
        lambda poll: _core.conditional_mutual_information(x, y, z, len(x) - 1, threads=1, poll=poll),
        lambda poll: _core.permutation_test(x[:50], y[:50], z[:50], 3, permutations=10**8, poll=poll),
    ]
    for call in calls:
        polled = []

        def poll(polled=polled):
            polled.append(time.thread_time())
            if len(polled) == 4:
                raise LookupError

        with pytest.raises(LookupError):
            call(poll)
        assert max(np.diff(polled)) < 1  # CPU seconds of this thread, between looks
