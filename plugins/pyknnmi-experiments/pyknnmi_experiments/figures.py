"""Figures of results: mean Hamming distance with its standard error against n, one panel an experiment."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyknnmi import PyknnmiError
from pyknnmi.commands import make_folder, natural_key
from pyknnmi_experiments.catalogue import EXPERIMENTS, Experiment
from pyknnmi_experiments.results import ResultRow
from pyknnmi_experiments.summary import Summary, summarize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_figures", "save_figures"]

# Okabe and Ito's colours, distinct with any colour vision, without their yellow, which is lost on white.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C8C8C")
_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
_LINES = ("-", "--", ":")
_MOST_COLUMNS = 3
_EMPTY_GRAPH = "graph without edges"
_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelcolor": "#222222",
    "ytick.labelcolor": "#222222",
    "legend.frameon": False,
    "svg.hashsalt": "pyknnmi",  # the same figure gives the same bytes
}


def save_figures(rows: Iterable[ResultRow], directory: str | os.PathLike[str]) -> list[Path]:
    """Draw the figures of `draw_figures` into PNG and SVG files, and return their paths.

    Parameters
    ----------
    rows : iterable of ResultRow
    directory : path
        Made if need be; files of these names are replaced.
    """
    directory = make_folder(directory)
    paths = []
    for name, figure in draw_figures(rows).items():
        for suffix, settings in (("png", {"dpi": 200}), ("svg", {"metadata": {"Date": None}})):
            path = directory / f"{name}.{suffix}"
            with _style():
                figure.savefig(path, bbox_inches="tight", **settings)
            paths.append(path)
    return paths


def draw_figures(rows: Iterable[ResultRow]) -> dict[str, Figure]:
    """Return the figures by name, one for each kind of experiment among the rows.

    A panel shows one experiment; a method has the same colour and mark in every panel of every figure. The dotted
    line is the distance of a graph without edges.

    Parameters
    ----------
    rows : iterable of ResultRow

    Returns
    -------
    dict of str to matplotlib.figure.Figure

    Raises
    ------
    PyknnmiError
        matplotlib is not installed, or there are no rows.
    """
    summaries = [summary for summary in summarize(rows) if summary.experiment in EXPERIMENTS]
    if not summaries:
        raise PyknnmiError("there are no results to draw")
    methods = sorted({summary.method for summary in summaries}, key=natural_key)
    looks = {method: _look(i) for i, method in enumerate(methods)}
    present = {summary.experiment for summary in summaries}
    figures: dict[str, list[Experiment]] = {}
    for experiment in EXPERIMENTS.values():
        if experiment.name in present:
            figures.setdefault(experiment.figure, []).append(experiment)
    with _style():
        return {name: _figure(experiments, summaries, looks) for name, experiments in figures.items()}


def _look(i: int) -> dict[str, Any]:
    return {
        "color": _COLORS[i % len(_COLORS)],
        "marker": _MARKERS[i % len(_MARKERS)],
        "linestyle": _LINES[i // len(_COLORS) % len(_LINES)],
    }


def _style() -> Any:
    try:
        import matplotlib as mpl
    except ImportError:
        raise PyknnmiError('figures need matplotlib: pip install "pyknnmi-experiments[plot]"') from None
    return mpl.rc_context(_STYLE)


def _figure(
    experiments: Sequence[Experiment], summaries: Sequence[Summary], looks: dict[str, dict[str, Any]]
) -> Figure:
    from matplotlib.figure import Figure

    columns = _columns(len(experiments))
    rows = math.ceil(len(experiments) / columns)
    figure = Figure(figsize=(max(2.9 * columns, 4.6) + 0.3, 2.6 * rows + 0.5), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, squeeze=False)
    for panel, experiment in zip(panels.flat, experiments, strict=False):
        chosen = [summary for summary in summaries if summary.experiment == experiment.name]
        _draw_panel(panel, chosen, looks)
        panel.set_title(experiment.title, loc="left")
    for panel in panels.flat[len(experiments) :]:
        panel.set_visible(False)
    _share_heights(list(zip(panels.flat, experiments, strict=False)))
    for panel in panels[:, 0]:
        panel.set_ylabel("mean Hamming distance ± SE")
    for column in range(columns):
        panels[(len(experiments) - 1 - column) // columns, column].set_xlabel("rows n")
    drawn: dict[str, Any] = {}
    for panel in panels.flat:
        handles, labels = panel.get_legend_handles_labels()
        drawn.update(zip(labels, handles, strict=True))
    labels = [label for label in (*looks, _EMPTY_GRAPH) if label in drawn]
    lines = math.ceil(len(labels) / max(2 * columns, 3))
    figure.legend(
        [drawn[label] for label in labels],
        labels,
        loc="outside lower center",
        ncols=math.ceil(len(labels) / lines),
    )
    return figure


def _share_heights(panels: Sequence[tuple[Axes, Experiment]]) -> None:
    """Give the same limits to panels of as many columns, whose distances compare."""
    heights: dict[int, float] = {}
    for panel, experiment in panels:
        heights[experiment.p] = max(heights.get(experiment.p, 0.0), panel.get_ylim()[1])
    for panel, experiment in panels:
        panel.set_ylim(-0.03 * heights[experiment.p], heights[experiment.p])  # marks at 0 stay whole


def _columns(panels: int) -> int:
    return 2 if panels == 4 else min(panels, _MOST_COLUMNS)


def _draw_panel(panel: Axes, summaries: Sequence[Summary], looks: dict[str, dict[str, Any]]) -> None:
    methods = [method for method in looks if any(summary.method == method for summary in summaries)]
    for i, method in enumerate(methods):
        points = [summary for summary in summaries if summary.method == method]
        aside = 1.012 ** (i - (len(methods) - 1) / 2)  # so that error bars do not hide each other
        panel.errorbar(
            [point.n * aside for point in points],
            [point.hamming_distance for point in points],
            yerr=[point.standard_error for point in points],
            label=method,
            markersize=4,
            linewidth=1.3,
            elinewidth=0.9,
            capsize=2,
            **looks[method],
        )
    true_edges = float(np.mean([summary.true_edges for summary in summaries]))
    panel.axhline(true_edges, color="#999999", linestyle=":", linewidth=1, label=_EMPTY_GRAPH)
    sizes = sorted({summary.n for summary in summaries})
    panel.set_xscale("log")
    panel.set_xticks(sizes, labels=[str(n) for n in sizes])
    panel.minorticks_off()
