"""Linear algebra on one thread."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread.

    With more it adds up in another order, and answers would depend on the number of threads. More cores are used
    by ``n_jobs``, for several columns at once.
    """
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
