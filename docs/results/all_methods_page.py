"""Writes the page of all methods on all kinds of data, all_methods.md, its pictures, and tables of the guides.

    python all_methods_page.py

All is made from all_methods.csv and, for the paper's experiments, from results.csv and variants.csv.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from all_methods import FILE, HERE, KINDS, METHODS, REPETITIONS, Kind
from pyknnmi_experiments import read_results

STORED = {
    "knn": ("results.csv", "knnMI_AND"),
    "kci": ("variants.csv", "KCIT_AND_default"),
    "rcit": ("variants.csv", "RCIT_AND_default"),
    "fisher-z": ("results.csv", "fisherZ_AND"),
    "neighbourhood": ("results.csv", "mb_StARS"),
    "glasso": ("results.csv", "glasso_StARS"),
}
"""File and name of methods whose results on the paper's experiments are there already."""
OWN = "functional-anova"
VOTES = {
    "functional-anova or knn": ((OWN, "knn"), 1),
    "functional-anova and knn": ((OWN, "knn"), 2),
    "two of functional-anova, knn, residual": ((OWN, "knn", "residual"), 2),
}
"""Who votes on each pair, and how many votes make an edge."""
FEWEST = 5
"""Draws that a comparison of two methods needs."""
N = 500
"""The number of rows that all kinds of data have."""


@dataclass(frozen=True)
class Errors:
    """One graph beside the true one. ``false`` and ``missed`` are its wrong pairs, or only their numbers."""

    true_edges: int
    false: frozenset[str] | int
    missed: frozenset[str] | int
    seconds: float | None

    @property
    def counts(self) -> tuple[int, int]:
        false, missed = (x if isinstance(x, int) else len(x) for x in (self.false, self.missed))
        return false, missed

    @property
    def wrong(self) -> int:
        return sum(self.counts)


Cell = Mapping[int, Errors]
"""Errors by repetition."""
Key = tuple[str, int, str]
"""Kind of data, n and method."""


def stored() -> dict[Key, dict[int, Errors]]:
    """Return the errors of the stored results."""
    cells: dict[Key, dict[int, Errors]] = {}
    methods = {place: method for method, place in STORED.items()}
    for file in dict.fromkeys(file for file, _ in methods):
        for row in read_results(HERE / file):
            method = methods.get((file, row.method))
            if method:
                errors = Errors(row.true_edges, row.false_positives, row.false_negatives, None)
                cells.setdefault((row.experiment, row.n, method), {})[row.repetition] = errors
    return cells


def read() -> dict[Key, dict[int, Errors]]:
    """Return the errors of the stored results and of all_methods.csv, which has the wrong pairs themselves."""
    cells = stored()
    with FILE.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            pairs = (frozenset(row[field].split()) for field in ("false", "missed"))
            errors = Errors(int(row["true_edges"]), *pairs, float(row["seconds"]))
            cells.setdefault((row["data"], int(row["n"]), row["method"]), {})[int(row["repetition"])] = errors
    return cells


def with_votes(cells: dict[Key, dict[int, Errors]]) -> dict[Key, dict[int, Errors]]:
    """Add the graphs that two or three methods vote for, on the repetitions where the edges of each are known."""
    added = {}
    for data, n in dict.fromkeys((data, n) for data, n, _ in cells):
        for vote, (voters, needed) in VOTES.items():
            columns = [cells.get((data, n, voter), {}) for voter in voters]
            for repetition in set.intersection(*map(set, columns)):
                graphs = [column[repetition] for column in columns]
                if all(isinstance(graph.false, frozenset) for graph in graphs):
                    false = most(needed, [graph.false for graph in graphs])
                    missed = most(len(voters) - needed + 1, [graph.missed for graph in graphs])
                    added.setdefault((data, n, vote), {})[repetition] = Errors(
                        graphs[0].true_edges, false, missed, None
                    )
    return cells | added


