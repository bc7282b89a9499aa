from __future__ import annotations

import threading

import pytest
import threadpoolctl
from pyknnmi_kernel.one_thread import one_thread


def blas_threads():
    return {info["num_threads"] for info in threadpoolctl.threadpool_info() if info["user_api"] == "blas"}


@pytest.fixture
def two():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("BLAS that keeps to another number of threads")
        yield


def test_in_a_context_and_after_it(two):
    with one_thread():
        with one_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert blas_threads() == {2}


def test_contexts_that_overlap_in_two_threads(two):
    second_is_in, first_is_out = threading.Event(), threading.Event()
    seen = []

    def second():
        with one_thread():
            second_is_in.set()
            first_is_out.wait(10)
            seen.append(blas_threads())

    thread = threading.Thread(target=second)
    with one_thread():
        thread.start()
        assert second_is_in.wait(10)
    first_is_out.set()
    thread.join()
    assert seen == [{1}]
    assert blas_threads() == {2}
