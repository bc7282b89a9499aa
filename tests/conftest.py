"""What all tests share."""

from __future__ import annotations

import resource
import signal
from contextlib import contextmanager

import hypothesis
import pytest

import pyknnmi.registry.registry
from pyknnmi.registry.registry import default_registry

# The same examples on every run; a slow machine is no failure.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption("--inputs", type=int, default=1000, help="inputs for each door (tests/test_fuzz.py)")
    parser.addoption("--kills", type=int, default=3, help="kills of each way to run (tests/search/test_kills.py)")
    parser.addoption("--fuzz-seed", type=int, default=0, help="which inputs, and when to kill")


@pytest.fixture
def registry():
    """The registry of this process, made anew; what a test registers is gone after it."""
    pyknnmi.registry.registry._registry.cache_clear()
    yield default_registry()
    pyknnmi.registry.registry._registry.cache_clear()


@pytest.fixture
def interruptible():
    """Programs that a test starts can be interrupted, also where the tests themselves run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # one that is ignored is so in children too
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def room():
    """``with room(size)``: no file can grow beyond that many bytes, as on a disk that is nearly full."""

    @contextmanager
    def limited(size):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    return limited
