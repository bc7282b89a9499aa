"""Work in worker processes, by joblib: of this machine, or whatever `joblib.parallel_config` has set up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from pyknnmi.errors import ParameterError

__all__ = ["each", "shares_memory", "workers"]

T = TypeVar("T")


def shares_memory() -> bool:
    """Return whether joblib would work in threads of this process, as it does inside its own workers."""
    return bool(getattr(_backend(), "supports_sharedmem", False))


def workers(jobs: int | None) -> int:
    """Return how many workers there are for `jobs`, which may be negative, or None for as many as set up."""
    import joblib

    return int(joblib.effective_n_jobs(jobs))


def each(work: Callable[[Any], T], items: Iterable[Any], jobs: int | None, **options: Any) -> Iterator[T]:
    """Yield ``work(item)`` of each item as it is finished; the options are those of `joblib.Parallel`."""
    import joblib

    backend = _backend()
    if not getattr(backend, "supports_return_generator", False):
        raise ParameterError(
            f"joblib's backend {type(backend).__name__} cannot be used, since it gives no result before the last: "
            "take loky, joblib's default, or dask",
            "jobs",
        )
    pool = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", **options)
    yield from pool(joblib.delayed(work)(item) for item in items)


def _backend() -> Any:
    from joblib.parallel import get_active_backend

    return get_active_backend()[0]
