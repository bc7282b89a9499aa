"""Sets the results in this folder beside those that the authors of the paper stored.

    python docs/results/paper_comparison.py

writes comparison.md and comparison.png anew.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from pyknnmi_experiments import EXPERIMENTS, ResultRow, Summary, read_results, summarize

HERE = Path(__file__).parent
STORED = HERE.parent.parent / "tests" / "data" / "paper_results.csv.gz"

STORED_EXPERIMENTS = {
    "Lineargaussian": "small-network-linear-gaussian",
    "Linearuniform": "small-network-linear-uniform",
    "Lineart": "small-network-linear-t",
    "Nonlineargaussian": "small-network-nonlinear-gaussian",
    "Nonlinearuniform": "small-network-nonlinear-uniform",
    "Nonlineart": "small-network-nonlinear-t",
    "largeUG": "large-network",
    "randomUGnonPara": "random-nonparanormal-p10",
    "randomUGnonParaLarge": "random-nonparanormal-p20",
}
STORED_METHODS = {
    "knnMI_AND": ("knn_est_test", "k_3_AND"),
    "knnMI_OR": ("knn_est_test", "k_3_OR"),
    "knnMI_AND_k5": ("k5", "knnMI_AND"),
    "knnMI_OR_k5": ("k5", "knnMI_OR"),
    "fisherZ_AND": ("k5", "fisherZ_AND"),
    "mb_StARS": ("k5", "mb_STARS"),
    "mb_StARS_AND": ("k5", "mb_STARS"),
    "mb_auto": ("k5", "mb_auto"),
    "mb_auto_printed": ("k5", "mb_auto"),
    "glasso_StARS": ("k5", "glasso_STARS"),
    "KCIT_AND": ("kernel_tests", "KCIT_AND"),
    "KCIT_AND_default": ("kernel_tests", "KCIT_AND"),
    "RCIT_AND": ("kernel_tests", "RCIT_AND"),
    "RCIT_AND_default": ("kernel_tests", "RCIT_AND"),
}

KINDS = tuple(dict.fromkeys(experiment.figure for experiment in EXPERIMENTS.values()))

Key = tuple[str, str, str, int]
"""Folder and method of theirs, our experiment, and n."""


@dataclass(frozen=True)
class Cell:
    """Mean Hamming distances of one experiment, method and n, and their standard errors."""

    ours: Summary
    paper: tuple[float, float] | None

    @property
    def kind(self) -> str:
        """The kind of experiment, under which it is drawn."""
        return EXPERIMENTS[self.ours.experiment].figure

    @property
    def deviation(self) -> float | None:
        """Ours minus theirs, in combined standard errors."""
        if self.paper is None:
            return None
        mean, error = self.paper
        difference = self.ours.hamming_distance - mean
        combined = math.hypot(self.ours.standard_error, error)
        if difference == 0.0:
            return 0.0
        return difference / combined if combined else math.copysign(math.inf, difference)


def stored_lines() -> dict[Key, dict[str, str]]:
    """Return the lines of the authors' results."""
    with gzip.open(STORED, "rt", newline="") as stream:
        return {
            (line["source_folder"], line["method"], STORED_EXPERIMENTS[line["experiment"]], int(line["n"])): line
            for line in csv.DictReader(stream)
        }


def stored_means() -> dict[Key, tuple[float, float]]:
    """Return the authors' mean Hamming distances and their standard errors."""
    return {key: (float(line["mean_hd"]), float(line["se_hd"])) for key, line in stored_lines().items()}


def place(method: str) -> int:
    """Return where a method stands among those of the table above; the others come last."""
    methods = list(STORED_METHODS)
    return methods.index(method) if method in methods else len(methods)


def compare(summaries: Iterable[Summary]) -> list[Cell]:
    """Return a cell for each summary, experiments in the order of the catalogue, methods in that of the table above."""
    stored = stored_means()
    cells = [
        Cell(found, stored.get((*STORED_METHODS.get(found.method, ("", "")), found.experiment, found.n)))
        for found in summaries
    ]
    experiments = list(EXPERIMENTS)
    return sorted(
        cells,
        key=lambda cell: (
            experiments.index(cell.ours.experiment),
            place(cell.ours.method),
            cell.ours.method,
            cell.ours.n,
        ),
    )


def report(cells: list[Cell]) -> str:
    return "\n".join(["# Beside the stored results", "", *overview(cells), *tables(cells), *times(cells)])


