"""What authors of commands need, so that theirs behave as the package's own: errors, progress, files, worker processes.

A plugin adds commands through the hook `pyknnmi_commands`.
"""

from __future__ import annotations

from pyknnmi.cli.common import Failure, progress_line, writing
from pyknnmi.data.dataset import natural_key
from pyknnmi.data.files import make_folder, replace_file
from pyknnmi.errors import did_you_mean
from pyknnmi.run import cores
from pyknnmi.search.processes import each as side_by_side
from pyknnmi.search.processes import workers

__all__ = [
    "Failure",
    "cores",
    "did_you_mean",
    "make_folder",
    "natural_key",
    "progress_line",
    "replace_file",
    "side_by_side",
    "workers",
    "writing",
]
