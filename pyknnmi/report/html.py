"""The report: one HTML file that holds everything and needs nothing else, neither network nor server."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from pyknnmi.auditing import AuditFinding, grouped, in_warnings
from pyknnmi.data.files import csv_line, make_folder, replace_file, shell_command
from pyknnmi.errors import printable
from pyknnmi.learning.result import LearnResult
from pyknnmi.report.drawing import effect_svg, matrix_svg, network_svg
from pyknnmi.report.escaping import escape
from pyknnmi.report.layout import clustered_order, node_positions
from pyknnmi.report.pairs import (
    ReportedPair,
    alpha_of,
    closest_to_the_threshold,
    effects_in,
    parameter_of,
    reported_pairs,
    strength_name,
)
from pyknnmi.report.summary import notable

__all__ = ["report_html", "write_report"]

_MOST_MISSES = 2000
_MOST_CURVES = 30
_MOST_FINDINGS = 3  # of one kind, in full
_UNIT = 95.0  # length of an edge in the drawing, at least
_AREA = 6500.0  # of the drawing for each column, at least
_PAPER = (
    "Leppä-aho, J., Räisänen, S., Yang, X. and Roos, T. (2018). Learning non-parametric Markov networks with mutual "
    "information. Proceedings of the Ninth International Conference on Probabilistic Graphical Models, PMLR 72, "
    "213-224."
)


def write_report(
    result: LearnResult,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    data: str | None = None,
    command: str | None = None,
) -> Path:
    """Write the report of a result to an HTML file, and return its path.

    Parameters
    ----------
    result : LearnResult
    path : path
        Replaced if it is there; its folder is made if need be.
    title : str, optional
        The heading; made of `data` when left out.
    data : str, optional
        The file that the data came from, for the heading and for the command that repeats the run.
    command : str, optional
        The command that repeats the run; made of the result when left out.
    """
    target = Path(path)
    make_folder(target.parent)
    replace_file(target, report_html(result, title=title, data=data, command=command))
    return target


def report_html(
    result: LearnResult, *, title: str | None = None, data: str | None = None, command: str | None = None
) -> str:
    """Return the report of a result as the text of an HTML file; see `write_report`."""
    page = _Page(result, data, command or repeat_command(result, data))
    sections = [section for make in _SECTIONS if (section := make(page))]
    style, script = _template("report.css"), _template("report.js")
    parts = {
        "title": escape(title or (f"Network of {Path(data).name}" if data else "A learned network")),
        "generator": f"pyknnmi {result.versions.get('pyknnmi', '')}".strip(),
        "lead": escape(_lead(page)),
        "links": "".join(f'<a href="#{section.name}-section">{section.title}</a>' for section in sections),
        "sections": "\n".join(section.html() for section in sections),
        "footer": f"Written by pyknnmi {escape(str(result.versions.get('pyknnmi', '')))}. This file holds all that it "
        "shows, and loads nothing from elsewhere.",
        "style": style,
        "script": script,
        "style_hash": _digest(style),
        "script_hash": _digest(script),
        "content": json.dumps(page.content(), allow_nan=False).replace("<", "\\u003c"),
    }
    return _filled("report.html", **parts)


@dataclass(frozen=True)
class _Section:
    name: str
    title: str
    body: str
    kind: str = ""

    def html(self) -> str:
        return (
            f'<section id="{self.name}-section" class="{self.kind}" aria-labelledby="{self.name}-title">'
            f'<h2 id="{self.name}-title">{self.title}</h2>\n{self.body}</section>'
        )


class _Page:
    """A result as the report needs it."""

    def __init__(self, result: LearnResult, data: str | None, command: str) -> None:
        self.result = result
        self.data = data
        self.command = command
        self.names = result.graph.names
        self.place = {name: i for i, name in enumerate(self.names)}
        self.alpha = alpha_of(result)
        every = reported_pairs(result)
        self.edges = [row for row in every if row.edge]
        others = [row for row in every if not row.edge]
        near = closest_to_the_threshold(others, _MOST_MISSES)
        kept = {id(row) for row in near} | {id(row) for row in others if row.one_sided or row.p_value is None}
        self.rows = [*self.edges, *(row for row in others if id(row) in kept)]
        self.left_out = len(every) - len(self.rows)
        self.strength = strength_name(result)
        positions = node_positions(result.graph)
        area = float(np.prod(np.ptp(list(positions.values()), axis=0) + 1))
        unit = max(_UNIT, math.sqrt(_AREA * len(self.names) / area))
        self.points = {name: (x * unit, -y * unit) for name, (x, y) in positions.items()}
        strengths = np.full((len(self.names), len(self.names)), np.nan)
        for row in every:
            if row.strength is not None:
                i, j = self.place[row.source], self.place[row.target]
                strengths[i, j] = strengths[j, i] = abs(row.strength) if row.edge else max(row.strength, 0.0)
        self.strengths = strengths
        self.order = clustered_order(result.graph, np.nan_to_num(strengths))

    def is_near_miss(self, row: ReportedPair) -> bool:
        """Return whether a pair without an edge came close to one: in one blanket, or p up to five thresholds."""
        near = row.threshold is not None and row.p_value is not None and row.p_value <= 5 * row.threshold
        return not row.edge and (row.one_sided or near or row.answer is None)

    def arrows(self) -> dict[int, int]:
        """Return the directions of rows that have one, and 0 for those whose direction is open."""
        oriented = self.result.oriented
        if oriented is None:
            return {}
        directed = set(oriented.directed)
        return {
            i: 1 if (row.source, row.target) in directed else -1 if (row.target, row.source) in directed else 0
            for i, row in enumerate(self.rows)
            if row.edge
        }

    def content(self) -> dict[str, Any]:
        """Return what the script needs."""
        arrows = self.arrows()
        strengths = sorted(abs(row.strength) for row in self.edges if row.strength is not None)
        p_values = sorted({row.p_value for row in self.rows if row.p_value is not None} | {1.0})
        blankets = self.result.blankets
        return {
            "names": list(map(printable, self.names)),
            "points": [[round(x, 1), round(y, 1)] for x, y in (self.points[name] for name in self.names)],
            "order": self.order,
            "pairs": [
                {
                    "a": self.place[row.source],
                    "b": self.place[row.target],
                    "edge": row.edge,
                    "near": self.is_near_miss(row),
                    "strength": row.strength,
                    "p": row.p_value,
                    "shown": row.shown_p_value,
                    "reason": printable(row.reason),
                    "arrow": arrows.get(i, 0),
                }
                for i, row in enumerate(self.rows)
            ],
            "blankets": [
                [self.place[other] for other in blankets[name]] if name in blankets else None for name in self.names
            ],
            "constant": [self.place[name] for name in self.result.constant_columns],
            "steps": [0.0, *_thinned(strengths)],
            "p_steps": _thinned(p_values),
            "hint": "Select a column to see its neighbors and its Markov blanket.",
            "blanket_title": "Found from this column",
        }


def _lead(page: _Page) -> str:
    n, p = page.result.shape
    left_out = f" ({page.result.rows_left_out} more were left out)" if page.result.rows_left_out else ""
    return (
        f"{_count(len(page.edges), 'edge')} between {_count(p, 'column')}, learned from {_count(n, 'row')}{left_out}."
    )


def _look(page: _Page) -> _Section:
    """Return what to look at first, in words."""
    strongest = [row for row in page.edges if row.p_value is not None or row.answer is None][:3]
    items = [f"The strongest edges: {', '.join(row.label for row in strongest)}."] if strongest else []
    items += notable(page.result)
    return _Section(
        "look",
        "What to look at",
        f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
        '<p class="note">An edge says that two columns depend on each other even when all other columns are known. '
        'It does not say which of them is the cause. <a href="#words-section">Words used here</a> has the other words.'
        "</p>",
    )


def _warnings(page: _Page) -> _Section | None:
    """Return what the run warned of, without what is among the findings."""
    shown = in_warnings(page.result.findings)
    warnings = [warning for warning in page.result.warnings if warning not in shown]
    if not warnings:
        return None
    items = "".join(f"<li>{escape(warning)}</li>" for warning in warnings)
    return _Section("warnings", "Warnings", f"<ul>{items}</ul>", kind="warn")


def _findings(page: _Page) -> _Section | None:
    """Return what the table shows that bears on the network, the serious first."""
    findings = sorted(page.result.findings, key=lambda finding: not finding.serious)
    if not findings:
        return None
    items = "".join(map(_finding, grouped(findings)))
    kind = "warn" if findings[0].serious else ""
    return _Section("findings", "What the table itself shows", f"<ul>{items}</ul>", kind=kind)


def _finding(group: Sequence[AuditFinding]) -> str:
    """Return findings of which the same is to be said: a few in full, of the others the columns and figures."""
    shown = " ".join(_sentence(finding.found) for finding in group[:_MOST_FINDINGS])
    others = ", ".join(f"{' and '.join(f.columns)} ({f.figure:.3g})" for f in group[_MOST_FINDINGS:])
    more = f'<div class="note">The same of {escape(others)}.</div>' if others else ""
    strong = "<strong>Serious.</strong> " if group[0].serious else ""
    what = f"{_sentence(group[0].follows)} {_sentence(group[0].advice)}"
    return f'<li>{strong}{escape(shown)}{more}<div class="note">{escape(what)}</div></li>'


def _network(page: _Page) -> _Section:
    oriented = page.result.oriented is not None
    key = [("", "edge, wider if stronger" + (", arrow where a direction was found" if oriented else ""))]
    if any(row.one_sided and not row.edge for row in page.rows):
        key.append(("miss", "found from one side only, no edge"))
    if any(row.edge and row.answer and row.p_value is None for row in page.rows):
        key.append(("fixed", "required, not tested"))
    if oriented and 0 in page.arrows().values():
        key.append(("open", "direction not found"))
    sample = '<svg viewBox="0 0 30 10" aria-hidden="true"><line class="{}" x1="0" y1="5" x2="30" y2="5"/></svg>'
    keys = "".join(f"<span>{sample.format(kind)}{text}</span>" for kind, text in key)
    label = "The network. Arrow keys move between columns, Enter selects one, Escape clears, plus and minus zoom."
    body = _filled(
        "network.html",
        names="".join(f'<option value="{escape(name)}"></option>' for name in page.names),
        filters=_filters(page),
        drawing=network_svg(page.points, page.rows, page.arrows(), label),
        key=keys,
    )
    return _Section("network", "Network", body)


def _filters(page: _Page) -> str:
    content = page.content()
    filters = []
    if len(content["steps"]) > 1:
        filters.append(
            '<label>Strength at least <input id="strength" type="range" min="0" value="0" '
            f'max="{len(content["steps"]) - 1}"><output id="strength-value" for="strength">0</output></label>'
        )
    if len(content["p_steps"]) > 1:
        last = len(content["p_steps"]) - 1
        filters.append(
            f'<label>p-value at most <input id="p-value" type="range" min="0" value="{last}" max="{last}">'
            '<output id="p-value-value" for="p-value">1</output></label>'
        )
    if any(row.one_sided and not row.edge for row in page.rows):
        filters.append('<label><input id="misses" type="checkbox" checked> Pairs found from one side only</label>')
    return "".join(filters)


_COLUMNS: Sequence[tuple[str, str]] = (
    ("a", "Column"),
    ("b", "Other column"),
    ("edge", "Edge"),
    ("strength", "Strength"),
    ("p", "p-value"),
    ("reason", "Why"),
)


def _pairs(page: _Page) -> _Section:
    note = f"Strength is the {page.strength}."
    if page.result.evidence:
        note += " It comes from the test that decided about the pair."
    if page.left_out:
        note += f" {page.left_out} more pairs without an edge, all far from the threshold, are left out here."
    heads = [f'<th scope="col"><button type="button" data-key="{key}">{text}</button></th>' for key, text in _COLUMNS]
    rows = [_table_row(page, i, row) for i, row in enumerate(page.rows)]
    body = _filled("pairs.html", note=escape(note), heads="".join(heads), rows="".join(rows))
    return _Section("pairs", "Edges and near misses", body)


def _table_row(page: _Page, place: int, row: ReportedPair) -> str:
    tested = row.answer is not None and row.p_value is not None
    why = _sentence(row.reason)
    if tested and row.answer and row.answer.n != page.result.shape[0]:
        why += f" {_count(row.answer.n, 'row')}."
    cells = [
        *(f'<td class="name" dir="auto">{escape(name)}</td>' for name in (row.source, row.target)),
        f"<td>{'yes' if row.edge else 'no'}</td>",
        f'<td class="number">{"" if row.strength is None else f"{row.strength:.4g}"}</td>',
        f'<td class="number">{escape(row.shown_p_value)}</td>',
        f"<td>{escape(why)}</td>",
    ]
    return f'<tr data-pair="{place}" class="{"" if row.edge else "miss"}">{"".join(cells)}</tr>'


def _matrix(page: _Page) -> _Section | None:
    if np.isnan(page.strengths).all():
        return None
    joined = page.result.graph.adjacency().astype(bool)
    body = f"""<p class="note">Every pair that was tested: the stronger, the deeper the color. A frame marks an edge,
