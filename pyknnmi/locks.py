"""Locks that a child made by fork finds free."""

from __future__ import annotations

import os
import threading
from weakref import WeakSet

__all__ = ["Lock"]


class Lock:
    """A lock for ``with``. In a child made by fork nobody holds it but the thread that forked.

    One of `threading` stays locked there if another thread of the parent held it: that thread does not exist in the
    child, which would wait for ever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder = 0
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()
        self._holder = threading.get_ident()

    def __exit__(self, *error: object) -> None:
        self._holder = 0
        self._lock.release()

    def free(self) -> None:
        """Let go of the lock, unless this thread holds it: in a child there is no other."""
        if self._holder != threading.get_ident():
            self._lock = threading.Lock()


_locks: WeakSet[Lock] = WeakSet()


def _free_all() -> None:
    for lock in _locks:
        lock.free()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_all)
