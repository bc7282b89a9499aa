from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from made_results import rough_result

import pyknnmi
from pyknnmi import PyknnmiWarning, learn

DATA, _ = pyknnmi.simulate.small_network(150, seed=3)


def test_every_column_and_every_edge_is_shown():
    result = learn(DATA, "iamb+fisher-z")
    page = ET.fromstring(result._repr_html_())
    assert [text.text for text in page.iter("text")] == list(DATA.names)
    assert len(list(page.iter("line"))) == len(list(page.find("table/tbody"))) == len(result.graph.edges)
    shown = {(row[0].text, row[1].text) for row in page.find("table/tbody")}
    assert shown == set(result.graph.edges)
    assert page.find("p/code").text == result.spec


def test_p_values_of_tests_that_ended_early_are_marked():
    page = ET.fromstring(rough_result()._repr_html_())
    assert [row[3].text for row in page.find("table/tbody")] == ["~0.0125", "0.0199"]
    assert "~: rough, as the test ended once it had decided" in "".join(page.itertext())


def test_names_are_text_and_warnings_are_shown():
    names = ["<b>", "a & b", "c"]
    frame = pd.DataFrame(np.column_stack([DATA.values[:, :2], np.ones(DATA.n)]), columns=names)
    with pytest.warns(PyknnmiWarning, match="constant"):
        result = learn(frame, "iamb+fisher-z")
    page = ET.fromstring(result._repr_html_())
    assert [text.text for text in page.iter("text")] == names
    assert next(item.text for item in page.iter("li")) == result.warnings[0]


def test_a_large_network_is_a_table_only():
    values = np.random.default_rng(1).standard_normal((50, 61))
    values[:, 1:] += 3 * values[:, :1]
    result = learn(values, "pc-stable(max_conditioning=0)+fisher-z")
    page = ET.fromstring(result._repr_html_())
    assert page.find("svg") is None
    assert len(list(page.find("table/tbody"))) == min(20, len(result.graph.edges))
