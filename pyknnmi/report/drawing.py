"""The two drawings of the report, as SVG: the network and the matrix of all pairs.

SVG and not a canvas: the browser then does the hit testing, focus, text, dark mode and print, and the drawing is there
without a script. What is left for the script is interaction, in 17 kB. A library that draws networks has 170 or more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyknnmi.report.escaping import escape
from pyknnmi.report.pairs import ReportedPair, shortened

__all__ = ["SHADES", "effect_svg", "matrix_svg", "network_svg"]

SHADES = 6
_LONGEST_NAME = 28
_LONGEST_IN_MATRIX = 20
_RADIUS = 7.0
_FONT = 13.0
_CHARACTER = 0.56 * _FONT  # width of an average letter
_WIDE, _HIGH, _EDGE = 220, 110, 16  # of the drawing of an effect


def network_svg(
    points: Mapping[str, tuple[float, float]], rows: Sequence[ReportedPair], arrows: Mapping[int, int], label: str
) -> str:
    """Return the network.

    Parameters
    ----------
    points : mapping of str to (float, float)
        Where each node is, in units of the drawing; y points down.
    rows : sequence of ReportedPair
        Those to be drawn have a line: the edges, and pairs in one blanket only.
    arrows : mapping of int to int
        For rows with a direction: 1 from source to target, -1 the other way, 0 if it is open.
    label : str
        What a screen reader says.
    """
    names = list(points)
    place = {name: i for i, name in enumerate(names)}
    left, top, width, height = _frame(points)
    largest = max((abs(row.strength) for row in rows if row.edge and row.strength), default=1.0)
    scale = _font(width) / _FONT
    thin, widest = scale, scale * min(max(32 / math.sqrt(len(names)), 2.0), 6.0)
    radius = _RADIUS * scale
    size = "large" if len(names) > 100 else "small"
    box = f"{left:.1f} {top:.1f} {width:.1f} {height:.1f}"
    start = f'<svg id="network" class="{size}" viewBox="{box}" role="application" aria-label="{escape(label)}">'
    parts = [start, '<g class="view">']
    degree = dict.fromkeys(names, 0)
    for i, row in enumerate(rows):
        if not row.edge and not row.one_sided:
            continue
        (x1, y1), (x2, y2) = points[row.source], points[row.target]
        kind = "miss" if not row.edge else "fixed" if row.answer and row.p_value is None else ""
        kind = "open" if row.edge and arrows.get(i, 1) == 0 else kind
        thickness = thin + (widest - thin) * math.sqrt(abs(row.strength or 0.0) / largest)
        parts.append(
            f'<line data-pair="{i}" class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
            + (f' stroke-width="{thickness:.2f}"/>' if row.edge else "/>")
        )
        if row.edge:
            degree[row.source] += 1
            degree[row.target] += 1
        if row.edge and arrows.get(i):
            (x1, y1), (x2, y2) = ((x1, y1), (x2, y2)) if arrows[i] > 0 else ((x2, y2), (x1, y1))
            angle, back, tip = math.atan2(y2 - y1, x2 - x1), radius + 1, 6 * scale + thickness
            parts.append(
                f'<path class="tip" data-pair="{i}" d="M0 0L{-tip:.1f} {-0.45 * tip:.1f}V{0.45 * tip:.1f}Z" '
                f'transform="translate({x2 - back * math.cos(angle):.1f} {y2 - back * math.sin(angle):.1f}) '
                f'rotate({math.degrees(angle):.1f})"/>'
            )
    crowded = _crowded(points, degree, width)
    for name, (x, y) in points.items():
        kinds = ["node", *(["alone"] if not degree[name] else []), *(["crowded"] if name in crowded else [])]
        neighbors = f"{degree[name]} neighbor{'s' * (degree[name] != 1)}"
        tab, shown = -1 if place[name] else 0, escape(shortened(name, _LONGEST_NAME))
        parts.append(
            f'<g class="{" ".join(kinds)}" data-node="{place[name]}" transform="translate({x:.1f} {y:.1f})" '
            f'role="button" tabindex="{tab}" aria-label="{escape(name)}, {neighbors}"><circle r="{radius:.1f}"/>'
            f'<text y="{-radius - 4:.1f}" font-size="{_font(width):.1f}">{shown}</text></g>'
        )
    return "".join([*parts, "</g></svg>"])


def matrix_svg(
    names: Sequence[str], order: Sequence[int], strengths: NDArray[np.float64], joined: NDArray[np.bool_]
) -> str:
    """Return the strengths of all pairs as squares, the darker the stronger; edges have a frame.

    Parameters
    ----------
    names : sequence of str
    order : sequence of int
        The nodes from left to right and from top to bottom.
    strengths : array of shape (p, p)
        At least 0; NaN where nothing was tested.
    joined : array of shape (p, p)
    """
    count = len(names)
    largest = np.nanmax(strengths, initial=0.0) or 1.0
    shade = np.minimum(SHADES * np.sqrt(np.nan_to_num(strengths) / largest), SHADES - 1).astype(int)
    cells: dict[str, list[str]] = {f"s{i}": [] for i in range(SHADES)}
    frames = []
    for row, i in enumerate(order):
        for column, j in enumerate(order):
            if i != j and not np.isnan(strengths[i, j]):
                cells[f"s{shade[i, j]}"].append(f"M{column} {row}h1v1h-1z")
            if joined[i, j]:
                frames.append(f"M{column + 0.06:g} {row + 0.06:g}h.88v.88h-.88z")
    margin = 0.0
    labels = []
    if count <= 60:
        short = [shortened(name, _LONGEST_IN_MATRIX) for name in names]
        margin = max(map(len, short)) * 0.4 + 0.6
        for place, i in enumerate(order):
            text = escape(short[i])
            labels.append(f'<text x="-.3" y="{place + 0.72:g}" font-size=".62" text-anchor="end">{text}</text>')
            labels.append(
                f'<text transform="translate({place + 0.72:g} -.3) rotate(-90)" font-size=".62">{text}</text>'
            )
    side = count + margin + 0.2
    pixels = min(max(26 * side, 240), 900)
    label = "Strength of every pair. The table holds the same numbers. Arrow keys move the cursor."
    box = f"{-margin:g} {-margin:g} {side:g} {side:g}"
    return "".join(
        [
            f'<svg id="matrix" viewBox="{box}" width="{pixels:.0f}" tabindex="0" role="img" aria-label="{label}">',
            f'<rect class="cell" width="{count}" height="{count}"/>',
            *(f'<path class="{kind}" d="{"".join(squares)}"/>' for kind, squares in cells.items() if squares),
            f'<path class="joined" d="{"".join(frames)}"/>' if frames else "",
            *labels,
            '<rect id="cursor" width="1" height="1" visibility="hidden"/></svg>',
        ]
    )


def effect_svg(effect: Mapping[str, Any], label: str) -> str:
    """Return a partial effect: a curve, a dot for each category, or for two columns a map.

    Curves and dots have a line at 0. A map is blue where the two columns together add, and orange where they take
    away, the deeper the more. Below is the range of the column across, at the left the largest effect.
    """
    values = np.asarray(effect["effect"], dtype=float)
    at, categories = effect["at"], effect.get("shape") == "categories"
    largest = float(np.abs(values).max()) if values.ndim == 2 else max(0.0, float(values.max()))
    parts = _effect_map(values) if values.ndim == 2 else _effect_line(at[0], values, categories)
    first, last = (shortened(str(v), 14) if categories else f"{v:.3g}" for v in (at[0][0], at[0][-1]))
    return "".join(
        [
            f'<svg class="effect" viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" role="img" ',
            f'aria-label="{escape(label)}">{parts}<text x="{_EDGE}" y="{_HIGH - 3}">{escape(first)}</text>',
            f'<text x="{_WIDE - _EDGE}" y="{_HIGH - 3}" text-anchor="end">{escape(last)}</text>',
            f'<text x="2" y="9">{"up to " * (values.ndim == 2)}{largest:.2g} sd</text></svg>',
        ]
    )


def _effect_line(at: Sequence[Any], values: NDArray[np.float64], categories: bool) -> str:
    """Return a curve, or dots one for each category, with a line at 0."""
    numbers = np.arange(len(values)) if categories else np.asarray(at, dtype=float)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    xs = _EDGE + (_WIDE - 2 * _EDGE) * (numbers - numbers[0]) / (float(np.ptp(numbers)) or 1.0)
    ys = _HIGH - _EDGE - (_HIGH - 2 * _EDGE) * (np.append(values, 0.0) - low) / ((high - low) or 1.0)
    zero = f'<line x1="{_EDGE}" x2="{_WIDE - _EDGE}" y1="{ys[-1]:.1f}" y2="{ys[-1]:.1f}"/>'
    if categories:
        return zero + "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in zip(xs, ys, strict=False))
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=False))
    return f'{zero}<polyline points="{points}"/>'


def _effect_map(values: NDArray[np.float64]) -> str:
    """Return a rectangle for each place in the range of two columns, the second from the bottom to the top."""
    width, height = ((_WIDE - 2 * _EDGE) / values.shape[0], (_HIGH - 2 * _EDGE) / values.shape[1])
    share = values / (float(np.abs(values).max()) or 1.0)
    return "".join(
        f'<rect class="{"plus" if share[i, j] > 0 else "minus"}" fill-opacity="{abs(share[i, j]):.2f}" '
        f'x="{_EDGE + i * width:.1f}" y="{_HIGH - _EDGE - (j + 1) * height:.1f}" '
        f'width="{width:.1f}" height="{height:.1f}"/>'
        for i, j in np.ndindex(*values.shape)
    )


def _frame(points: Mapping[str, tuple[float, float]]) -> tuple[float, float, float, float]:
    """Return left, top, width and height of a drawing.

    There is room for names, a small network is not blown up, and a long one not flat.
    """
    xs, ys = zip(*points.values(), strict=True)
    longest = max(len(shortened(name, _LONGEST_NAME)) for name in points)
    scale = _font(max(xs) - min(xs) + 170) / _FONT
    width = max(max(xs) - min(xs) + max(170, (longest + 2) * _CHARACTER) * scale, 640)
    height = max(max(ys) - min(ys) + 80 * scale, 300, 0.35 * width)
    return (min(xs) + max(xs) - width) / 2, (min(ys) + max(ys) - height) / 2 - 6, width, height


def _font(width: float) -> float:
    """Return a size of letters in which they can be read when the drawing is shown 800 pixels wide."""
    return max(_FONT, 10.5 * width / 800)


def _crowded(points: Mapping[str, tuple[float, float]], degree: Mapping[str, int], width: float) -> set[str]:
    """Return the names that would lie on another one, which is shown instead as it has more neighbors."""
    scale = _font(width) / _FONT
    boxes: list[tuple[float, float, float]] = []
    hidden = set()
    for name in sorted(points, key=lambda name: (-degree[name], name)):
        x, y = points[name]
        half = len(shortened(name, _LONGEST_NAME)) * _CHARACTER * scale / 2
        if any(abs(x - u) < half + other and abs(y - v) < _FONT * scale for u, v, other in boxes):
            hidden.add(name)
        else:
            boxes.append((x, y, half))
    return hidden
