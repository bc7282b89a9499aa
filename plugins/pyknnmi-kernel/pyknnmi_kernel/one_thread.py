"""Linear algebra on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl

from pyknnmi.components import Lock

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """Return a context in which BLAS uses one thread.

    With more it adds up in another order, and answers would depend on the number of threads. More cores are used
    by ``jobs``, for several columns at once.
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


class _Limit:
    """The limit of the whole process: who comes first sets it, and who leaves last restores what was there."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._controller: Any = None
        self._limiter: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                self._controller = self._controller or threadpoolctl.ThreadpoolController()
                _free_control()
                self._limiter = self._controller.limit(limits=1, user_api="blas")
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                _free_control()
                self._limiter.restore_original_limits()
                _free_control()


def _free_control() -> None:
    """Let any thread change the limit of OpenBLAS; from threadpoolctl 3.8 on only the one that set it can, else."""
    free = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if free is not None:
        free(force=True)


_limit = _Limit()
