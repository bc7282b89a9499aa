"""A progress bar for notebooks and terminals."""

from __future__ import annotations

from typing import Any

from pyknnmi.run import Progress

__all__ = ["ProgressBar"]


class ProgressBar:
    """Shows how far a run is, by tqdm: as a widget in a notebook, as a line on a terminal.

    For ``learn(data, progress=ProgressBar())``. A run that searches in several phases shows one bar after another. An
    interrupt (Ctrl-C, or the stop button of a notebook) ends the run within a second. Needs tqdm,
    ``pip install "pyknnmi[notebook]"``.

    Parameters
    ----------
    **options
        Options of ``tqdm.auto.tqdm``, such as ``desc`` or ``leave``.
    """

    def __init__(self, **options: Any) -> None:
        from tqdm.auto import tqdm

        self._new = tqdm
        self._options = {"unit": "column", **options}
        self._bar: Any = None

    def __call__(self, progress: Progress) -> None:
        """Show the progress of a run."""
        if self._bar is None or self._bar.total != progress.total or self._bar.n > progress.done:
            self._close()
            self._bar = self._new(total=progress.total, **self._options)
        self._bar.set_postfix(tests=progress.tests, refresh=False)
        self._bar.update(progress.done - self._bar.n)
        if progress.done == progress.total:
            self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