and grey stands for no test. Columns that go together stand together.</p>
<div class="matrix">{matrix_svg(page.names, page.order, page.strengths, joined)}</div>
<p class="note" id="cell" role="status"></p>
"""
    return _Section("matrix", "Matrix", body)


def _effects(page: _Page) -> _Section | None:
    """Return drawings of partial effects, for learners that fit them, from the largest."""
    effects = [effect for effect in effects_in(page.result.details) if np.size(effect["effect"]) > 1]
    if not effects:
        return None
    figures = []
    for effect in effects[:_MOST_CURVES]:
        label = f"{effect['column']} against {' and '.join(effect['on'])}"
        figures.append(f"<figure>{effect_svg(effect, label)}<figcaption>{escape(label)}</figcaption></figure>")
    note = "How a column changes with another when its other neighbors stay as they are, in standard deviations (sd)."
    if any(len(effect["on"]) > 1 for effect in effects[:_MOST_CURVES]):
        note += " A map shows what two columns add together: blue is more, orange is less."
    if len(effects) > _MOST_CURVES:
        note += f" The {_MOST_CURVES} largest of {len(effects)} are shown."
    body = f'<p class="note">{note}</p><div class="figures">{"".join(figures)}</div>'
    return _Section("effects", "Partial effects", body)


def _calibration(page: _Page) -> _Section | None:
    """Return how often the test rejected independence in data made like these."""
    calibration = page.result.calibration
    if calibration is None:
        return None
    said = "The test keeps its level in data made like these." if calibration.holds else calibration.advice
    body = f"<p>{escape(said)}</p><pre>{escape(str(calibration))}</pre>"
    return _Section("calibration", "Calibration", body, kind="" if calibration.holds else "warn")


def _details(page: _Page) -> _Section:
    result = page.result
    constraints = result.constraints
    settings: list[tuple[str, str]] = [("Method (spec)", result.spec), ("Seed", str(result.seed))]
    if page.data:
        settings.append(("Data", page.data))
    n, p = result.shape
    settings.append(("Table", f"{_count(n, 'row')}, {_count(p, 'column')}"))
    if result.rows_left_out:
        settings.append(("Rows left out", f"{result.rows_left_out}, as they miss values"))
    if result.has_missing:
        settings.append(("Missing values", "each test left out the rows that miss one of its values"))
    if result.constant_columns:
        settings.append(("Constant columns", ", ".join(result.constant_columns)))
    for title, edges in (("Required edges", constraints.required), ("Forbidden edges", constraints.forbidden)):
        if edges:
            settings.append((title, ", ".join(f"{a} - {b}" for a, b in edges)))
    if constraints.targets is not None:
        settings.append(("Searched for", ", ".join(constraints.targets)))
    settings.append(
        ("Work", f"{_count(result.counts['tests'], 'test')}, {_count(result.counts['permutations'], 'permutation')}")
    )
    settings.append(("Fingerprint of the data (SHA-256)", result.data_sha256))
    settings += [(str(name), str(value)) for name, value in result.versions.items() if isinstance(value, str)]
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in settings)
    body = f"""<p>The same data, method and seed give the same network on any computer.</p>
