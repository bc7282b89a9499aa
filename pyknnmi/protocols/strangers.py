"""What the code of plugins may do to the process: what it changes is changed back, and Ctrl-C stays Ctrl-C."""

from __future__ import annotations

import decimal
import gc
import locale
import logging
import os
import random
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import numpy as np

from pyknnmi.errors import PluginError

__all__ = ["global_state_kept", "interrupts_told_apart"]


def _working_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 (a path takes longer than the call, and this is for each question)
    except OSError:  # it is gone
        return None


def _set_working_folder(folder: str | None) -> None:
    if folder is not None:
        with suppress(OSError):  # the stranger removed it
            os.chdir(folder)


def _set_filters(filters: list[Any]) -> None:
    warnings.filters[:] = filters  # type: ignore[index]
    warnings._filters_mutated()  # type: ignore[attr-defined]  # noqa: SLF001 (as catch_warnings does)


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


def _attribute(module: Any, name: str) -> tuple[Callable[[], Any], Callable[[Any], object]]:
    return lambda: getattr(module, name), lambda value: setattr(module, name, value)


def _set_decimal(settings: tuple[int, str]) -> None:
    decimal.getcontext().prec, decimal.getcontext().rounding = settings


_SHARED: tuple[tuple[Callable[[], Any], Callable[[Any], object]], ...] = (
    (np.get_printoptions, lambda options: np.set_printoptions(**options)),
    (random.getstate, random.setstate),
    (lambda: warnings.filters[:], _set_filters),
    (_working_folder, _set_working_folder),
    (lambda: locale.setlocale(locale.LC_ALL), lambda name: locale.setlocale(locale.LC_ALL, name)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (gc.isenabled, lambda enabled: gc.enable() if enabled else gc.disable()),
    (lambda: logging.root.manager.disable, logging.disable),
    (lambda: logging.root.level, logging.root.setLevel),
    (lambda: logging.root.handlers[:], lambda handlers: logging.root.handlers.__setitem__(slice(None), handlers)),
    (lambda: (decimal.getcontext().prec, decimal.getcontext().rounding), _set_decimal),
    (_umask, os.umask),
    (sys.gettrace, sys.settrace),
    (sys.getprofile, sys.setprofile),
    (sys.getswitchinterval, sys.setswitchinterval),
    (sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    *(_attribute(sys, name) for name in ("stdout", "stderr", "excepthook")),
    _attribute(warnings, "showwarning"),
    _attribute(tempfile, "tempdir"),
)
"""State that all code in the process shares, apart from signals: how it is read, and how it is set.

Environment variables and import paths are a plugin's own: what it sets up once, on first use, must stay.
"""
_SIGNALS = signal.SIGINT, signal.SIGTERM


@contextmanager
def global_state_kept() -> Iterator[None]:
    """Change back what the block changes of state that all code in the process shares.

    Where other threads run, that is NumPy's error handling and the handlers of signals alone: the rest may be what they
    changed.
    """
    before = _shared() if _is_alone() else None
    blocked = _blocked()
    handlers = [signal.getsignal(number) for number in _SIGNALS]
    try:
        with np.errstate(call=np.geterrcall()):  # type: ignore[arg-type]  # it may be None; each thread has its own
            yield
    finally:
        if before is not None and _is_alone():
            _change_back(*before)
        if threading.current_thread() is threading.main_thread():  # handlers can be set in no other
            for number, handler in zip(_SIGNALS, handlers, strict=True):
                if handler is not None and signal.getsignal(number) is not handler:
                    signal.signal(number, handler)
            _unblock(blocked)


def _blocked() -> set[Any]:
    """Return the signals that this thread does not take at present."""
    return signal.pthread_sigmask(signal.SIG_BLOCK, ()) if hasattr(signal, "pthread_sigmask") else set()


def _unblock(blocked: set[Any]) -> None:
    """Take all signals again but those that were blocked before."""
    if more := _blocked() - blocked:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, more)


def _shared() -> tuple[Any, list[Any]]:
    return np.random.get_state(), [read() for read, _ in _SHARED]  # noqa: NPY002 (what strangers use)


def _change_back(drawn: Any, values: list[Any]) -> None:
    np.random.set_state(drawn)  # noqa: NPY002 (as fast as a look whether it changed)
    for (read, change), value in zip(_SHARED, values, strict=True):
        if read() != value:
            change(value)


def _is_alone() -> bool:
    return threading.active_count() == 1 and threading.current_thread() is threading.main_thread()


@contextmanager
def interrupts_told_apart(where: Callable[[], str]) -> Iterator[None]:
    """Let a `KeyboardInterrupt` out of the block only if somebody pressed Ctrl-C; a stranger's own is our error."""
    before, pressed = signal.getsignal(signal.SIGINT), False
    # Python runs handlers in the main thread alone, so elsewhere there is nothing to tell apart.
    can_be_pressed = threading.current_thread() is threading.main_thread() and callable(before)

    def note(signum: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        if callable(before):
            before(signum, frame)

    if can_be_pressed:
        signal.signal(signal.SIGINT, note)
    try:
        yield
    except KeyboardInterrupt as error:
        if pressed:
            raise
        raise PluginError.of(where(), "it raised KeyboardInterrupt") from error
    finally:
        if can_be_pressed and signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, before)
