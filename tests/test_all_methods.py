"""The page of all methods is made of the rows beside it, and these are what the product gives."""

from __future__ import annotations

import csv

import all_methods
import all_methods_page
import pytest

CELLS = all_methods_page.with_votes(all_methods_page.read())
with all_methods.FILE.open(newline="", encoding="utf-8") as stream:
    ROWS = list(csv.DictReader(stream))
CHEAP = [
    row
    for row in ROWS
    if row["n"] == "500"
    and row["repetition"] == "0"
    and row["method"] in ("functional-anova", "fisher-z", "fast")
    and all_methods.KINDS[row["data"]].p <= 10
]


@pytest.mark.parametrize("row", CHEAP[::4], ids=lambda row: f"{row['data']}-{row['method']}")
def test_rows_can_be_had_again(row):
    kind = all_methods.KINDS[row["data"]]
    again = all_methods.learned(kind, int(row["n"]), int(row["repetition"]), row["method"])
    assert {field: str(value) for field, value in again.items() if field != "seconds"} == {
        field: value for field, value in row.items() if field != "seconds"
    }


def test_no_row_is_there_twice():
    keys = [(row["data"], row["n"], row["repetition"], row["method"]) for row in ROWS]
    assert len(keys) == len(set(keys))


def test_runs_made_once_more_give_the_stored_errors():
    stored = all_methods_page.stored()
    again = {
        (row["data"], int(row["n"]), row["method"], int(row["repetition"])): row
        for row in ROWS
        if row["method"] == "knn"
    }
    both = [key for key in again if key[3] in stored.get(key[:3], {})]
    assert both
    for *key, repetition in both:
        row = again[*key, repetition]
        counts = stored[tuple(key)][repetition].counts
        assert counts == (len(row["false"].split()), len(row["missed"].split())), row


def test_the_page_is_of_these_rows():
    page = (all_methods.HERE / "all_methods.md").read_text(encoding="utf-8")
    assert page == all_methods_page.page(CELLS)


@pytest.mark.parametrize("guide", all_methods_page.GUIDES, ids=lambda guide: guide.name)
def test_the_guides_have_these_means(guide):
    tables = ["\n".join(part(CELLS)) for part in all_methods_page.GUIDES[guide]]
    text = guide.read_text(encoding="utf-8")
    assert all(table in text for table in tables)
    assert all_methods_page.with_tables(text, tables) == text


def test_votes_join_graphs():
    a, b, c = ({"false": frozenset(f), "missed": frozenset(m)} for f, m in (("xy", "p"), ("yz", "pq"), ("z", "q")))
    graphs = [all_methods_page.Errors(5, **graph, seconds=None) for graph in (a, b, c)]
    cells = {
        ("kind", 9, method): {0: graph}
        for method, graph in zip(("functional-anova", "knn", "residual"), graphs, strict=True)
    }
    voted = all_methods_page.with_votes(cells)
    either, both, most = (voted["kind", 9, vote][0] for vote in all_methods_page.VOTES)
    assert (either.false, either.missed) == (set("xyz"), set("p"))
    assert (both.false, both.missed) == (set("y"), set("pq"))
    assert (most.false, most.missed) == (set("yz"), set("pq"))
