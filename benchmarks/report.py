"""Tables and plots of the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from parts import OURS, Row

TITLES = {
    "estimate": "One estimate",
    "permutations": "Permutation test, 200 permutations",
    "candidates": "24 candidates ranked for one target",
    "graph": "Whole graph: IAMB and AND, seven columns, 200 permutations",
    "graph_sequential": "The same with stop=sequential, beside 200 permutations of npeet_plus",
    "tables": "Networks of real tables, 200 permutations; x is beside all permutations",
    "kernel": "One question: all of 200 permutations, the sequential rule, and RCIT of pyknnmi-kernel",
    "rows": "Growth with rows, three conditioning columns",
    "conditions": "Permutation test (T = 200) by conditioning columns, 1,000 rows",
    "columns": "Whole graph by columns, 500 rows, T = 200",
    "tied": "Tied columns: a permutation test, T = 200, beside the same ranks",
    "categorical": "Categories: a permutation test, T = 200, beside the same ranks",
    "heavy_tailed": "Heavy tails: a permutation test, T = 200, beside the same ranks",
    "threads": "One and two threads: a permutation test with three conditioning columns, and a whole graph",
    "memory": "Peak memory above the data, T = 20, three conditioning columns",
}
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]


def markdown(rows: Sequence[Row]) -> str:
    """Return the tables of all parts as Markdown."""
    lines = [
        "# Benchmarks: the last run",
        "",
        "Times of pyknnmi and other packages, side by side, as a program measured them.",
        "",
        "Medians of rounds in which the libraries take turns; `x` is the ratio to pyknnmi, or to two",
        "threads, in the same round.",
        "",
    ]
    for part in dict.fromkeys(row.part for row in rows):
        machines = dict.fromkeys(row.machine for row in rows if row.part == part)
        lines += [f"## {TITLES[part]}", "", *machines, ""]
        lines += ["| rows | conditioning columns | columns | library | time or size | x |", "|--:|--:|--:|---|--:|--:|"]
        for row in rows:
            if row.part == part:
                ratio = "" if row.ratio is None else f"{row.ratio:.1f}"
                lines.append(
                    f"| {row.n:,} | {row.conditions} | {row.columns} | {row.library} | {readable(row)} | {ratio} |"
                )
        lines += ["", f"![{TITLES[part]}]({part}.png)", ""] if part in DRAWINGS else [""]
    return "\n".join(lines).rstrip() + "\n"


def readable(row: Row) -> str:
    if row.unit != "s":
        return f"{row.value:.0f} {row.unit}"
    if row.value < 0.1:
        return f"{row.value * 1000:.3g} ms"
    return f"{row.value:.3g} s"


DRAWINGS = {
    # part: (x axis, its label, one panel for each)
    "estimate": ("n", "rows", "conditions"),
    "permutations": ("n", "rows", "conditions"),
    "candidates": ("n", "rows", "conditions"),
    "rows": ("n", "rows", None),
    "conditions": ("conditions", "conditioning columns", None),
    "columns": ("columns", "columns", None),
}


def draw(rows: Sequence[Row], folder: Path) -> None:
    """Draw one picture a part: seconds against size on logarithmic axes, a line for each library."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    for part, (axis, label, panel) in DRAWINGS.items():
        found = [row for row in rows if row.part == part]
        if not found:
            continue
        panels = sorted({getattr(row, panel) for row in found}) if panel else [None]
        figure, axes = plt.subplots(1, len(panels), figsize=(3.2 * len(panels) + 1.2, 3.4), sharey=True, squeeze=False)
        libraries = list(dict.fromkeys(row.library for row in found))
        for value, plot in zip(panels, axes[0], strict=True):
            for colour, library in zip(COLOURS, libraries, strict=False):
                line = [row for row in found if row.library == library and (not panel or getattr(row, panel) == value)]
                plot.plot(
                    [getattr(row, axis) for row in line],
                    [row.value for row in line],
                    "o-",
                    color=colour,
                    label=library,
                    linewidth=2.5 if library == OURS else 1.5,
                )
            plot.set_yscale("log")
            if axis != "conditions":
                plot.set_xscale("log")
                ticks = sorted({getattr(row, axis) for row in found})
                plot.set_xticks(ticks, [f"{tick:,}" for tick in ticks], rotation=30)
                plot.minorticks_off()
            plot.set_xlabel(label)
            plot.grid(alpha=0.25)
            plot.spines[["top", "right"]].set_visible(False)
            if panel:
                plot.set_title(f"columns in z: {value}", fontsize=10)
        axes[0][0].set_ylabel("seconds")
        if len(libraries) > 1:
            axes[0][-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.suptitle(TITLES[part], y=1.04)
        figure.savefig(folder / f"{part}.png", dpi=110, bbox_inches="tight")
        plt.close(figure)