def most(needed: int, sets: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return what is in so many of the sets."""
    return frozenset(x for x in frozenset.union(*sets) if sum(x in one for one in sets) >= needed)


def mean_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error, by the standard deviation with ddof 0 as in the paper."""
    return float(np.mean(values)), float(np.std(values) / np.sqrt(len(values)))


def true_edges(cells: Mapping[Key, Cell], data: Sequence[str]) -> float:
    return float(np.mean([found.true_edges for name in data for found in cells[name, N, OWN].values()]))


def wrong(cell: Cell) -> list[int]:
    return [found.wrong for found in cell.values()]


def difference(one: Cell, other: Cell) -> tuple[float, float]:
    """Return the mean of wrong pairs of the one minus the other on the repetitions of both, and its standard error."""
    both = one.keys() & other.keys()
    return mean_error([one[repetition].wrong - other[repetition].wrong for repetition in both])


def winners(cells: Mapping[Key, Cell], data: str, n: int) -> list[str]:
    """Return the method of the fewest wrong pairs, and those that differ from it by at most a standard error."""
    there = {method: cells[data, n, method] for method in METHODS if (data, n, method) in cells}
    best = min(there, key=lambda method: np.mean(wrong(there[method])))

    def as_good(method: str) -> bool:
        mean, error = difference(there[method], there[best])
        return method == best or mean <= error

    return [best, *(method for method in there if method != best and as_good(method))]


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def mean_text(cell: Cell | None, bold: bool = False) -> str:
    if not cell:
        return ""
    mean, error = mean_error(wrong(cell))
    fewer = f" <sub>{len(cell)}</sub>" if len(cell) < REPETITIONS else ""
    text = f"{mean:.2f} ± {error:.2f}" if len(cell) > 1 else f"{mean:.2f}"
    return (f"**{text}**" if bold else text) + fewer


def at_500(cells: Mapping[Key, Cell]) -> Iterator[str]:
    def rows() -> Iterator[Sequence[str]]:
        for kind in KINDS.values():
            best = winners(cells, kind.name, N)[0]
            means = (mean_text(cells.get((kind.name, N, method)), method == best) for method in METHODS)
            yield kind.title, str(kind.p), *means

    yield from table(("data", "columns", *METHODS), rows())


def wins(cells: Mapping[Key, Cell]) -> Iterator[str]:
    sizes = sorted({n for _, n, _ in cells})

    def cell(kind: Kind, n: int) -> str:
        if (kind.name, n, OWN) not in cells:
            return ""
        return ", ".join(winners(cells, kind.name, n))

    yield from table(
        ("data", *(f"n = {n}" for n in sizes)),
        ((kind.title, *(cell(kind, n) for n in sizes)) for kind in KINDS.values()),
    )


def beside_own(cells: Mapping[Key, Cell], data: str, n: int, rival: str) -> tuple[float, float] | None:
    """Return the difference of a rival to functional-anova, or None if they have fewer than five draws in common."""
    own, other = cells.get((data, n, OWN), {}), cells.get((data, n, rival), {})
    return difference(other, own) if len(own.keys() & other.keys()) >= FEWEST else None


def rivals(cells: Mapping[Key, Cell]) -> Iterator[str]:
    """Compare functional-anova with each rival, kind by kind, on the repetitions of both."""

    def rows() -> Iterator[Sequence[str]]:
        for rival in (*METHODS, *VOTES):
            compared = [
                found for data, n, method in cells if method == rival and (found := beside_own(cells, data, n, rival))
            ]
            if rival != OWN and compared:
                fewer = sum(mean < -2 * error for mean, error in compared)
                more = sum(mean > 2 * error for mean, error in compared)
                means = [mean for mean, _ in compared]
                yield (
                    rival,
                    str(len(compared)),
                    f"{np.mean(means):+.2f}",
                    str(more),
                    str(len(compared) - more - fewer),
                    str(fewer),
                    f"{max(means):+.2f}",
                    f"{min(means):+.2f}",
                )

    head = ("instead", "cells", "mean", "more errors", "no difference", "fewer errors", "most more", "most fewer")
    yield from table(head, rows())


def times(cells: Mapping[Key, Cell]) -> Iterator[str]:
    shown = [(data, n) for data in ("star", "mixture-numbers", "wide-nonlinear") for n in KINDS[data].sizes]

    def seconds(data: str, n: int, method: str) -> str:
        found = [errors.seconds for errors in cells.get((data, n, method), {}).values()]
        return f"{np.median(found):.2f}" if found else ""

    yield from table(
        ("method", *(f"{KINDS[data].p} columns, n = {n}" for data, n in shown)),
        ((method, *(seconds(data, n, method) for data, n in shown)) for method in METHODS),
    )


def all_means(cells: Mapping[Key, Cell]) -> Iterator[str]:
    for kind in KINDS.values():
        sizes = [n for n in kind.sizes if (kind.name, n, OWN) in cells]
        yield from (f"### {kind.title[0].upper()}{kind.title[1:]}", "", f"`{kind.name}`, {kind.p} columns", "")
        yield from table(
            ("method", *(f"n = {n}" for n in sizes)),
            (
                (method, *(false_and_missed(cells.get((kind.name, n, method))) for n in sizes))
                for method in METHODS
                if any((kind.name, n, method) in cells for n in sizes)
            ),
        )


def false_and_missed(cell: Cell | None) -> str:
    if not cell:
        return ""
    false, missed = np.mean([found.counts for found in cell.values()], axis=0)
    return f"{mean_text(cell)}<br>{false:.2f} + {missed:.2f}"


PAGE = """# All methods on all kinds of data

How many pairs each method gets wrong on each kind of data, how long it takes, and which method wins where. A wrong
pair is a false edge or a missed one.

![wrong pairs with 500 rows, and time](all_methods.png)

## What was measured

| method | spec |
|---|---|
{specs}

`functional-anova` is what the preset `recommended` stands for. `knn` is the paper's method. The default,
`iamb+knn-cmi`, differs from it in that a test ends once it has decided.
`residual` is a hybrid: its test takes the smaller p-value of a nearest-neighbor estimate and of covariances.
`neighbourhood` and `glasso` choose their penalty by StARS. The last six methods take no categories, so some of their
cells are empty.

The data are of two sorts.

- The thirteen experiments of the paper, with its seed, 25 draws. Where results are stored in
  [results.csv](results.csv) and [variants.csv](variants.csv), they are used.
- Further kinds of data, of seeds that no choice was made by: independent columns, a chain, stars, wide tables, and
  tables as people have them. In the latter each column depends on one before it *as observed*: after it was
  rounded, censored, cut to a few values, or made a category. So the true graph is a tree, for the very values in
  the table. The recipes are in `all_methods.py` and `functional_anova.py`.

Behind each mean is its standard error. A small number behind it is the number of draws where that is not {draws}:
long runs were made less often. The runs are in [all_methods.csv](all_methods.csv), one a row, with the false and the
missed edges of each. Those of `functional-anova` and `residual` are of commit {commit}, but those of the former for
more than 8 columns and 500 rows of c87c076. All others are of the commits 6e94af4, c5dd2e1 and f82201e.
In `docs/results`, `python all_methods.py --help` says how runs are added;
`python all_methods_page.py` makes this page.

## Wrong pairs with {n} rows

The best of each row is bold.

{at_500}
## Which wins where

For each kind of data and number of rows, the method with the fewest wrong pairs comes first. The others that are
named differ from it by at most one standard error, on the draws that both had. Where a cell is empty nothing was
measured.

{wins}
![wrong pairs against rows](all_methods_sizes.png)

## Is `recommended` the best that there is?

What would change if the preset were another method? A cell is a kind of data with a number of rows, in which both
methods had at least {fewest} draws. They are compared on these draws. `more errors` counts the cells in which the
other method has more wrong pairs by more than two standard errors, `fewer errors` those in which it has fewer. The
last two columns are the largest differences. The last three rivals join methods: an edge that either of two finds,
that both find, that two of three find.

{rivals}
{lost}

## Time

Median user CPU seconds of a graph, on one thread of a machine that others used too: compare them with each other.

{times}
## All means

Wrong pairs, and below them false + missed edges.

{all_means}"""
COMMIT = "56563c7"


def page(cells: Mapping[Key, Cell]) -> str:
    """Return the text of all_methods.md."""
    parts = {part.__name__: "\n".join(part(cells)) for part in (at_500, wins, rivals, lost, times, all_means)}
    specs = "\n".join(f"| `{method}` | `{spec}` |" for method, spec in METHODS.items())
    return PAGE.format(**parts, specs=specs, n=N, draws=REPETITIONS, commit=COMMIT, fewest=FEWEST)


def lost(cells: Mapping[Key, Cell]) -> Iterator[str]:
    """Say where another method beats functional-anova by more than two standard errors."""
    yield "Cells in which another method has fewer wrong pairs, by more than two standard errors:"
    yield ""
    beaten = False
    for data, n, method in cells:
        found = beside_own(cells, data, n, method)
        if method in METHODS and found and found[0] < -2 * found[1]:
            beaten = True
            yield f"- {KINDS[data].title}, n = {n}: `{method}`, {-found[0]:.2f} ± {found[1]:.2f} fewer"
    if not beaten:
        yield "- none"


SIZES = {
    "nonlinear": ("small-network-nonlinear-gaussian", "small-network-nonlinear-uniform", "small-network-nonlinear-t"),
    "linear": ("small-network-linear-gaussian", "small-network-linear-uniform", "small-network-linear-t"),
    "smooth, one cause of six": ("star",),
    "Gaussian, 1.3 edges a column": ("random-gaussian-p10",),
    "the same, cubed": ("random-nonparanormal-p10",),
    "nonlinear, 21 columns": ("large-network",),
    "Gaussian, 20 columns": ("random-gaussian-p20",),
    "nonlinear, 60 columns": ("wide-nonlinear",),
    "Gaussian, 60 columns": ("wide-gaussian",),
}
"""Rows of the table by size in which_spec.md, and whose mean each is."""
FINDINGS = {
    "`censored`, `filler`": ("censored",),
    "`whole-numbers`, `tied`: rounded": ("rounded",),
    "`whole-numbers`: counts": ("counts",),
    "`heavy-tails`": ("heavy-tails",),
    "`repeated-rows`": ("repeated-rows",),
    "columns of categories beside numbers": ("mixture-categories",),
    "columns of categories only": ("categories",),
    "codes, counts, censored beside numbers": ("mixture-numbers",),
    "none": ("small-network-nonlinear-gaussian", "small-network-linear-gaussian"),
}
"""Findings of the audit, and kinds of data that have them."""
SPECS = ("functional-anova", "knn", "residual", "fisher-z")


def measured(cells: Mapping[Key, Cell], data: Sequence[str], n: int, method: str) -> list[Cell]:
    """Return the errors in each kind of data, or nothing if one of them was not measured."""
    found = [cells.get((name, n, method)) for name in data]
    return found if all(found) else []


def mean_of(cells: Mapping[Key, Cell], data: Sequence[str], n: int, method: str) -> str:
    """Return the mean of wrong pairs over kinds of data, or nothing if one of them was not measured."""
    found = measured(cells, data, n, method)
    return f"{np.mean([np.mean(wrong(cell)) for cell in found]):.1f}" if found else ""


def by_size(cells: Mapping[Key, Cell]) -> Iterator[str]:
    """Yield the table of which_spec.md that tells errors by columns and rows, of the preset and of the default."""
    sizes = (125, 250, 500, 1000)

    def both(data: Sequence[str], n: int) -> str:
        own, default = (mean_of(cells, data, n, method) for method in (OWN, "knn"))
        return f"{own} / {default or 'not run'}" if own else ""

    yield from table(
        ("dependence", "columns", "edges", *(f"{n} rows" for n in sizes)),
        (
            (title, str(KINDS[data[0]].p), f"{true_edges(cells, data):.0f}", *(both(data, n) for n in sizes))
            for title, data in SIZES.items()
        ),
    )


def by_finding(cells: Mapping[Key, Cell]) -> Iterator[str]:
    """Yield the table of which_spec.md that tells errors by what the audit found."""
    yield from table(
        ("finding", "rows", "edges", *(f"`{METHODS[method]}`" for method in SPECS)),
        (
            (title, str(n), f"{true_edges(cells, data):.0f}", *(mean_of(cells, data, n, method) for method in SPECS))
            for title, data in FINDINGS.items()
            for n in (250, N)
            if (data[0], n, OWN) in cells
        ),
    )


def by_preset(cells: Mapping[Key, Cell]) -> Iterator[str]:
    """Yield the table of the README's first example: wrong pairs in the paper's nonlinear networks."""
    yield from table(
        ("preset", "250 rows", "500 rows"),
        (
            (f"`{preset}`", *(mean_of(cells, SIZES["nonlinear"], n, method) for n in (250, 500)))
            for preset, method in (("paper", "knn"), ("recommended", OWN))
        ),
    )


def by_network(cells: Mapping[Key, Cell]) -> Iterator[str]:
    """Yield the table of functional_anova.md: wrong pairs in the paper's small networks, mean over three noises."""

    def with_error(data: Sequence[str], n: int, method: str) -> str:
        found = measured(cells, data, n, method)
        if not found:
            return ""
        means, errors = np.transpose([mean_error(wrong(cell)) for cell in found])
        return f"{np.mean(means):.2f} ± {np.linalg.norm(errors) / len(errors):.2f}"

    yield from table(
        ("networks", "rows", *(f"`{method}`" for method in METHODS)),
        (
            (kind, str(n), *(with_error(SIZES[kind], n, method) for method in METHODS))
            for kind in ("nonlinear", "linear")
            for n in (125, 250, 500, 1000)
        ),
    )


GUIDES = {
    HERE.parent.parent / "README.md": (by_preset,),
    HERE.parent / "which_spec.md": (by_size, by_finding),
    HERE.parent / "functional_anova.md": (by_network,),
}
"""Pages that have tables of these means, and the tables."""


def with_tables(text: str, tables: Sequence[str]) -> str:
    """Return a page with each of its tables that has the same head as one of these replaced by that."""
    for new in tables:
        start = text.index(new.splitlines()[0])
        text = text[:start] + new + text[text.index("\n\n", start) + 1 :]
    return text


COLORS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#8C8C8C", "#000000", "#E69F00", "#6A51A3")
MARKS = "oD^sPXv*<"
LOOKS = {method: {"color": COLORS[i], "marker": MARKS[i]} for i, method in enumerate(METHODS)}
STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False}


