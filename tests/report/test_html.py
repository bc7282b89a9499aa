from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shlex
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from made_results import HOSTILE, answer, hostile_result, made, mixed_result, rough_result
from prose import long_sentences, texts

import pyknnmi
from pyknnmi import PartiallyDirectedGraph, simulate
from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.cli import main
from pyknnmi.data.files import write_dataset
from pyknnmi.report.drawing import network_svg
from pyknnmi.report.html import _SECTIONS, repeat_command, report_html


class Page(HTMLParser):
    """Reads a report: its tags with their attributes, the cells of its tables, and its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.cells, self.raw, self.open = [], [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if tag == "td":
            self.cells.append("")
        if tag in ("td", "script", "style", "title"):
            self.open.append((tag, attrs))

    def handle_endtag(self, tag):
        if self.open and self.open[-1][0] == tag:
            self.open.pop()

    def handle_data(self, data):
        if not self.open:
            return
        tag, attrs = self.open[-1]
        if tag == "td":
            self.cells[-1] += data
        else:
            self.raw[attrs.get("id", tag)] = self.raw.get(attrs.get("id", tag), "") + data

    @property
    def content(self):
        return json.loads(self.raw["content"])


def rows(page):
    return [page.cells[i : i + 6] for i in range(0, len(page.cells), 6)]


def test_the_table_holds_every_pair_with_its_reason():
    found = rows(Page(report_html(mixed_result())))
    assert found[0][:5] == ["a", "d", "yes", "", ""]
    assert found[1][:5] == ["a", "b", "yes", "9", "1e-09"]
    assert found[4][:5] == ["a", "c", "no", "1.9", "0.06"]
    assert found[4][5].startswith("Lost by the AND rule: c is in the blanket of a")
    assert len(found) == 6


def test_names_are_text_whatever_they_hold():
    result = hostile_result()
    page = Page(report_html(result, title=HOSTILE[0], data=HOSTILE[1]))
    assert page.raw["title"] == HOSTILE[0]
    assert {name for row in rows(page) for name in row[:2]} == set(HOSTILE)
    assert page.content["names"] == list(HOSTILE)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not [tag for tag, _ in page.tags if tag == "img"]
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]


def test_a_name_does_not_turn_the_direction_of_what_follows_it():
    names = ["a\u202eb", "\u2067c", "d\u200f"]
    data = np.cumsum(np.random.default_rng(0).normal(size=(100, 3)), axis=1)
    text = report_html(pyknnmi.learn(pd.DataFrame(data, columns=names), "iamb+fisher-z", targets=[names[1]]))
    assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)
    assert Page(text).content["names"] == ["a\\u202eb", "\\u2067c", "d\\u200f"]
    assert r"--targets $&#x27;\xe2\x81\xa7c&#x27;" in text  # the bytes of U+2067 in UTF-8


def test_a_long_drawing_is_not_flat_and_names_at_its_ends_are_in_it():
    names = [f"a name of some length {i}" for i in range(200)]
    svg = network_svg({name: (60.0 * i, 0.0) for i, name in enumerate(names)}, [], {}, "")
    left, _, width, height = map(float, re.search(r'viewBox="([^"]*)"', svg)[1].split())
    assert height >= width / 3
    font = float(re.search(r'font-size="([^"]*)"', svg)[1])
    half = len(names[0]) * 0.5 * font / 2  # letters are about half as wide as high
    assert left <= -half
    assert left + width >= 60 * 199 + half


def test_the_page_loads_nothing_from_elsewhere():
    text = report_html(mixed_result())
    assert not re.search(r"https?:|//[a-z]|url\(|@import", text)
    links = [value for _, attrs in Page(text).tags for name, value in attrs.items() if name in ("href", "src")]
    assert all(link.startswith("#") or link == "data:," for link in links)


def test_the_page_allows_its_own_script_and_style_alone():
    page = Page(report_html(mixed_result()))
    (policy,) = [attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.raw[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not [attrs for _, attrs in page.tags if "style" in attrs]  # the policy would refuse them


def test_the_script_is_given_the_same_pairs_as_the_table():
    page = Page(report_html(mixed_result()))
    names = page.content["names"]
    given = [[names[pair["a"]], names[pair["b"]], "yes" if pair["edge"] else "no"] for pair in page.content["pairs"]]
    assert given == [row[:3] for row in rows(page)]
    assert [pair["near"] for pair in page.content["pairs"]] == [False, False, False, False, True, False]


def test_the_same_result_gives_the_same_bytes():
    assert report_html(mixed_result()) == report_html(mixed_result())


def test_what_to_look_at_is_said_in_words():
    text = report_html(mixed_result())
    assert "1 edge has a p-value just below the threshold of 0.05: b - c." in text
    assert "1 pair was found from one side only, and has no edge: a - c." in text
    assert "1 column has no edge: e." in text


def test_warnings_of_the_run_are_shown_as_text():
    text = report_html(made({}, {}, warnings=("column '<b>' is constant",)))
    assert "<li>column &#x27;&lt;b&gt;&#x27; is constant</li>" in text
    assert "Warnings" not in report_html(mixed_result())


def test_a_calibration_is_shown_with_its_advice():
    data, _ = simulate.small_network(60, seed=1)
    found = pyknnmi.calibrate(data, "iamb+fisher-z", draws=5)
    text = report_html(made({}, {}, calibration=found))
    assert html.escape(str(found)) in text
    assert "--calibrate" in text
    assert "Calibration" not in report_html(mixed_result())


def test_partial_effects_are_curves_dots_and_maps():
    smooth = {"column": "b", "on": ["<a>"], "shape": "smooth", "at": [[0.0, 1.0, 2.0]], "effect": [-1.0, 0.0, 1.0]}
    kinds = {"column": "b", "on": ["e"], "shape": "categories", "at": [["<x>", "y"]], "effect": [-0.5, 0.5]}
    grid = [[-0.5, 0.25], [0.0, 0.5]]
    both = {"column": "b", "on": ["a", "c"], "shape": "interaction", "at": [[0.0, 1.0], [0.0, 1.0]], "effect": grid}
    text = report_html(made({}, {}, details={"effects": [smooth, kinds, both]}))
    # 220 wide and 110 high with margins of 16: the curve goes from corner to corner, through the middle
    assert '<polyline points="16.0,94.0 110.0,55.0 204.0,16.0"/>' in text
    assert text.count('<circle cx="16.0" cy="94.0" r="4"/><circle cx="204.0" cy="16.0" r="4"/>') == 1
    assert "&lt;x&gt;</text>" in text
    # the map has two by two rectangles of 94 by 39, the second column from the bottom up
    assert '<rect class="minus" fill-opacity="1.00" x="16.0" y="55.0" width="94.0" height="39.0"/>' in text
    assert '<rect class="plus" fill-opacity="0.50" x="16.0" y="16.0" width="94.0" height="39.0"/>' in text
    assert [text.count(f"<figcaption>b against {on}</figcaption>") for on in ("&lt;a&gt;", "e", "a and c")] == [1, 1, 1]


def test_directions_are_drawn_as_tips():
    evidence = {"ab": (True, "", answer(4, 1e-4)), "bc": (True, "", answer(3, 1e-3))}
    oriented = PartiallyDirectedGraph("abc", ["ba"], ["bc"])
    result = made(evidence, {"a": "b", "b": "ac", "c": "b"}, names="abc", oriented=oriented)
    page = Page(report_html(result))
    assert [pair["arrow"] for pair in page.content["pairs"]] == [-1, 0]
    assert len([attrs for tag, attrs in page.tags if attrs.get("class") == "tip"]) == 1


def test_far_pairs_beyond_the_limit_are_left_out_and_counted(monkeypatch):
    monkeypatch.setattr("pyknnmi.report.html._MOST_MISSES", 1)
    text = report_html(mixed_result())
    assert "1 more pairs without an edge" in text
    assert [row[:2] for row in rows(Page(text))][-1] == ["a", "c"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"required": [("X1", "X7")], "forbidden": [("X1", "X2")]},
        {"orient": True, "spec": "pc-stable+fisher-z"},
        {"targets": ["X2", "the, third"]},
        {"targets": ['of\n"two" lines'], "required": [('of\n"two" lines', "X7")]},
    ],
    ids=str,
)
def test_the_command_in_the_report_learns_the_same_network(arguments, tmp_path):
    data, _ = simulate.small_network(150, seed=2)
    data = pyknnmi.Dataset(data.values, [*data.names[:2], "the, third", 'of\n"two" lines', *data.names[4:]])
    path = tmp_path / "a table.csv"
    write_dataset(data, path)
    result = pyknnmi.learn(data, **{"spec": "iamb(rule=or)+fisher-z(alpha=0.1)", "seed": 7, **arguments})
    words = shlex.split(repeat_command(result, str(path)))
    again = CliRunner().invoke(main, [*words[1:], "--out", str(tmp_path / "out")], catch_exceptions=False)
    assert again.exit_code == 0, again.output
    kept = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert [(edge["source"], edge["target"]) for edge in kept["edges"]] == list(result.graph.edges)
    assert json.loads((tmp_path / "out" / "provenance.json").read_text())["data_sha256"] == result.data_sha256


def test_report_is_a_method_of_the_result(tmp_path):
    path = mixed_result().report(tmp_path / "new" / "report.html", data="ages.csv")
    assert "<title>Network of ages.csv</title>" in path.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::pyknnmi.PyknnmiWarning")
def test_what_the_table_shows_is_in_the_report():
    walks = np.random.default_rng(0).normal(size=(200, 2)).cumsum(axis=0)
    result = pyknnmi.learn(walks, "iamb+fisher-z")
    text = report_html(result)
    assert [finding.columns for finding in result.findings] == [("X1",), ("X2",)]
    said = " ".join(texts(text))
    for finding in result.findings:
        assert f"{finding.found[1:]}." in said
        assert finding.advice[1:] in said
    assert len(result.warnings) == 1
    assert ">Warnings<" not in text, "the one warning is what the findings say"
    assert "What the table itself shows" not in report_html(mixed_result())


def test_findings_that_say_the_same_are_put_together():
    said = {"kind": "censored", "follows": "little is seen", "advice": "keep it"}
    findings = tuple(AuditFinding(columns=(x,), figure=0.5, found=f"{x} ends", **said) for x in ("<a>", *"bcde"))
    text = report_html(made({}, {}, findings=findings))
    assert "<li>&lt;a&gt; ends. B ends. C ends." in text
    assert (
        '<div class="note">The same of d (0.5), e (0.5).</div><div class="note">Little is seen. Keep it.</div>' in text
    )


def test_the_threshold_is_that_of_the_learner():
    assert "No edge has a p-value above 0.05." in report_html(mixed_result())
    tested = made({"ab": (True, "", answer(4, 1e-4))}, {}, details={"level": 0.01})
    assert "No edge has a p-value above 0.01." in report_html(tested)


def test_p_values_of_tests_that_ended_early_are_marked_and_explained():
    text = report_html(rough_result())
    assert '<td class="number">~0.0125</td>' in text
    assert '<td class="number">0.0199</td>' in text
    assert '"p": 0.0125, "shown": "~0.0125"' in text
    assert "<dt>~</dt><dd>Rough: the test ended as soon as it was clear on which side of the threshold p is." in text
    assert "<dt>~</dt>" not in report_html(mixed_result())


def test_the_rule_is_explained_where_there_is_one():
    evidence, blankets = {"ab": (True, "", answer(4, 1e-4))}, {"a": "b", "b": "a"}
    shown = [
        report_html(made(evidence, blankets, spec)) for spec in ("iamb(rule=and)+fisher-z", "iamb(rule=or)+fisher-z")
    ]
    assert ["AND rule" in text for text in shown] == [True, False]
    assert ["OR rule" in text for text in shown] == [False, True]


def test_a_p_value_that_underflows_reads_well():
    text = report_html(made({"ab": (True, "", answer(50.0, 0.0))}, {}))
    assert "(p &lt;1e-300)" in text


@pytest.mark.filterwarnings("ignore::pyknnmi.PyknnmiWarning")
def test_no_sentence_of_a_report_is_too_long():
    """Every section is there, and names of columns are short."""
    data, _ = simulate.small_network(120, seed=1)
    results = [
        mixed_result(),
        pyknnmi.learn(data, "iamb+fisher-z", calibrate=True, required=[("X1", "X7")]),
        pyknnmi.learn(data, "pc-stable+fisher-z", orient=True),
        pyknnmi.learn(data, "functional-anova"),
        pyknnmi.learn(data.values.cumsum(axis=0).round(), "iamb+fisher-z"),
        made({}, {}, warnings=("column 'a' is constant",)),
    ]
    titles = {title for result in results for title in re.findall("<h2[^>]*>(.*?)</h2>", report_html(result))}
    assert len(titles) == len(_SECTIONS)
    for result in results:
        assert not long_sentences(texts(report_html(result)))
