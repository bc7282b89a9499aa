"""A run: its seed, and what may change how long it takes but never its answer."""

from __future__ import annotations

import hashlib
import math
import operator
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pyknnmi.errors import DataError, ParameterError, PyknnmiError, StoppedError, is_silent, warn

__all__ = ["Progress", "ProgressError", "Run", "check_memory", "work_elsewhere"]

_elsewhere: ContextVar[bool] = ContextVar("elsewhere", default=False)


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    done, total : int
        Columns finished and in all, in the present phase; some learners have several.
    tests : int
        Conditional independence tests made so far.
    """

    done: int
    total: int
    tests: int


class ProgressError(PyknnmiError):
    """Carries an exception of the user's `progress` past the learner, so that it is not reported as the learner's."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(eq=False)
class _Stop:
    """Whether to stop. An event of `threading` has a lock, which a child made by fork could find taken."""

    wanted: bool = False


@dataclass(frozen=True)
class Run:
    """The seed and the resources of one run.

    Attributes
    ----------
    seed : int, 0 to 2**64 - 1
        Fixes every random choice of the run.
    threads : int
        Threads in all; 0 uses every core. There are never more than the cores that this process may use, unless a
        cluster does the work.
    jobs : int
        Worker processes over columns; 1 stays in this process, -1 uses one for each core.
    progress : callable, optional
        Called with a `Progress` as the run goes on. Stays behind when a run is sent to a worker.
    """

    seed: int = 0
    threads: int = 0
    jobs: int = 1
    progress: Callable[[Progress], None] | None = field(default=None, compare=False)
    _stops: tuple[_Stop, ...] = field(default_factory=lambda: (_Stop(),), init=False, repr=False, compare=False)
    _warned: dict[Hashable, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("seed", "threads", "jobs"):
            given = getattr(self, name)
            try:
                if isinstance(given, bool):
                    raise TypeError
                object.__setattr__(self, name, operator.index(given))
            except TypeError:
                raise ParameterError(f"{name} = {given!r}: give a whole number", name) from None
        if not 0 <= self.seed < 2**64:
            raise ParameterError(f"seed = {self.seed}: give a whole number from 0 to 2**64 - 1")
        if self.threads < 0:
            raise ParameterError(f"threads = {self.threads}: give 0 for all cores, or a positive number")
        if self.jobs < 1 and self.jobs != -1:
            raise ParameterError(f"jobs = {self.jobs}: give a positive number, or -1 for all cores")

    def __reduce__(self) -> tuple[type[Run], tuple[int, int, int]]:
        return Run, (self.seed, self.threads, self.jobs)

    def part(self) -> Run:
        """Return a child run. Stopping this run stops the child; stopping the child leaves this run alone."""
        part = replace(self)
        object.__setattr__(part, "_stops", (*self._stops, _Stop()))
        return part

    def report(self, progress: Progress) -> None:
        """Call `progress`, if there is one. What that raises comes as a `ProgressError`: it is no learner's."""
        if self.progress:
            try:
                self.progress(progress)
            except Exception as error:
                raise ProgressError(error) from error

    def stop(self) -> None:
        """Let all work of this run, in other threads too, end soon."""
        self._stops[-1].wanted = True

    def resume(self) -> None:
        """Take back `stop`, once all work has ended."""
        self._stops[-1].wanted = False

    def poll(self) -> None:
        """Raise `StoppedError` if the run was stopped. For long calculations to call now and then."""
        if any(stop.wanted for stop in self._stops):
            raise StoppedError("the run was stopped")

    def warn_once(self, topic: Hashable, message: str) -> None:
        """Warn, unless this run has warned of the same topic before: for warnings that many questions would repeat."""
        if self.is_new(topic):
            self.warn_about([topic], message)

    def warn_about(self, topics: Iterable[Hashable], message: str) -> None:
        """Warn of topics, of which one or more were new: another process of the run may warn of them as well."""
        self._warned.update(dict.fromkeys(topics, message))
        warn(message)

    def topics_of(self, message: str) -> tuple[Hashable, ...]:
        """Return the topics that a warning was about; the message itself where there were none."""
        return tuple(topic for topic, shown in self._warned.items() if shown == message) or (message,)

    def is_new(self, topic: Hashable) -> bool:
        """Return whether this run has not warned of a topic before; from now on it has, unless warnings are silent."""
        mine = object()
        return not is_silent() and self._warned.setdefault(topic, mine) is mine  # one step, also among threads

    @property
    def workers(self) -> int:
        """Number of worker processes."""
        return cores() if self.jobs == -1 else self.jobs

    @property
    def threads_per_job(self) -> int:
        """Number of threads in each worker process, so that all together do not use more than `threads`."""
        threads = self.threads or cores()
        return max(1, (threads if _elsewhere.get() else min(threads, _most_threads()[0])) // self.workers)

    def warn_of_fewer_threads(self) -> None:
        """Warn if fewer threads will be used than were wanted, and say what limits them."""
        most, limit = _most_threads()
        if self.threads > most and not _elsewhere.get():
            message = f"threads = {self.threads}: {limit}, so {most} will be used; the answers are the same"
            self.warn_once("threads", message)

    def stream(self, x: str, y: str, z: Sequence[str]) -> int:
        """Return the number (below 2**64) of the random stream of a test.

        It depends on the names alone, so an answer depends neither on the order of the columns nor on what was
        tested before. The order of the names in `z` does not count.
        """
        digest = hashlib.blake2b(digest_size=8)
        for name in (x, y, *sorted(z)):
            encoded = name.encode()
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
        return int.from_bytes(digest.digest(), "little")

    def generator(self, x: str, y: str, z: Sequence[str]) -> np.random.Generator:
        """Return NumPy's generator for a test: the same for the same seed and names, anywhere."""
        return np.random.Generator(np.random.Philox(key=np.array([self.seed, self.stream(x, y, z)], dtype=np.uint64)))


@contextmanager
def work_elsewhere() -> Iterator[None]:
    """Let the runs of the block have as many threads as are wanted: other machines work, and may have more cores."""
    token = _elsewhere.set(True)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def check_memory(needed: float, what: str, way_out: str) -> None:
    """Raise an error before memory is taken that is not there, where the system reports how much is free.

    Parameters
    ----------
    needed : float
        The bytes that will be taken at a time.
    what : str
        What needs them, for the message.
    way_out : str
        What the user can do, for the message.

    Raises
    ------
    DataError
        More is needed than is free.

    Examples
    --------
    >>> from pyknnmi.components import check_memory
    >>> check_memory(8.0 * 100**2, "the kernel matrix of 100 rows", "take fewer rows")
    """
    if needed < _LITTLE:
        return
    free = _free_memory()
    if free is not None and needed > free:
        raise DataError(f"{what} needs {needed / 1e9:.3g} GB of memory, and {free / 1e9:.3g} GB are free: {way_out}")


_LITTLE = 2**26  # bytes that are always taken: looking up what is free costs more than a small calculation


def _free_memory() -> int | None:
    """Return what can be had without swapping, as Linux and the limits of this process say; None elsewhere."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        sizes = dict(line.split(":", 1) for line in lines)
        free = 1024 * int(sizes["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return None
    return max(0, min([free, _left_of_address_space(), *map(_left_of_container, _containers())]))


def _left_of_address_space() -> int:
    """Return what `ulimit -v` leaves, as batch systems set it; very much where it is not set."""
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return sys.maxsize
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return most - pages * resource.getpagesize()


def _left_of_container(container: Path) -> int:
    """Return what a container may still take; very much where it has no limit."""
    try:
        most, used = (int((container / name).read_text(encoding="ascii")) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):  # no container, or no limit, which is written "max"
        return sys.maxsize
    return most - used + _cached_files(container)


def _cached_files(container: Path) -> int:
    """Return the bytes of files that a container keeps in memory: they count as used, and are given up when needed."""
    try:
        lines = (container / "memory.stat").read_text(encoding="ascii").splitlines()
        sizes = dict(line.split() for line in lines)
        return int(sizes["inactive_file"]) + int(sizes["active_file"])
    except (OSError, KeyError, ValueError):
        return 0


def cores() -> int:
    """Return how many cores this process may use: those that it is bound to, or the share that its container has."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min([bound, *map(_cores_of_container, _containers())])))


_CONTAINER = Path("/sys/fs/cgroup")


def _containers() -> list[Path]:
    """Return the folders of the control groups that this process is in, from its own outwards."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return [_CONTAINER]
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    inner = _CONTAINER / own
    return [inner, *(folder for folder in inner.parents if folder.is_relative_to(_CONTAINER))]


def _cores_of_container(container: Path) -> float:
    """Return the limit that Linux sets on a container's time, in cores; infinity where there is none."""
    try:
        quota, period = (container / "cpu.max").read_text(encoding="ascii").split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # no container, or no limit, which is written "max"
        return math.inf


def _most_threads() -> tuple[int, str]:
    """Return how many threads may be used, and what limits them."""
    bound = cores()
    limits = [(bound, f"this process may use {bound} cores")]
    given = os.environ.get("OMP_THREAD_LIMIT", "")
    if given.isdecimal() and int(given) > 0:
        limits.append((int(given), f"OMP_THREAD_LIMIT is {given}"))
    return min(limits)