def draw_sizes(cells: Mapping[Key, Cell], path: Path) -> None:
    """Draw a panel for each kind of data of several sizes: wrong pairs against rows."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = [kind for kind in KINDS.values() if len(kind.sizes) > 2]
    columns = 4
    with mpl.rc_context(STYLE):
        lines = -(-len(shown) // columns)
        figure = Figure(figsize=(2.9 * columns, 2.3 * lines + 0.6), layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False)
        for panel in panels.flat[len(shown) :]:
            panel.set_visible(False)
        drawn = {}
        for panel, kind in zip(panels.flat, shown, strict=False):
            for method, look in LOOKS.items():
                sizes = [n for n in kind.sizes if (kind.name, n, method) in cells]
                if sizes:
                    means, errors = zip(*(mean_error(wrong(cells[kind.name, n, method])) for n in sizes), strict=True)
                    drawn[method] = panel.errorbar(sizes, means, errors, markersize=4, linewidth=1, **look)
            panel.set_xscale("log")
            panel.set_xticks(kind.sizes, labels=map(str, kind.sizes))
            panel.minorticks_off()
            panel.set_ylim(bottom=0)
            panel.set_title(kind.title, loc="left", fontsize=9)
        figure.supxlabel("rows", fontsize=9)
        figure.supylabel("wrong pairs, mean ± SE", fontsize=9)
        labels = [method for method in METHODS if method in drawn]
        figure.legend([drawn[method] for method in labels], labels, loc="outside upper center", ncols=len(labels))
        figure.savefig(path, dpi=110)


def draw_kinds(cells: Mapping[Key, Cell], path: Path) -> None:
    """Draw wrong pairs of every kind of data with 500 rows, and the time of a graph, a mark for each method."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = list(KINDS.values())[::-1]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 0.27 * len(shown) + 1.2), layout="constrained")
        errors, times = figure.subplots(1, 2, sharey=True)
        drawn = {}
        for line, kind in enumerate(shown):
            for i, (method, look) in enumerate(LOOKS.items()):
                y = line + 0.06 * (4 - i)  # marks do not hide each other
                cell = cells.get((kind.name, N, method))
                if cell:
                    drawn[method] = errors.plot(np.mean(wrong(cell)), y, linestyle="", markersize=5, **look)[0]
                    seconds = [found.seconds for found in cell.values() if found.seconds is not None]
                    if seconds:
                        times.plot(np.median(seconds), y, linestyle="", markersize=5, **look)
        errors.set_xscale("symlog", linthresh=1)
        errors.set_xlim(left=-0.1)
        errors.set_xticks([0, 0.5, 1, 2, 5, 10, 20, 50, 100], labels=map(str, (0, 0.5, 1, 2, 5, 10, 20, 50, 100)))
        errors.set_xlabel("wrong pairs, mean")
        errors.set_yticks(range(len(shown)), labels=[kind.title for kind in shown])
        times.set_xscale("log")
        times.set_xlabel("CPU seconds, median")
        for panel in (errors, times):
            panel.grid(axis="y", color="#E6E6E6", linewidth=0.6)
        labels = [method for method in METHODS if method in drawn]
        figure.legend([drawn[method] for method in labels], labels, loc="outside upper center", ncols=len(labels))
        figure.savefig(path, dpi=110)


def main() -> None:
    cells = with_votes(read())
    (HERE / "all_methods.md").write_text(page(cells), encoding="utf-8")
    for guide, parts in GUIDES.items():
        tables = ["\n".join(part(cells)) for part in parts]
        guide.write_text(with_tables(guide.read_text(encoding="utf-8"), tables), encoding="utf-8")
    draw_kinds(cells, HERE / "all_methods.png")
    draw_sizes(cells, HERE / "all_methods_sizes.png")


if __name__ == "__main__":
    main()
