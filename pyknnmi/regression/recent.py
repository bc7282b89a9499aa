"""Results that are kept for a while, within a bound of memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from pyknnmi.locks import Lock

__all__ = ["Recent"]

T = TypeVar("T")


class Recent(Generic[T]):
    """The most recently used results of a computation, by a key.

    A copy that is sent to another process starts empty.

    Parameters
    ----------
    most : int
        Bytes that the kept results may take together. The latest is kept in any case.
    size : callable
        Returns the bytes that a result takes.
    """

    def __init__(self, most: int, size: Callable[[T], int]) -> None:
        self._most = most
        self._size = size
        self._kept: dict[Hashable, T] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Recent, (self._most, self._size)

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the kept result, or compute it; those that were not used for longest make room for it."""
        with self._lock:
            if key in self._kept:
                self._kept[key] = self._kept.pop(key)
                return self._kept[key]
        result = compute()  # without the lock: two threads may compute the same
        with self._lock:
            self._kept[key] = result
            total = sum(map(self._size, self._kept.values()))
            while total > self._most and len(self._kept) > 1:
                total -= self._size(self._kept.pop(next(iter(self._kept))))
        return result