<pre id="command">{escape(page.command)}</pre>
<button type="button" data-copy="command" data-needs-script hidden>Copy the command</button>
<dl>{listed}</dl>"""
    return _Section("repeat", "Settings, and how to repeat this", body)


_RULES: Mapping[object, tuple[str, str]] = {
    "and": ("AND rule", "Two columns are joined if each is in the other's blanket."),
    "or": ("OR rule", "Two columns are joined if one is in the blanket of the other."),
}


def _words(page: _Page) -> _Section:
    words = [("Edge", "The two columns depend on each other even when all the others are known.")]
    if page.result.blankets:
        blanket = "Of a column: the smallest set of others that, once known, leaves nothing more to learn about it."
        words.append(("Markov blanket", blanket))
        rule = _RULES.get(parameter_of(page.result, "rule"))
        words += [rule] if rule else []
    words += [
        ("Strength", f"The {page.strength}. A strength near 0 means no dependence."),
        ("p-value", "How often chance alone would give so strong a dependence, if the two columns were independent."),
        ("Given", "The columns that a test took as known."),
    ]
    if "(nats)" in page.strength:
        words.append(("Nats", "The unit of information. One nat is 1.44 bits."))
    if page.result.counts["permutations"]:
        words.append(("Permutation", "One column put into a random order, so that it depends on nothing."))
    if any(row.answer and row.answer.says_alpha_only for row in page.rows):
        when = "as soon as it was clear on which side of the threshold p is"
        words.append(("~", f"Rough: the test ended {when}. With stop=never every test makes all permutations."))
    if any(row.one_sided for row in page.rows):
        words.append(("From one side", "One of two columns was found to need the other, and not the other way round."))
    if page.alpha is not None and any(row.p_value is not None for row in page.rows):
        words.append(("Threshold", f"No edge has a p-value above {page.alpha:g}."))
    return _Section(
        "words", "Words used here", "<dl>" + "".join(f"<dt>{a}</dt><dd>{escape(b)}</dd>" for a, b in words) + "</dl>"
    )


def _cite(page: _Page) -> _Section:
    version = page.result.versions.get("pyknnmi", "")
    return _Section(
        "cite",
        "How to cite",
        f"<p>{escape(_PAPER)}</p><p>The pyknnmi authors. pyknnmi {escape(str(version))}: learning Markov networks with "
        "nearest-neighbor tests of conditional independence.</p>",
    )


_SECTIONS: Sequence[Callable[[_Page], _Section | None]] = (
    _look,
    _warnings,
    _findings,
    _network,
    _pairs,
    _matrix,
    _effects,
    _calibration,
    _details,
    _words,
    _cite,
)


def repeat_command(result: LearnResult, data: str | None = None, reading: Iterable[str] = ()) -> str:
    """Return the command line that learns the same network again; `reading` are further words on how to read `data`."""
    words = ["pyknnmi", "learn", data or "DATA.csv", "--spec", result.spec, "--seed", str(result.seed), *reading]
    for option, edges in (("--required", result.constraints.required), ("--forbidden", result.constraints.forbidden)):
        for edge in edges:
            words += [option, csv_line(edge)]
    if result.constraints.targets is not None:
        words += ["--targets", csv_line(result.constraints.targets)]
    if result.oriented is not None:
        words.append("--orient")
    if result.calibration is not None:
        words.append("--calibrate")
    if result.has_missing:
        words += ["--missing", "drop-per-test"]
    elif result.rows_left_out:
        words += ["--missing", "drop"]
    return shell_command(words)


def _thinned(values: Sequence[float], most: int = 200) -> list[float]:
    """Return at most so many of the sorted values, the first and the last among them."""
    chosen = sorted(set(values))
    if len(chosen) <= most:
        return chosen
    return [chosen[round(i)] for i in np.linspace(0, len(chosen) - 1, most)]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _template(name: str) -> str:
    return resources.files("pyknnmi.report").joinpath("template", name).read_text(encoding="utf-8")


def _filled(name: str, **parts: str) -> str:
    """Return a template with its places filled, each once: what is filled in is not looked at again."""
    first, *pieces = _template(name).split("{{")
    filled = (parts[place] + rest for place, rest in (piece.split("}}", maxsplit=1) for piece in pieces))
    return first + "".join(filled)


def _digest(text: str) -> str:
    """Return a hash by which the page allows its own style and script, and no others."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
