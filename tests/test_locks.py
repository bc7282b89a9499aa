import os
import threading
import warnings

import pytest

from pyknnmi.components import Lock

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def in_child(call):
    """Return whether a call in a child made by fork ends well, within ten seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks among threads
        child = os.fork()
    if child == 0:
        threading.Timer(10, os._exit, [1]).start()
        try:
            call()
        except BaseException:
            os._exit(2)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def test_one_thread_at_a_time():
    lock, entered = Lock(), threading.Event()
    with lock:
        thread = threading.Thread(target=lambda: [lock.__enter__(), entered.set(), lock.__exit__()])
        thread.start()
        assert not entered.wait(0.05)
    assert entered.wait(10)
    thread.join()


def test_a_child_finds_free_what_another_thread_held():
    lock, entered, leave = Lock(), threading.Event(), threading.Event()

    def hold():
        with lock:
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    assert in_child(lock.__enter__)
    leave.set()
    thread.join()


def test_the_thread_that_forked_goes_on_holding_what_it_held():
    lock = Lock()
    with lock:
        child = os.fork()
        if child == 0:
            free = lock._lock.acquire(blocking=False)
            lock.__exit__()
            os._exit(free or not lock._lock.acquire(blocking=False))
        assert os.waitpid(child, 0)[1] == 0
