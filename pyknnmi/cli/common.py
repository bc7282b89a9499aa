"""What the commands share: errors in one line, files, progress, plugins' commands."""

from __future__ import annotations

import errno
import importlib
import importlib.metadata
import io
import math
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pyknnmi.errors import PyknnmiError, PyknnmiWarning, Terminated, printable

if TYPE_CHECKING:
    from pyknnmi.run import Progress

__all__ = ["CommandGroup", "Failure", "OutPath", "progress_bar", "progress_line", "time_left", "writing"]

_TEXT_WIDTH = 40
_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class Failure(click.ClickException):
    """An error for the user: one line, and exit code 2."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class OutPath(click.Path):
    """The path of something to write; an empty one, as of a variable that is not set, would be the folder here."""

    def __init__(self, **kinds: bool) -> None:
        super().__init__(path_type=Path, **kinds)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


class CommandGroup(click.Group):
    """The commands by section, imported when they are used, and those that plugins add.

    Turns the package's errors into one line and exit code 2.

    Parameters
    ----------
    sections : mapping of str to sequence of (str, str, str)
        Under each heading the names of commands, their modules in this room, and what the help says of them.
    """

    _plugins_are_loaded = False

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[tuple[str, str, str]]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections
        self._modules = {name: module for entries in sections.values() for name, module, _ in entries}

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command line. A warning is one line, and SIGTERM ends the run as tidily as an interrupt does."""
        warnings.showwarning = _show_warning
        with _sigterm_raises():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except (PyknnmiError, PyknnmiWarning) as error:  # the latter where warnings are made errors
            raise Failure(str(error)) from error
        except MemoryError as error:
            what = f" ({error})" if str(error) else ""
            raise Failure(f"memory ran out{what}: give fewer rows, columns or jobs") from error
        except ValueError as error:
            if "null" not in str(error):  # in a path, as the operating system refuses it
                raise
            raise Failure(f"a name of a file holds a null character ({error})") from error
        except OSError as error:
            if error.filename is not None:
                raise Failure(f"cannot use '{error.filename}': {error.strerror}") from error
            if error.errno not in _OF_THE_DISK:
                raise
            _drop_unwritten_output()
            raise Failure(f"cannot write: {error.strerror}") from error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; those of plugins are looked for after the package's own."""
        if cmd_name in self._modules:
            self._import(cmd_name)
        elif cmd_name not in self.commands:
            self._load_plugins()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, those of plugins last."""
        plugins = importlib.metadata.entry_points(group="pyknnmi")
        if any(not plugin.value.startswith("pyknnmi.") for plugin in plugins):  # our own have no commands
            self._load_plugins()
        return [*self._modules, *sorted(self.commands.keys() - self._modules.keys())]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings."""
        names = self.list_commands(ctx)
        for heading, entries in self._sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name, text) for name, _, text in entries])
        if theirs := [name for name in names if name not in self._modules]:
            with formatter.section("Of plugins"):
                formatter.write_dl([(name, self.commands[name].get_short_help_str()) for name in theirs])

    def _import(self, name: str) -> None:
        if name not in self.commands:
            module = importlib.import_module(f"pyknnmi.cli.{self._modules[name]}")
            self.add_command(getattr(module, name))

    def _load_plugins(self) -> None:
        if self._plugins_are_loaded:
            return
        self._plugins_are_loaded = True
        from pyknnmi.registry.registry import default_registry

        for name in self._modules:  # so that a plugin cannot take its name
            self._import(name)
        default_registry().add_commands(self)


def _drop_unwritten_output() -> None:
    """Discard output that could not be written: Python's flush at its end would raise a second error."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = io.StringIO()


@contextmanager
def _sigterm_raises() -> Iterator[None]:
    """Let SIGTERM, which schedulers send, raise SystemExit: what goes on in worker processes is stopped then, too."""
    if threading.current_thread() is not threading.main_thread():  # Python handles signals in the main thread only
        yield
        return

    def end(signum: int, frame: object) -> None:
        signal.signal(signum, signal.SIG_IGN)  # `timeout` sends two: the second must not interrupt the tidying up
        raise Terminated(128 + signum)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)  # None if the handler was not set from Python


@contextmanager
def writing() -> Iterator[None]:
    """Turn an error of the file system into a `Failure` that names the file."""
    try:
        yield
    except OSError as error:
        if error.filename is None:  # a full disk (see `CommandGroup`), a closed pipe or the network
            raise
        raise Failure(f"cannot write '{error.filename}': {error.strerror}") from None


@contextmanager
def progress_line(log_seconds: float = math.inf) -> Iterator[Callable[[int, int, str], None]]:
    """Yield ``show(done, total, text)``: it draws a line on a terminal, and elsewhere logs one every `log_seconds`."""
    terminal = sys.stderr is not None and sys.stderr.isatty()  # None if it was closed
    last = time.monotonic()

    def show(done: int, total: int, text: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < (0.1 if terminal else log_seconds):
            return
        last = now
        if terminal:
            filled = 30 * done // total
            text = f"\r[{'#' * filled}{'-' * (30 - filled)}] {done}/{total} {text:<{_TEXT_WIDTH}}"
            click.echo(text, nl=False, err=True)
        else:
            click.echo(f"{done}/{total} {text}", err=True)

    try:
        yield show
    finally:
        if terminal:
            click.echo(f"\r{'':78}\r", nl=False, err=True)


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None]]:
    """Yield a callback that shows the progress of one run on a terminal, with the time taken or left."""
    phase_began, done = time.monotonic(), 0

    with progress_line() as show:

        def report(progress: Progress) -> None:
            nonlocal phase_began, done
            now = time.monotonic()
            if progress.done < done:
                phase_began = now
            done = progress.done
            times = time_left(done, progress.total, now - phase_began)
            show(done, progress.total, f"columns, {progress.tests} tests, {times}")

        yield report


def time_left(done: int, total: int, seconds: float) -> str:
    """Return in words how long the rest takes if it goes on as it went; while none is done, the time taken.

    In a graph it is the most that is left: the later columns find some of their questions answered.
    """
    if not 0 < done < total:
        return f"{seconds:.0f} s"
    left = seconds * (total - done) / done
    for size, unit in ((3600, "h"), (60, "min")):
        if left >= 2 * size:
            return f"up to {left / size:.0f} {unit} left"
    return f"up to {math.ceil(left)} s left"


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: object = None,
) -> None:
    """Print a warning in one line; what the package says itself needs no place in the code."""
    place = "" if issubclass(category, PyknnmiWarning) else f" ({filename}:{lineno})"
    click.echo(printable(f"Warning: {message}{place}"), err=True)
