"""Spreading work over the cores: in worker processes, in threads, or one item after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import Any, TypeVar

from pyknnmi.run import Run
from pyknnmi.search import processes

__all__ = ["each"]

T = TypeVar("T")
Work = Callable[[int], T]


def each(
    work: Work[T],
    items: Sequence[int],
    run: Run,
    *,
    for_threads: Callable[[], Work[T] | None],
    for_processes: Callable[[], Work[T]],
    on_message: Callable[[Any], None] | None,
) -> Iterator[T]:
    """Yield what comes out for each item as it is finished.

    With ``jobs`` this is in processes. Else it is in threads, if the work is made for them and there are items enough
    to keep them busy. Else it is one item after another.

    Parameters
    ----------
    work : callable
        Works on one item, in this thread.
    items : sequence of int
    run : Run
    for_threads : callable
        Returns the work in a form that several threads may call at a time, or None if there is none.
    for_processes : callable
        Returns the work in a form that can be sent to another process.
    on_message : callable, optional
        Takes what work on a cluster sends on the way, by `processes.send`; nothing is sent without it.
    """
    threads = run.threads_per_job
    if processes.are_wanted(run.workers):
        yield from processes.each(for_processes(), items, run.workers, on_message)
    elif threads > 1 and 2 * threads <= len(items) and (shared := for_threads()):
        yield from _in_threads(shared, items, threads, run)
    else:
        yield from map(work, items)


def _in_threads(work: Work[T], items: Sequence[int], threads: int, run: Run) -> Iterator[T]:
    with ThreadPoolExecutor(threads) as pool:
        # Each in a copy of the context, which holds the list that collects the warnings of the run.
        futures = [pool.submit(copy_context().run, work, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:  # also raised when the learner stops before the end
            run.stop()
            pool.shutdown(cancel_futures=True)
            run.resume()
            raise
