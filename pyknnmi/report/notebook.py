"""A result in a notebook: a small picture, the edges, and what to look at."""

from __future__ import annotations

from pyknnmi.learning.result import LearnResult, ended_early
from pyknnmi.report.escaping import escape
from pyknnmi.report.layout import node_positions
from pyknnmi.report.pairs import reported_pairs, shortened, strength_name
from pyknnmi.report.summary import notable

__all__ = ["notebook_html"]

_MOST_EDGES = 20
_MOST_NODES = 60
_UNIT = 60.0  # pixels that an edge is long
_MARGIN = 40.0
_LONGEST_NAME = 20


def notebook_html(result: LearnResult) -> str:
    """Return HTML that a notebook shows in place of the result."""
    edges = [row for row in reported_pairs(result) if row.edge]
    n, p = result.shape
    parts = [f"<p>{len(edges)} edges between {p} columns, learned from {n} rows</p>"]
    if p <= _MOST_NODES:
        parts.append(_picture(result))
    cells = "".join(
        f"<tr><td>{escape(row.source)}</td><td>{escape(row.target)}</td>"
        f"<td>{'' if row.strength is None else format(row.strength, '.4g')}</td>"
        f"<td>{escape(row.shown_p_value)}</td></tr>"
        for row in edges[:_MOST_EDGES]
    )
    head = f"<tr><th>from</th><th>to</th><th>{escape(strength_name(result))}</th><th>p-value</th></tr>"
    parts.append(f"<table><thead>{head}</thead><tbody>{cells}</tbody></table>")
    rough = ended_early(row.answer for row in edges[:_MOST_EDGES] if row.answer is not None)
    parts += [f"<p>{escape(line)}</p>" for line in rough]
    if len(edges) > _MOST_EDGES:
        parts.append(f"<p>and {len(edges) - _MOST_EDGES} weaker ones: to_pandas() has all</p>")
    notes = [*result.warnings, *notable(result)]
    if notes:
        parts.append(f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>")
    return f"<div>{''.join(parts)}<p><code>{escape(result.spec)}</code></p></div>"


def _picture(result: LearnResult) -> str:
    """Return the network as SVG, in the colour of the text around it."""
    positions = node_positions(result.graph)
    left = min(x for x, _ in positions.values())
    top = max(y for _, y in positions.values())
    at = {name: (_MARGIN + _UNIT * (x - left), _MARGIN + _UNIT * (top - y)) for name, (x, y) in positions.items()}
    width = max(x for x, _ in at.values()) + _MARGIN
    height = max(y for _, y in at.values()) + _MARGIN
    lines = [
        f'<line x1="{at[a][0]:.1f}" y1="{at[a][1]:.1f}" x2="{at[b][0]:.1f}" y2="{at[b][1]:.1f}" '
        'stroke="currentColor" stroke-opacity="0.5"/>'
        for a, b in result.graph.edges
    ]
    nodes = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="currentColor"/>'
        f'<text x="{x:.1f}" y="{y - 9:.1f}" font-size="11" text-anchor="middle" fill="currentColor">'
        f"{escape(shortened(name, _LONGEST_NAME))}</text>"
        for name, (x, y) in at.items()
    ]
    return (
        f'<svg width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'role="img" aria-label="the network">{"".join(lines + nodes)}</svg>'
    )
