"""The experiments of Leppä-aho et al. (2018): known networks, learned by any methods, over sizes and repetitions.

`run_experiments` runs them into a CSV file, `summarize` averages the rows, `draw_figures` plots them.
"""

from __future__ import annotations

from pyknnmi.experiments.catalogue import EXPERIMENTS, Experiment, find_experiments
from pyknnmi.experiments.figures import draw_figures, save_figures
from pyknnmi.experiments.methods import Method, parse_methods
from pyknnmi.experiments.results import ResultRow, read_results
from pyknnmi.experiments.runner import ExperimentProgress, run_experiments
from pyknnmi.experiments.summary import Summary, summarize

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "ExperimentProgress",
    "Method",
    "ResultRow",
    "Summary",
    "draw_figures",
    "find_experiments",
    "parse_methods",
    "read_results",
    "run_experiments",
    "save_figures",
    "summarize",
]
