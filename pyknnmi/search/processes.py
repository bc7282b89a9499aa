"""Work in other processes: by joblib, of this machine or what `joblib.parallel_config` set up; or on a cluster."""

from __future__ import annotations

import _thread
import os
import pickle
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
from io import TextIOWrapper
from typing import Any, TypeVar

from pyknnmi.errors import ParameterError, PluginError, StoppedError
from pyknnmi.locks import Lock
from pyknnmi.run import work_elsewhere

__all__ = [
    "WorkerKilledError",
    "are_wanted",
    "each",
    "is_on_cluster",
    "on_cluster",
    "send",
    "sent_so_far",
    "shares_memory",
    "workers",
]

T = TypeVar("T")

_WATCH_SECONDS = 0.5
_CONNECT_SECONDS = 30
_BATCH_SECONDS = 0.5
"""Messages that come faster go together: a worker that is lost takes no more than this much work with it."""
_client: ContextVar[Any] = ContextVar("client", default=None)
_outbox: ContextVar[_Outbox | None] = ContextVar("outbox", default=None)
"""Takes the messages of work on a cluster, where it is done; None where nobody wants them."""


class WorkerKilledError(StoppedError):
    """A worker process was killed.

    Attributes
    ----------
    items : tuple
        What was worked on, by any worker, when that was known.
    """

    def __init__(self, items: Sequence[Any]) -> None:
        shown = ", ".join(map(str, items))
        super().__init__(
            f"a worker process was killed, perhaps since memory ran out, while these were worked on: {shown}; take "
            "fewer jobs, or more memory"
        )
        self.items = tuple(items)

    def __reduce__(self) -> tuple[type[WorkerKilledError], tuple[tuple[Any, ...]]]:
        return type(self), (self.items,)


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Let the work of the block be done by the Dask cluster of this address; by none if it is None.

    Raises
    ------
    ParameterError
        Nobody answers there, or the package is missing.
    """
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise ParameterError(
            "a cluster needs the package distributed: pip install 'pyknnmi[cluster]'", "cluster"
        ) from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ParameterError(
            f"cluster = {address!r}: no Dask scheduler answers there ({error or type(error).__name__}): give an "
            "address such as tcp://10.0.0.1:8786",
            "cluster",
        ) from None
    token = _client.set(client)
    try:
        with work_elsewhere():
            yield
    finally:
        _client.reset(token)
        client.close()


def is_on_cluster() -> bool:
    """Return whether work goes to a cluster, which may share no files with this machine."""
    return _client.get() is not None


def are_wanted(jobs: int) -> bool:
    """Return whether work goes to other processes."""
    return is_on_cluster() or (jobs > 1 and not shares_memory())


def shares_memory() -> bool:
    """Return whether joblib would work in threads of this process, as it does inside its own workers."""
    return bool(getattr(_backend(), "supports_sharedmem", False))


def workers(jobs: int | None) -> int:
    """Return how many workers there are for `jobs`, which may be negative, or None for as many as set up."""
    import joblib

    return int(joblib.effective_n_jobs(jobs))


def send(message: Any) -> None:
    """Send a message, soon, from work on a cluster to the caller of `each`; elsewhere do nothing."""
    if outbox := _outbox.get():
        outbox.put(message)


def sent_so_far() -> list[Any]:
    """Return what work on the same item sent before, on a worker that was lost; nothing where it is the first."""
    outbox = _outbox.get()
    return outbox.sent_before() if outbox else []


class _Outbox:
    """Messages of the work on one item, on their way to the caller and to whoever does the item again."""

    def __init__(self, topic: str, number: int) -> None:
        self._topic, self._own_topic = topic, f"{topic}-{number}"
        self._waiting: list[Any] = []
        self._flushed = time.monotonic()

    def put(self, message: Any) -> None:
        self._waiting.append(message)
        if time.monotonic() - self._flushed >= _BATCH_SECONDS:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            from distributed import get_worker

            get_worker().log_event([self._topic, self._own_topic], pickle.dumps(self._waiting))
            self._waiting = []
        self._flushed = time.monotonic()

    def sent_before(self) -> list[Any]:
        from distributed import get_client

        batches = get_client().get_events(self._own_topic)
        return [message for _, batch in batches for message in pickle.loads(batch)]


def each(
    work: Callable[[Any], T],
    items: Iterable[Any],
    jobs: int | None,
    on_message: Callable[[Any], None] | None = None,
    **options: Any,
) -> Iterator[T]:
    """Yield ``work(item)`` of each item as it is finished; the options are those of `joblib.Parallel`.

    On a cluster `on_message` takes what the work sends on the way, but not the last that it sends before its result.

    Raises
    ------
    WorkerKilledError
        A worker process was killed from outside.
    PluginError
        A worker process cannot load `work`, such as a component of a module that it cannot import.
    """
    if is_on_cluster():
        yield from _on_dask(work, list(items), on_message)
        return
    import joblib

    backend = _backend()
    if not getattr(backend, "supports_return_generator", False):
        raise ParameterError(
            f"joblib's backend {type(backend).__name__} cannot be used, since it gives no result before the last: "
            "take loky, joblib's default, or dask",
            "jobs",
        )
    if type(backend).__name__ == "LokyBackend":
        options = {"initializer": _end_with, "initargs": (os.getpid(),), **options}
    in_flight: dict[int, Any] = {}

    def calls() -> Iterator[Any]:
        for number, item in enumerate(items):
            in_flight[number] = item
            yield joblib.delayed(_numbered)(work, number, item)

    pool = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", **options)
    try:
        for number, found in pool(calls()):
            del in_flight[number]
            yield found
    except BrokenProcessPool as error:
        if type(error).__name__ == "TerminatedWorkerError":
            raise WorkerKilledError(list(in_flight.values())) from None
        reason = str(error.__cause__ or error).strip(' \n"').rpartition("\n")[2]
        raise PluginError(
            f"a worker process cannot load what it is sent ({reason}): put components into a module that every Python "
            "process can import, or take jobs = 1"
        ) from error


def _numbered(work: Callable[[Any], T], number: int, item: Any) -> tuple[int, T]:
    return number, work(item)


def _on_dask(work: Callable[[Any], T], items: Sequence[Any], on_message: Callable[[Any], None] | None) -> Iterator[T]:
    """Yield the results of a cluster: `work`, with the data in it, goes to each worker once, each item is a task.

    What a worker that is lost was at is done again by another.
    """
    from distributed import KilledWorker, as_completed

    client = _client.get()
    with _heard(client, on_message) as topic:
        sent = client.scatter(work, broadcast=True, hash=False)
        futures = {
            client.submit(_apply, sent, item, topic, number, pure=False): item for number, item in enumerate(items)
        }
        try:
            for future, found in as_completed(futures, loop=client.loop, with_results=True):
                if future.cancelled():  # all workers that had the data were killed
                    raise WorkerKilledError([item for future, item in futures.items() if future.cancelled()])
                yield found
                future.release()
        except KilledWorker:
            raise WorkerKilledError([item for future, item in futures.items() if future.status == "error"]) from None
        finally:
            if client.status == "running":
                client.cancel(list(futures))


@contextmanager
def _heard(client: Any, on_message: Callable[[Any], None] | None) -> Iterator[str]:
    """Let `on_message` take what is sent under the topic that is yielded, and nothing that comes after the block.

    The topic is empty where nobody wants it.
    """
    if on_message is None:
        yield ""
        return
    topic = f"pyknnmi-{secrets.token_hex(8)}"
    lock, over = Lock(), False

    def hear(event: tuple[float, bytes]) -> None:
        with lock:
            for message in () if over else pickle.loads(event[1]):
                on_message(message)

    client.subscribe_topic(topic, hear)
    try:
        yield topic
    finally:
        with lock:
            over = True  # the client calls `hear` also after it has unsubscribed, for what was on the way
        if client.status == "running":
            client.unsubscribe_topic(topic)


def _apply(work: Callable[[Any], T], item: Any, topic: str, number: int) -> T:
    outbox = _Outbox(topic, number) if topic else None
    token = _outbox.set(outbox)
    try:
        return work(item)
    except BaseException:
        if outbox:
            outbox.flush()  # what comes out well brings its own messages
        raise
    finally:
        _outbox.reset(token)


def _end_with(parent: int) -> None:
    """End this process soon after its parent, also where the parent was killed.

    What is printed here goes where errors go: the standard output is the parent's, for its result.
    """
    os.dup2(2, 1)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # out at once, also if the worker is killed

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    # Not by `threading`, which counts its threads: code of plugins is cleaned up after where no others run.
    _thread.start_new_thread(watch, ())


def _forget_workers() -> None:
    """Let a child made by fork start workers of its own: it has joblib's, and not the thread that served them."""
    executors: Any = sys.modules.get("joblib.externals.loky.reusable_executor")
    if executors is not None:
        executors._executor = None  # noqa: SLF001 (joblib offers no way)
        executors._executor_lock = threading.RLock()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)


def _backend() -> Any:
    from joblib.parallel import get_active_backend

    return get_active_backend()[0]
