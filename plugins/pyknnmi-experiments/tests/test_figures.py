from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import pytest
from pyknnmi_experiments import draw_figures, save_figures, summarize
from result_rows import row, stored_rows

from pyknnmi import PyknnmiError


def curves(axes):
    """Return the drawn points by method."""
    return {
        bars.get_label(): list(zip(bars.lines[0].get_xdata(), bars.lines[0].get_ydata(), strict=True))
        for bars in axes.containers
    }


def test_curves_are_the_means():
    pytest.importorskip("matplotlib")
    rows = stored_rows()
    figure = draw_figures(rows)["small-network"]
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert len(panels) == 6
    drawn = curves(panels["nonlinear, t noise"])
    for summary in summarize(rows):
        if summary.experiment == "small-network-nonlinear-t":
            assert (summary.n, summary.hamming_distance) in [
                (pytest.approx(x, rel=0.05), y) for x, y in drawn[summary.method]
            ]
    assert {len(points) for points in drawn.values()} == {5}


def test_bars_are_the_standard_errors():
    pytest.importorskip("matplotlib")
    rows = [row(125, r, hamming_distance=distance) for r, distance in enumerate((1, 3, 5, 7))]
    (axes,) = draw_figures(rows)["large-network"].axes
    (bars,) = axes.containers
    ((_, low), (_, high)) = bars.lines[2][0].get_segments()[0]
    assert (low, high) == pytest.approx((4 - 5**0.5 / 2, 4 + 5**0.5 / 2))  # sd with ddof 0 is the root of 5


def test_a_method_looks_the_same_everywhere():
    pytest.importorskip("matplotlib")
    names = [
        ("large-network", "b"),
        ("large-network", "a"),
        ("random-gaussian-p20", "b"),
        ("g-wishart-mixture-p8", "b"),
    ]
    figures = draw_figures([row(n, experiment=e, method=m) for e, m in names for n in (125, 250)])
    assert list(figures) == ["large-network", "random-graph", "g-wishart-mixture"]
    colors = {
        bars.lines[0].get_color()
        for figure in figures.values()
        for axes in figure.axes
        for bars in axes.containers
        if bars.get_label() == "b"
    }
    assert len(colors) == 1
    both = {bars.lines[0].get_color() for bars in figures["large-network"].axes[0].containers}
    assert len(both) == 2


def test_many_methods_look_different():
    pytest.importorskip("matplotlib")
    (axes,) = draw_figures([row(method=f"m{i}") for i in range(24)])["large-network"].axes
    looks = {(bars.lines[0].get_color(), bars.lines[0].get_linestyle()) for bars in axes.containers}
    assert len(looks) == 24


def test_files(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [row(n, r, hamming_distance=n // 100 + r) for n in (125, 250) for r in (0, 1)]
    paths = save_figures(rows, tmp_path / "new")
    assert [path.name for path in paths] == ["large-network.png", "large-network.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert ET.parse(paths[1]).getroot().tag.endswith("svg")
    first = [path.read_bytes() for path in paths]
    assert [path.read_bytes() for path in save_figures(rows, tmp_path / "new")] == first


def test_nothing_to_draw():
    with pytest.raises(PyknnmiError, match="no results to draw"):
        draw_figures([])


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PyknnmiError, match=r'pip install "pyknnmi-experiments\[plot\]"'):
        draw_figures([row()])
