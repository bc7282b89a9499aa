from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from made_results import HOSTILE, answer, hostile_result, made, mixed_result, rough_result
from matplotlib.collections import PathCollection

import pyknnmi
from pyknnmi import DataError, ParameterError, PartiallyDirectedGraph, simulate
from pyknnmi.report.plots import KINDS

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
mpl.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def drawn(axes):
    """Draw the figure, so that whatever cannot be drawn fails."""
    axes.get_figure().canvas.draw()
    return axes


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.fixture(scope="module")
def result():
    return pyknnmi.learn(simulate.small_network(300, seed=1)[0], "iamb+fisher-z")


@pytest.mark.parametrize("kind", ["graph", "matrix", "evidence"])
def test_a_plot_returns_the_axes_that_it_was_given(kind, result):
    ax = plt.subplots()[1]
    assert drawn(result.plot(kind, ax)) is ax


def test_a_plot_without_axes_makes_a_figure(result):
    assert drawn(result.plot()).get_title(loc="left") == f"{len(result.graph.edges)} edges between 7 columns"


def test_every_edge_is_a_line_and_a_stronger_one_is_wider(result):
    axes = result.plot("graph")
    (lines, *_) = axes.collections
    widths = dict(zip([pair.label for pair in pyknnmi_rows(result)], lines.get_linewidths(), strict=True))
    strengths = {f"{pair.source} - {pair.target}": pair.answer.statistic for pair in result.edge_evidence()}
    assert sorted(widths, key=widths.get) == sorted(strengths, key=strengths.get)


def pyknnmi_rows(result):
    from pyknnmi.report.pairs import reported_pairs

    return [row for row in reported_pairs(result) if row.edge]


def test_the_legend_names_each_kind_of_line_that_is_drawn():
    assert legend(drawn(mixed_result().plot())) == [
        "edge, wider if stronger",
        "required, not tested",
        "in one blanket only, no edge",
    ]


def test_an_oriented_graph_has_an_arrow_for_each_direction():
    rows = {"ab": (True, "", answer(4, 1e-4)), "bc": (True, "", answer(3, 1e-3)), "ac": (True, "", answer(2, 0.04))}
    oriented = PartiallyDirectedGraph("abc", ["ab"], ["bc"])
    result = made(rows, {"a": "bc", "b": "ac", "c": "ab"}, names="abc", oriented=oriented)
    axes = drawn(result.plot())
    arrows = [text.arrow_patch for text in axes.texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == 1
    assert legend(axes) == ["direction found", "direction open", "joins two causes of a common effect"]


def test_the_matrix_shows_the_strength_of_each_pair_on_both_sides():
    result = mixed_result()
    axes = drawn(result.plot("matrix"))
    names = [label.get_text() for label in axes.get_xticklabels()]
    image = axes.images[0].get_array().filled(np.nan)
    place = [names.index(name) for name in "abcde"]
    expected = np.full((5, 5), np.nan)
    for (i, j), strength in {(0, 1): 9.0, (0, 2): 1.9, (1, 2): 2.1, (1, 3): 0.2}.items():
        expected[i, j] = expected[j, i] = strength
    np.testing.assert_array_equal(image[np.ix_(place, place)], expected)


def test_the_evidence_is_the_p_values_and_the_threshold():
    axes = drawn(mixed_result().plot("evidence"))
    dots = [marks for marks in axes.collections if isinstance(marks, PathCollection)]
    shown = sorted(float(x) for marks in dots for x, _ in marks.get_offsets())
    assert shown == [1e-9, 0.04, 0.06, 0.8]
    assert "threshold 0.05" in legend(axes)


def test_the_evidence_marks_tests_that_ended_early():
    axes = drawn(rough_result().plot("evidence"))
    assert sorted(label.get_text() for label in axes.get_yticklabels()) == ["a - b ~", "a - c", "b - c ~"]
    assert axes.get_xlabel() == "p-value of the test that decided; ~ rough, as the test ended once it had decided"
    assert drawn(mixed_result().plot("evidence")).get_xlabel() == "p-value of the test that decided"


def test_effects_are_a_panel_each():
    effects = [
        {"column": "b", "on": ["a"], "shape": "smooth", "at": [[0.0, 1.0, 2.0]], "effect": [-1.0, 0.0, 1.0]},
        {"column": "c", "on": ["a", "b"], "shape": "interaction", "at": [[0.0, 1.0], [0.0, 1.0, 2.0]],
         "effect": [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]]},
        {"column": "d", "on": ["c"], "shape": "categories", "at": [["no", "yes"]], "effect": [-0.1, 0.1]},
    ]  # fmt: skip
    axes = drawn(made({}, {}, spec="glasso", details={"effects": effects}).plot("effects"))
    smooth, interaction, categories = axes.child_axes[:3]
    np.testing.assert_array_equal(smooth.lines[-1].get_xydata(), [[0, -1], [1, 0], [2, 1]])
    np.testing.assert_array_equal(
        np.ravel(interaction.collections[0].get_array()), np.ravel(np.transpose(effects[1]["effect"]))
    )
    assert [text.get_text() for text in categories.get_xticklabels()] == ["no", "yes"]


def test_selection_is_the_curve_and_the_choice():
    details = {"penalty": 0.2, "penalties": [0.4, 0.2, 0.1], "instability": [0.0, 0.02, 0.2], "edges": []}
    axes = drawn(made({}, {}, spec="glasso", details=details).plot("selection"))
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[0.4, 0.0], [0.2, 0.02], [0.1, 0.2]])
    assert axes.lines[1].get_xdata()[0] == 0.2


def test_selection_is_how_often_pairs_came_up_for_stability():
    selection = [{"source": "a", "target": b, "frequency": share} for b, share in (("b", 0.2), ("c", 0.9))]
    details = {"stability": {"threshold": 0.75}, "selection": selection}
    axes = drawn(made({}, {}, spec="stability+iamb+fisher-z", details=details).plot("selection"))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a - c", "a - b"]
    assert legend(axes) == ["threshold 0.75"]


@pytest.mark.parametrize("kind", ["effects", "selection"])
def test_what_a_result_does_not_hold_is_not_drawn(kind, result):
    with pytest.raises(DataError, match=r"there (are|is) no"):
        result.plot(kind)


def test_a_graph_without_edges_is_drawn():
    drawn(made({}, {}).plot("graph"))


def test_an_unknown_kind_names_the_known_ones(result):
    with pytest.raises(ParameterError, match="no plot 'matrx'; did you mean 'matrix'"):
        result.plot("matrx")
    assert list(KINDS) == ["graph", "matrix", "evidence", "effects", "selection"]


@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")  # the font of matplotlib has no emoji
@pytest.mark.parametrize("kind", ["graph", "matrix", "evidence"])
def test_names_are_text_whatever_they_hold(kind):
    axes = drawn(hostile_result().plot(kind))
    texts = [text.get_text() for text in (*axes.texts, *axes.get_yticklabels())]
    assert any(HOSTILE[6] in text for text in texts)  # no mathematics
    assert not any("\n" in text for text in texts)


def test_the_same_result_gives_the_same_bytes(result, tmp_path):
    for name in ("one", "two"):
        with mpl.rc_context({"svg.hashsalt": "pyknnmi"}):
            result.plot("graph").get_figure().savefig(tmp_path / f"{name}.svg", metadata={"Date": None})
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
