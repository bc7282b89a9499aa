"""Results that are worth keeping for a while."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memo(Generic[T]):
    """The most recently used results of a computation, by a key. Unlike `functools.lru_cache` it can be pickled."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[Hashable, T] = {}

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the kept result, or compute and keep it in place of the one that was not used for longest."""
        result = self._kept.pop(key) if key in self._kept else compute()
        self._kept[key] = result
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return result
