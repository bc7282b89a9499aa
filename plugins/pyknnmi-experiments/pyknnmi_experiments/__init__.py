"""The experiments of Leppä-aho et al. (2018): known networks, learned by any methods, over sizes and repetitions.

`run_experiments` runs them into an SQLite file, `write_csv` writes its rows as CSV, `summarize` averages the rows, and
`draw_figures` plots them.
"""

from __future__ import annotations

from pyknnmi_experiments.catalogue import EXPERIMENTS, Experiment, find_experiments
from pyknnmi_experiments.figures import draw_figures, save_figures
from pyknnmi_experiments.methods import Method, parse_methods
from pyknnmi_experiments.results import ResultRow, open_results, read_results, write_csv
from pyknnmi_experiments.runner import ExperimentProgress, run_experiments
from pyknnmi_experiments.summary import Summary, summarize

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "ExperimentProgress",
    "Method",
    "ResultRow",
    "Summary",
    "draw_figures",
    "find_experiments",
    "open_results",
    "parse_methods",
    "read_results",
    "run_experiments",
    "save_figures",
    "summarize",
    "write_csv",
]
