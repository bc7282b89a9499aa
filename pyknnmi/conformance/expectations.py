"""What the checks expect, and the data that they are made on."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from pyknnmi.data.dataset import Dataset
from pyknnmi.protocols.ci_tests import CIResult
from pyknnmi.run import Run

__all__ = [
    "OTHER_ORDER",
    "RUN",
    "require",
    "require_close",
    "require_same",
    "sent_to_a_worker",
    "with_categories",
    "with_holes",
    "without_traces",
]

T = TypeVar("T")

RUN = Run(seed=1, threads=1)
OTHER_ORDER = [3, 1, 0, 2]


def with_categories(data: Dataset) -> Dataset:
    """Return the data with the fourth column cut into three categories."""
    values = data.values.copy()
    values[:, 3] = np.searchsorted(np.quantile(values[:, 3], [1 / 3, 2 / 3]), values[:, 3])
    kinds = tuple("discrete" if i == 3 else kind for i, kind in enumerate(data.kinds))
    return Dataset(values, data.names, kinds)


def with_holes(data: Dataset) -> Dataset:
    """Return the data with a few values missing from two columns."""
    values = data.values.copy()
    values[:5, 0] = values[3:9, 1] = np.nan
    return Dataset(values, data.names, data.kinds, has_missing=True)


def sent_to_a_worker(thing: T, what: str) -> T:
    """Return what another process gets."""
    from joblib.externals.loky.backend.reduction import dumps

    try:
        copied: T = pickle.loads(dumps(thing))
    except Exception as error:
        raise AssertionError(f"the {what} cannot be sent to a worker process: {error}") from error
    return copied


def require_same(answer: CIResult, expected: CIResult, what: str) -> None:
    """Raise an AssertionError unless the answer is the same as before."""
    require(answer == expected, f"{what} gave {answer}, before {expected}")


def require_close(answer: CIResult, expected: CIResult, what: str) -> None:
    """Raise an AssertionError unless the statistic is that of before, up to rounding."""
    close = bool(np.isclose(answer.statistic, expected.statistic, rtol=1e-9, atol=1e-12))
    require(close, f"{what} gave the statistic {answer.statistic}, before {expected.statistic}")


def without_traces(check: Callable[[], object], data: Dataset) -> Callable[[], None]:
    """Return a check that also sees that the data and the settings of NumPy are left as they were."""

    def run() -> None:
        with _left_alone(data):
            check()

    return run


@contextmanager
def _left_alone(data: Dataset) -> Iterator[None]:
    values, state, handling = data.values.copy(), _global_state(), np.geterr()
    try:
        yield
        require(np.array_equal(values, data.values), "the data were written to")
        require(_global_state() == state, "NumPy's global random numbers were used: take run.generator")
        require(np.geterr() == handling, "NumPy's error handling was changed: use numpy.errstate")
    finally:
        np.seterr(**handling)


def _global_state() -> bytes:
    return pickle.dumps(np.random.get_state())  # noqa: NPY002


def require(holds: bool, problem: str) -> None:
    """Raise an AssertionError that says the problem, unless it holds."""
    if not holds:
        raise AssertionError(problem)
