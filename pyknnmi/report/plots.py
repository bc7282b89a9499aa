"""Plots of a result: one call each, which returns the axes."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pyknnmi.data.files import make_folder, replace_file
from pyknnmi.errors import DataError, ParameterError, PyknnmiError, did_you_mean
from pyknnmi.graphs.partially_directed import PartiallyDirectedGraph
from pyknnmi.learning.result import LearnResult, selection_frequencies
from pyknnmi.report.layout import clustered_order, node_positions
from pyknnmi.report.pairs import (
    ReportedPair,
    alpha_of,
    closest_to_the_threshold,
    effects_in,
    reported_pairs,
    shortened,
    stability_threshold,
    strength_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["KINDS", "plot", "save_plot"]

# Okabe and Ito's colours, distinct with any colour vision.
_BLUE, _ORANGE, _INK, _GREY = "#0072B2", "#D55E00", "#222222", "#8C8C8C"
_PALE = "#EAF2F8"
_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.axisbelow": True,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "legend.frameon": False,
    "svg.hashsalt": "pyknnmi",  # the same plot gives the same bytes
}
_LONGEST_NAME = 24
_MOST_ROWS = 30
_MOST_BOXES = 30
_MOST_PANELS = 12
_INCHES_A_NODE = 0.8  # square inches


def plot(result: LearnResult, kind: str = "graph", ax: Axes | None = None, *, seed: int = 0) -> Axes:
    """Draw a result, and return the axes.

    Parameters
    ----------
    result : LearnResult
    kind : str
        ``graph``: the network. An edge is the wider the stronger it is. A dashed line joins two columns of which only
        one is in the other's blanket. Arrows are directions, if the run found any.
        ``matrix``: the strength of every pair that was tested, in an order that puts related columns together.
        ``evidence``: the p-values of the pairs nearest to the threshold, edges and near misses.
        ``effects``: how one column changes with another, for learners that fit such curves.
        ``selection``: how the learner chose its penalty, or how often `stability` found each pair.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure of a fitting size when left out.
    seed : int
        Another seed gives another drawing of the same network.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    PyknnmiError
        matplotlib is not installed.
    ParameterError
        There is no such kind.
    DataError
        The result holds nothing of this kind.

    Examples
    --------
    >>> import pyknnmi
    >>> data, _ = pyknnmi.simulate.small_network(200, seed=1)
    >>> axes = pyknnmi.learn(data, "iamb+fisher-z").plot("graph")
    >>> axes.get_title(loc="left")
    '3 edges between 7 columns'
    """
    if kind not in KINDS:
        raise ParameterError(
            f"there is no plot '{kind}'{did_you_mean(kind, KINDS)} (there are {', '.join(KINDS)})", "kind"
        )
    with _style():
        return KINDS[kind](result, ax, seed)


def save_plot(result: LearnResult, path: Path, kind: str = "graph", *, seed: int = 0) -> Path:
    """Draw a result into a file: SVG, PNG or PDF, as its name ends, and return its path.

    A name without an ending gets ``.png``; a device or pipe keeps its name. The same result gives the same bytes.
    """
    with _style():
        import matplotlib.pyplot as plt

        figure = _figure(plot(result, kind, seed=seed))
        try:
            content = io.BytesIO()
            ending = path.suffix.lower().removeprefix(".")
            if not ending:
                ending = "png"
                if path.is_file() or not path.exists():
                    path = path.with_name(f"{path.name.rstrip('.')}.png")
            undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
            figure.savefig(content, format=ending, bbox_inches="tight", dpi=150, metadata=undated)
            make_folder(path.parent)
            replace_file(path, content.getvalue())
            return path
        except ValueError as error:  # of an ending that matplotlib does not know
            raise ParameterError(f"cannot draw '{path}': {error}", "out") from None
        finally:
            plt.close(figure)


def _graph(result: LearnResult, ax: Axes | None, seed: int) -> Axes:
    positions = node_positions(result.graph, seed)
    axes, font = _paper(np.array(list(positions.values())), max(len(_short(name)) for name in positions), ax)
    _draw_edges(axes, reported_pairs(result), positions, result.oriented, font)
    _draw_names(axes, result, positions, font)
    text = _count(len(result.graph.edges), "edge") + f" between {_count(len(positions), 'column')}"
    axes.set_title(text, fontsize=_heading(axes))
    return axes


def _paper(points: NDArray[np.float64], longest: int, ax: Axes | None) -> tuple[Axes, float]:
    """Return axes for nodes at these points, with names of up to `longest` letters, and a fitting size of letters."""
    count, extent = len(points), np.ptp(points, axis=0)
    shortest = max(0.9, 0.085 * longest) if count <= _MOST_BOXES else 0.65  # boxes side by side do not overlap
    unit = max(shortest, math.sqrt(_INCHES_A_NODE * count / float(np.prod(extent + 1))))  # inches that an edge is long
    axes = _axes(ax, np.clip(extent * unit + [1.8, 1.5], [4.5, 3.4], 24))
    axes.set_aspect("equal")
    axes.axis("off")
    margin = 0.6
    axes.set_xlim(points[:, 0].min() - margin, points[:, 0].max() + margin)
    axes.set_ylim(points[:, 1].min() - margin, points[:, 1].max() + margin)
    inches_per_unit = float(np.min(_inches(axes) / (extent + 2 * margin)))
    return axes, float(np.clip(9.5 * inches_per_unit, 4, 10 if count <= _MOST_BOXES else 8))


_EDGE = "edge, wider if stronger"
_DIRECTED = "direction found"
_LOOKS: Mapping[str, Mapping[str, Any]] = {
    _EDGE: {"color": _BLUE},
    _DIRECTED: {"color": _BLUE, "marker": ">"},
    "direction open": {"color": _BLUE},
    "joins two causes of a common effect": {"color": _BLUE, "linestyle": ":"},
    "required, not tested": {"color": _INK},
    "in one blanket only, no edge": {"color": _GREY, "linestyle": (0, (4, 3))},
}
"""How the lines of a network look, by the words that explain them in its legend."""


def _meaning(row: ReportedPair, oriented: PartiallyDirectedGraph | None) -> str | None:
    """Return the words of `_LOOKS` for a pair; None if it has no line."""
    if not row.edge:
        return "in one blanket only, no edge" if row.one_sided else None
    if row.answer is not None and row.p_value is None:
        return "required, not tested"
    if oriented is None:
        return _EDGE
    if (row.source, row.target) in oriented.undirected:
        return "direction open"
    return _DIRECTED if (row.source, row.target) in oriented.skeleton() else "joins two causes of a common effect"


def _draw_edges(
    axes: Axes,
    rows: Sequence[ReportedPair],
    positions: Mapping[str, tuple[float, float]],
    oriented: PartiallyDirectedGraph | None,
    font: float,
) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    widths = _widths(rows, widest=float(np.clip(26 / math.sqrt(len(positions)), 1.8, 5)))
    drawn: dict[str, list[ReportedPair]] = {}
    for row in rows:
        if words := _meaning(row, oriented):
            drawn.setdefault(words, []).append(row)
    for words, group in drawn.items():
        ends = [[positions[row.source], positions[row.target]] for row in group]
        line_widths = [widths[row.source, row.target] for row in group]
        if words == _DIRECTED and oriented is not None:
            for row, (start, end), width in zip(group, ends, line_widths, strict=True):
                forward = (row.source, row.target) in oriented.directed
                _draw_arrow(axes, (start, end) if forward else (end, start), width, font)
        else:
            look = {key: value for key, value in _LOOKS[words].items() if key != "marker"}
            axes.add_collection(LineCollection(ends, linewidths=line_widths, zorder=1, **look))
    handles = [Line2D([], [], linewidth=1.8, label=words, **look) for words, look in _LOOKS.items() if words in drawn]
    if handles:
        axes.legend(
            handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, fontsize=0.8 * _heading(axes)
        )


def _draw_arrow(axes: Axes, ends: tuple[tuple[float, float], tuple[float, float]], width: float, font: float) -> None:
    head = f"head_width={0.12 + 0.04 * width:.2f},head_length={0.3 + 0.08 * width:.2f}"
    look = {"arrowstyle": f"-|>,{head}", "color": _BLUE, "linewidth": width, "shrinkA": 0.9 * font}
    axes.annotate("", xy=ends[1], xytext=ends[0], zorder=1, arrowprops={**look, "shrinkB": 1.25 * font})


def _draw_names(axes: Axes, result: LearnResult, positions: Mapping[str, tuple[float, float]], font: float) -> None:
    """Write the names: in boxes where there is room, else above dots."""
    boxes = len(positions) <= _MOST_BOXES
    for name, (x, y) in positions.items():
        ink, line, face = (_INK, _BLUE, _PALE) if result.graph.neighbors(name) else (_GREY, _GREY, "white")
        box: dict[str, Any] = {"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.65}
        if boxes:
            box = {"boxstyle": "round,pad=0.35", "facecolor": face, "edgecolor": line}
        else:
            axes.plot(x, y, "o", markersize=0.7 * font, color=line, markeredgecolor="white", zorder=3)
        axes.annotate(
            _short(name),
            (x, y),
            xytext=(0, 0 if boxes else 0.55 * font),
            textcoords="offset points",
            ha="center",
            va="center" if boxes else "bottom",
            fontsize=font,
            color=ink,
            zorder=4,
            parse_math=False,
            bbox=box,
        )


def _matrix(result: LearnResult, ax: Axes | None, seed: int) -> Axes:
    from matplotlib.colors import PowerNorm

    names = result.graph.names
    place = {name: i for i, name in enumerate(names)}
    strengths = np.full((len(names), len(names)), np.nan)
    rows = [row for row in reported_pairs(result) if row.strength is not None]
    for row in rows:
        i, j = place[row.source], place[row.target]
        strengths[i, j] = strengths[j, i] = abs(row.strength or 0.0) if row.edge else max(row.strength or 0.0, 0.0)
    if not rows:
        raise DataError("there is no matrix to draw: this result holds no evidence about pairs")
    order = clustered_order(result.graph, np.nan_to_num(strengths))
    drawn = strengths[np.ix_(order, order)]
    side = float(np.clip(0.2 * len(names) + 2, 4.2, 18))
    axes = _axes(ax, (side + 0.8, side))
    image = axes.imshow(
        np.ma.masked_invalid(drawn),
        cmap=_colors(),
        norm=PowerNorm(0.5, vmin=0, vmax=max(float(np.nanmax(drawn)), 1e-12)),
        interpolation="nearest",
    )
    rank = {names[index]: i for i, index in enumerate(order)}
    edges = [(rank[row.source], rank[row.target]) for row in rows if row.edge]
    if edges:
        marks = np.array([*edges, *((j, i) for i, j in edges)])
        inches = float(min(_inches(axes))) / len(names)
        axes.scatter(
            marks[:, 0], marks[:, 1], s=float(np.clip((16 * inches) ** 2, 0.8, 30)), c="white",
            edgecolors=_INK, linewidths=float(np.clip(2 * inches, 0.2, 0.8)), label="edge",
        )  # fmt: skip
        look = {"loc": "lower left", "bbox_to_anchor": (0, 1), "fontsize": 0.9 * _heading(axes), "markerscale": 1.5}
        axes.legend(borderaxespad=0.2, handletextpad=0.2, **look)
    font = float(np.clip(0.75 * 72 * (side - 1) / len(names), 3, 9))
    axes.set_xticks(range(len(names)), [_short(names[i]) for i in order], rotation=90, fontsize=font)
    axes.set_yticks(range(len(names)), [_short(names[i]) for i in order], fontsize=font)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title("Strength of the pairs", pad=2 * _heading(axes), fontsize=_heading(axes))
    bar = _figure(axes).colorbar(image, ax=axes, shrink=0.7, pad=0.02)
    bar.set_label(f"{strength_name(result)}; grey: not tested", fontsize=0.9 * _heading(axes))
    bar.ax.tick_params(labelsize=0.9 * _heading(axes))
    bar.outline.set_visible(False)
    return axes


def _evidence(result: LearnResult, ax: Axes | None, seed: int) -> Axes:
    alpha = alpha_of(result)
    rows = closest_to_the_threshold(reported_pairs(result), _MOST_ROWS)
    if not rows:
        raise DataError("there are no p-values to draw: this result holds none")
    axes = _axes(ax, (6.4, 0.19 * len(rows) + 1.3))
    p = np.array([max(row.p_value or 0.0, 1e-300) for row in rows])
    left = min(p.min(), *(row.threshold or 1.0 for row in rows))
    for kind, color, face, label in (
        ([row.edge for row in rows], _BLUE, _BLUE, "edge"),
        ([not row.edge and row.one_sided for row in rows], _ORANGE, "white", "in one blanket only, no edge"),
        ([not row.edge and not row.one_sided for row in rows], _GREY, "white", "no edge"),
    ):
        chosen = np.flatnonzero(kind)
        if len(chosen):
            axes.hlines(chosen, left / 3, p[chosen], color=color, linewidth=0.8, alpha=0.35)
            axes.scatter(p[chosen], chosen, s=26, c=face, edgecolors=color, linewidths=1.3, label=label, zorder=3)
    own = [(row.threshold, i) for i, row in enumerate(rows) if row.answer and row.answer.level is not None]
    if own:
        axes.plot(*zip(*own, strict=True), "|", color=_INK, label="threshold among many candidates")
    if alpha is not None and len(own) < len(rows):
        axes.axvline(alpha, color=_INK, linewidth=0.9, linestyle=(0, (4, 3)), label=f"threshold {alpha:g}")
    axes.set_xscale("log")
    axes.set_xlim(left / 1.6, min(4 * max(p.max(), alpha or 0.0), 1.25))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(
        range(len(rows)),
        [f"{_short(row.source)} - {_short(row.target)}{' ~' if _is_rough(row) else ''}" for row in rows],
    )
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.tick_params(axis="y", length=0)
    rough = "; ~ rough, as the test ended once it had decided" if any(map(_is_rough, rows)) else ""
    axes.set_xlabel(f"p-value of the test that decided{rough}")
    tested = sum(pair.answer.p_value is not None and not pair.is_constrained for pair in result.evidence)
    shown, nearest = ("All", "") if len(rows) == tested else (f"The {len(rows)} of", " nearest to the threshold")
    axes.set_title(f"{shown} {tested} tested pairs{nearest}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.7 / (0.19 * len(rows) + 0.7)), ncols=4, fontsize=8)
    return axes


def _is_rough(row: ReportedPair) -> bool:
    """Return whether the test ended as soon as it had decided."""
    return row.answer is not None and row.answer.says_alpha_only


def _selection(result: LearnResult, ax: Axes | None, seed: int) -> Axes:
    details = result.details
    curves: dict[str, Any] = {
        name: values
        for name, values in details.items()
        if name != "penalties" and _is_curve(values) and len(values) == len(_curve(details, "penalties"))  # type: ignore[arg-type]
    }
    if frequencies := selection_frequencies(result):
        return _frequencies(frequencies, stability_threshold(result), ax)
    if not curves:
        raise DataError(
            "there is no selection to draw: this learner did not choose a penalty along a curve "
            "(glasso and neighbourhood do, with select=stars or select=ebic), nor edges by how often they come up "
            "(stability does)"
        )
    penalties = _curve(details, "penalties")
    axes = _axes(ax, (5.6, 3.6))
    for (name, values), style in zip(curves.items(), ("-", "--", ":", "-."), strict=False):
        axes.plot(penalties, values, style, color=_BLUE, marker="o", markersize=3, label=name.replace("_", " "))
    chosen = details.get("penalty")
    if isinstance(chosen, int | float):
        axes.axvline(chosen, color=_ORANGE, linewidth=1.2, label=f"chosen: {chosen:.3g}")
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_xlabel("penalty; more edges to the right")
    axes.legend()
    return axes


def _frequencies(frequencies: Mapping[tuple[str, str], float], threshold: float, ax: Axes | None) -> Axes:
    """Draw how often the pairs nearest to the threshold came up."""
    nearest = sorted(frequencies, key=lambda pair: (abs(frequencies[pair] - threshold), pair))[:_MOST_ROWS]
    pairs = sorted(nearest, key=lambda pair: (-frequencies[pair], pair))
    axes = _axes(ax, (6.4, 0.19 * len(pairs) + 1.3))
    for i, pair in enumerate(pairs):
        frequency, edge = frequencies[pair], frequencies[pair] >= threshold
        axes.hlines(i, 0, frequency, color=_BLUE if edge else _GREY, linewidth=0.8, alpha=0.35)
        axes.scatter(frequency, i, s=26, c=_BLUE if edge else "white", edgecolors=_BLUE if edge else _GREY, zorder=3)
    axes.axvline(threshold, color=_INK, linewidth=0.9, linestyle=(0, (4, 3)), label=f"threshold {threshold:g}")
    axes.set_xlim(0, 1.02)
    axes.set_ylim(len(pairs) - 0.4, -0.6)
    axes.set_yticks(range(len(pairs)), [f"{_short(a)} - {_short(b)}" for a, b in pairs])
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("share of the parts of the rows in which the pair was an edge")
    axes.set_title(f"{len(pairs)} of {len(frequencies)} pairs, nearest to the threshold")
    axes.legend(loc="lower right")
    return axes


def _effects(result: LearnResult, ax: Axes | None, seed: int) -> Axes:
    effects = [effect for effect in effects_in(result.details) if np.size(effect["effect"])]
    if not effects:
        raise DataError("there are no effects to draw: this learner fits none (functional-anova does)")
    left_out = max(len(effects) - _MOST_PANELS, 0)
    effects = effects[:_MOST_PANELS]
    columns = min(3, len(effects))
    rows = math.ceil(len(effects) / columns)
    axes = _axes(ax, (2.9 * columns + 0.4, 2.4 * rows + 0.5))
    axes.axis("off")
    for i, effect in enumerate(effects):
        row, column = divmod(i, columns)
        width, height = 1 / columns, 1 / rows
        place = (column * width + 0.22 * width, 1 - (row + 1) * height + 0.24 * height, 0.74 * width, 0.6 * height)
        _draw_effect(axes.inset_axes(place), effect)
    axes.set_title(
        "Partial effects, from the largest" + (f"; {left_out} smaller ones are left out" if left_out else "")
    )
    return axes


def _draw_effect(panel: Axes, effect: Mapping[str, Any]) -> None:
    column, on = effect["column"], list(effect["on"])
    values = np.asarray(effect["effect"], dtype=float)
    if values.ndim == 2:
        reach = float(np.abs(values).max()) or 1.0
        panel.pcolormesh(effect["at"][0], effect["at"][1], values.T, cmap=_signed_colors(), vmin=-reach, vmax=reach)
        panel.set_ylabel(_short(on[1]), parse_math=False, fontsize=8)
        panel.set_title(f"{_short(column)}: {-reach:.2g} (orange) to {reach:.2g} (blue)", parse_math=False, fontsize=8)
    else:
        panel.axhline(0, color=_GREY, linewidth=0.6)
        if effect.get("shape") == "categories":
            panel.plot(range(len(values)), values, "o", color=_BLUE)
            panel.set_xticks(range(len(values)), [_short(str(category)) for category in effect["at"][0]])
        else:
            panel.plot(effect["at"][0], values, color=_BLUE, linewidth=1.6)
        panel.set_ylabel("effect (sd)", fontsize=7)
        panel.set_title(f"{_short(column)}: {effect.get('shape', '')}", parse_math=False, fontsize=8)
    panel.set_xlabel(_short(on[0]), parse_math=False, fontsize=8)
    panel.tick_params(labelsize=7)


KINDS: Mapping[str, Callable[[LearnResult, Axes | None, int], Axes]] = {
    "graph": _graph,
    "matrix": _matrix,
    "evidence": _evidence,
    "effects": _effects,
    "selection": _selection,
}
"""What `plot` can draw."""


def _style() -> Any:
    try:
        import matplotlib as mpl
    except ImportError:
        raise PyknnmiError('plots need matplotlib: pip install "pyknnmi[plot]"') from None
    return mpl.rc_context(_STYLE)


def _axes(ax: Axes | None, size: Iterable[float]) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    axes: Axes = plt.subplots(figsize=tuple(size), layout="constrained")[1]
    return axes


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    if figure is None:
        raise ParameterError("these axes belong to no figure: make them with matplotlib.pyplot.subplots", "ax")
    return figure


def _heading(axes: Axes) -> float:
    """Return a size of letters for the heading, larger on a figure of many columns."""
    return max(10.0, 1.1 * float(_figure(axes).get_size_inches()[0]))


def _inches(axes: Axes) -> NDArray[np.float64]:
    """Return the width and height of axes."""
    return np.asarray(_figure(axes).get_size_inches() * axes.get_position().size)


def _colors() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    colors = ["#FFFFFF", "#C6DCEC", "#5FA2CE", _BLUE, "#06304E"]
    return LinearSegmentedColormap.from_list("strength", colors).with_extremes(bad="#E9E9E9")


def _signed_colors() -> Any:
    """Return colours from least to most by way of white at 0, those of the report."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("sign", [_ORANGE, "#FFFFFF", _BLUE])


def _short(name: str) -> str:
    return shortened(name, _LONGEST_NAME)


def _widths(rows: Sequence[ReportedPair], widest: float) -> dict[tuple[str, str], float]:
    """Return a line width for each pair, in points: of an edge, its strength beside the strongest."""
    largest = max((abs(row.strength) for row in rows if row.edge and row.strength is not None), default=0.0) or 1.0
    thin = 0.8
    return {
        (row.source, row.target): thin + (widest - thin) * math.sqrt(min(abs(row.strength or 0.0) / largest, 1.0))
        if row.edge
        else thin
        for row in rows
    }


def _curve(details: Mapping[str, object], name: str) -> Sequence[float]:
    values = details.get(name)
    return values if _is_curve(values) else ()  # type: ignore[return-value]


def _is_curve(values: object) -> bool:
    return isinstance(values, Sequence) and bool(values) and all(isinstance(value, int | float) for value in values)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