def overview(cells: list[Cell]) -> Iterator[str]:
    yield from (
        "How far our mean Hamming distances are from the stored ones, in combined standard errors. The networks are",
        "the same data, but for `knnMI_AND` and `knnMI_OR`, whose stored runs have draws of their own; the random",
        "graphs are others of the same kind. `run.sh` has the spec of each method.",
        "",
        "| method | experiments | cells | within 1 | within 2 | within 2.5 | largest | mean of ours minus theirs |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    )
    for method in STORED_METHODS:
        for kind in KINDS:
            compared = [cell for cell in cells if cell.ours.method == method and cell.paper and cell.kind == kind]
            if compared:
                away = [abs(cell.deviation) for cell in compared]
                within = " | ".join(str(sum(a <= limit for a in away)) for limit in (1, 2, 2.5))
                mean = sum(cell.ours.hamming_distance - cell.paper[0] for cell in compared) / len(compared)
                yield f"| {method} | {kind} | {len(away)} | {within} | {max(away):.1f} | {mean:+.2f} |"
    yield ""


def tables(cells: list[Cell]) -> Iterator[str]:
    yield from (
        "## Cell by cell",
        "",
        "Ours ± standard error, below it the stored mean ± standard error and the difference in combined errors.",
        "",
    )
    sizes = sorted({cell.ours.n for cell in cells})
    for experiment, of_experiment in groupby(cells, key=lambda cell: cell.ours.experiment):
        yield from (f"### {EXPERIMENTS[experiment].title}", "", f"`{experiment}`", "")
        yield "| method | " + " | ".join(f"n = {n}" for n in sizes) + " |"
        yield "|---" * (len(sizes) + 1) + "|"
        for method, of_method in groupby(of_experiment, key=lambda cell: cell.ours.method):
            by_size = {cell.ours.n: cell for cell in of_method}
            yield f"| {method} | " + " | ".join(text(by_size.get(n)) for n in sizes) + " |"
        yield ""


def text(cell: Cell | None) -> str:
    if cell is None:
        return ""
    ours = f"{cell.ours.hamming_distance:.2f} ± {cell.ours.standard_error:.2f}"
    if cell.paper is None:
        return ours
    mean, error = cell.paper
    return f"{ours}<br>{mean:.2f} ± {error:.2f} ({cell.deviation:+.1f})"


def times(cells: list[Cell]) -> Iterator[str]:
    yield from (
        "## Time",
        "",
        "Minutes of learning on one core, over all repetitions, sizes and experiments of a kind.",
        "",
        "| method | " + " | ".join(KINDS) + " | all |",
        "|---" + "|--:" * (len(KINDS) + 1) + "|",
    )
    names = sorted(dict.fromkeys(cell.ours.method for cell in cells), key=place)
    for label, chosen in [*((name, {name}) for name in names), ("all", set(names))]:
        minutes = [
            sum(
                cell.ours.seconds * cell.ours.repetitions / 60
                for cell in cells
                if cell.ours.method in chosen and cell.kind == kind
            )
            for kind in KINDS
        ]
        yield f"| {label} | " + " | ".join(f"{m:.1f}" if m else "" for m in (*minutes, sum(minutes))) + " |"
    yield ""


def draw(cells: list[Cell], path: Path) -> None:
    """Draw a panel a method: stored mean across, ours up, with standard errors."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    methods = [m for m in STORED_METHODS if any(cell.paper and cell.ours.method == m for cell in cells)]
    columns = 5
    colors = {"small-network": "#0072B2", "large-network": "#009E73", "random-graph": "#D55E00"}
    with mpl.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        rows = math.ceil(len(methods) / columns)
        figure = Figure(figsize=(2.3 * columns, 2.3 * rows + 0.6), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False)
        for panel in panels.flat[len(methods) :]:
            panel.set_visible(False)
        drawn = {}
        for panel, method in zip(panels.flat, methods, strict=False):
            shown = [cell for cell in cells if cell.paper and cell.ours.method == method]
            highest = 1.08 * max(max(cell.ours.hamming_distance, cell.paper[0]) for cell in shown) + 0.5
            panel.plot((0, highest), (0, highest), color="#999999", linewidth=0.8, zorder=0)
            for kind, color in colors.items():
                of_kind = [cell for cell in shown if cell.kind == kind]
                if of_kind:
                    drawn[kind] = panel.errorbar(
                        [cell.paper[0] for cell in of_kind],
                        [cell.ours.hamming_distance for cell in of_kind],
                        xerr=[cell.paper[1] for cell in of_kind],
                        yerr=[cell.ours.standard_error for cell in of_kind],
                        fmt="o",
                        markersize=3,
                        elinewidth=0.8,
                        color=color,
                    )
            panel.set(xlim=(0, highest), ylim=(0, highest), aspect="equal")
            panel.set_title(method, loc="left", fontsize=9.5)
        figure.supxlabel("mean Hamming distance stored by the authors ± SE", fontsize=9)
        figure.supylabel("ours ± SE", fontsize=9)
        figure.legend(drawn.values(), drawn, loc="outside upper center", ncols=len(drawn), frameon=False)
        figure.savefig(path, dpi=150)


def committed_rows() -> list[ResultRow]:
    return [row for name in ("results.csv", "variants.csv") for row in read_results(HERE / name)]


if __name__ == "__main__":
    found = compare(summarize(committed_rows()))
    (HERE / "comparison.md").write_text(report(found), encoding="utf-8")
    draw(found, HERE / "comparison.png")
