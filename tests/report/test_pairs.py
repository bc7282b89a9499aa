from dataclasses import replace

import pytest
from made_results import answer, made, mixed_result, rough_result

from pyknnmi.report.pairs import (
    alpha_of,
    closest_to_the_threshold,
    effects_in,
    reported_pairs,
    shortened,
    strength_name,
)
from pyknnmi.report.summary import summary


def reasons(result):
    return {f"{row.source}{row.target}": row.reason for row in reported_pairs(result)}


def test_the_reason_says_why_two_columns_are_joined_or_not():
    found = reasons(mixed_result())
    assert found["ab"] == "in both blankets. From a: dependent (p = 0.003). From b: dependent (p = 0.003)"
    assert found["ac"] == (
        "lost by the AND rule: c is in the blanket of a, and a not in that of c. "
        "From a: dependent given b (p = 0.003). From c: independent given b (p = 0.06)"
    )
    assert found["ad"].startswith("required")
    assert found["ae"].startswith("forbidden")
    near = "independent given a, c, as the estimate and the correlation are both next to nothing"
    assert found["bd"] == f"in neither blanket. From b: {near}. From d: {near}"


def test_under_the_or_rule_one_side_is_enough():
    result = made({"ab": (True, "c", answer(3.0, 0.3))}, {"a": "", "b": "a"}, spec="iamb(rule=or)+fisher-z")
    assert reasons(result)["ab"].startswith("kept by one side: a is in the blanket of b, and b not in that of a. ")


def test_without_sides_the_one_test_is_the_reason():
    evidence = {"ab": (True, "c", answer(3.0, 0.003)), "ad": (False, "", answer(1.0, 0.3))}
    assert reasons(made(evidence, {})) == {"ab": "dependent given c (p = 0.003)", "ad": "independent (p = 0.3)"}


def test_the_reason_says_that_a_test_ended_early():
    """1/80 is 0.0125, and 20/80 is 0.25."""
    assert reasons(rough_result()) == {
        "ab": "dependent given c (p about 0.0125 after 79 permutations)",
        "ac": "dependent (p = 0.0199)",
        "bc": "independent (p about 0.25 after 79 permutations)",
    }


def test_where_one_column_alone_was_searched_no_pair_is_one_sided():
    result = made({"ab": (True, "c", answer(3.0, 0.003)), "ad": (False, "", answer(1.0, 0.3))}, {"a": "b"})
    assert not any(row.one_sided for row in reported_pairs(result))


def test_a_learner_without_a_test_gives_its_own_strengths():
    rows = [{"source": "b", "target": "a", "partial_correlation": -0.4, "stability": 1.0}]
    result = made({}, {}, spec="glasso", details={"edges": rows})
    result = made({"ab": (True, "", answer(0.0, 0.0))}, {}, spec="glasso", details={"edges": rows})
    result = type(result)(**{**vars(result), "evidence": ()})
    (row,) = reported_pairs(result)
    assert (row.strength, row.p_value, row.reason) == (-0.4, None, "chosen by the learner")
    assert strength_name(result) == "partial correlation"
    assert alpha_of(result) is None


def test_edges_come_first_and_each_part_from_strong_to_weak():
    rows = reported_pairs(mixed_result())
    assert [f"{row.source}{row.target}" for row in rows] == ["ad", "ab", "bc", "ae", "ac", "bd"]


def test_only_one_sided_pairs_are_marked():
    assert [row.label for row in reported_pairs(mixed_result()) if row.one_sided] == ["a - c"]


def test_a_pair_that_one_side_never_tested_is_among_them():
    result = made({"ab": (True, "", answer(4.0, 1e-4))}, {"a": "bc", "b": "a", "c": ""}, names="abc")
    assert result.one_sided() == (("a", "c"),)
    row = reported_pairs(result)[-1]
    assert (row.label, row.one_sided, row.edge, row.p_value) == ("a - c", True, False, None)
    assert row.reason.startswith("lost by the AND rule: c is in the blanket of a, and a not in that of c")
    assert "1 pair was found from one side only" in summary(result)


def test_the_pairs_nearest_to_the_threshold_are_nearest_as_a_ratio():
    # 0.06 / 0.05 and 0.05 / 0.04 are 1.2 and 1.25; 0.8 / 0.05 is 16
    rows = closest_to_the_threshold(reported_pairs(mixed_result()), 2)
    assert [row.p_value for row in rows] == [0.04, 0.06]


def test_a_test_at_a_level_of_its_own_is_near_or_far_by_that_level():
    own = replace(answer(2.0, 0.02), independent=True, level=0.001)
    rows = reported_pairs(made({"ab": (False, "", own), "ac": (False, "", answer(1.0, 0.3))}, {}))
    assert [row.threshold for row in rows] == [0.001, 0.05]
    assert rows[0].reason == "independent (p = 0.02, threshold 0.001)"
    # 0.02 / 0.001 is 20, 0.3 / 0.05 is 6
    assert [row.label for row in closest_to_the_threshold(rows, 1)] == ["a - c"]


def stable(names="abc"):
    rows = [("b", "a", 0.9), ("a", "c", 0.4), ("b", "c", 0.2)]
    details = {
        "stability": {"threshold": 0.75},
        "selection": [{"source": a, "target": b, "frequency": frequency} for a, b, frequency in rows],
    }
    result = made(
        {"ab": (True, "", answer(1.0, 0.01))}, {}, spec="stability+iamb+fisher-z", names=names, details=details
    )
    return replace(result, evidence=())


def test_stability_tells_how_often_a_pair_came_up():
    rows = reported_pairs(stable())
    # 0.4 is more than half of 0.75, 0.2 is not
    assert [(row.label, row.edge, row.strength) for row in rows] == [("a - b", True, 0.9), ("a - c", False, 0.4)]
    assert rows[1].reason == "found in 40% of the parts of the rows, and 75% are needed"
    assert strength_name(stable()) == "frequency"


def test_alpha_is_read_from_the_spec():
    assert alpha_of(made({}, {}, spec="iamb-fdr(fdr=0.1)+knn-cmi(k=3,alpha=0.01)")) == 0.01


@pytest.mark.parametrize(
    ("name", "short"), [("age", "age"), ("a" * 12, "aaaaa…aaaa"), ("two\nlines", "two lines"), ("a\x1bb", "a b")]
)
def test_a_name_is_shortened_in_the_middle_and_stays_on_its_line(name, short):
    assert shortened(name, 10) == short


def test_effects_come_from_the_widest():
    wide, one_corner = [-1.0, -1.0, 1.0, 1.0], [0.0] * 99 + [5.0]
    effects = [{"column": "y", "on": ["x"], "at": [[]], "effect": effect} for effect in (one_corner, [], wide)]
    assert [row["effect"] for row in effects_in({"effects": effects})] == [wide, one_corner, []]
