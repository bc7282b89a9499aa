from itertools import pairwise

import numpy as np
from made_results import answer, made, mixed_result, rough_result

from pyknnmi import Constraints, learn, simulate
from pyknnmi.report.summary import summary


def test_the_summary_lists_edges_from_strong_to_weak_and_what_to_look_at():
    assert summary(mixed_result()) == (
        "3 edges between 5 columns, learned from 100 rows\n"
        "\n"
        "edge     strength    p-value\n"
        "a - d                         required\n"
        "a - b           9      1e-09\n"
        "b - c         2.1       0.04\n"
        "strength: statistic of fisher-z\n"
        "\n"
        "Look at:\n"
        "- 1 edge has a p-value just below the threshold of 0.05: b - c. Another sample might not show it.\n"
        "- 1 pair was found from one side only, and has no edge: a - c.\n"
        "- 1 column has no edge: e.\n"
        "\n"
        "9 tests, 0.10 s\n"
        "to compare: --spec recommended, which is functional-anova"
    )


def test_the_summary_marks_p_values_of_tests_that_ended_early():
    """1/80 is 0.0125, and 4/201 is 0.0199."""
    lines = summary(rough_result()).splitlines()
    assert lines[2:7] == [
        "edge     strength    p-value",
        "a - b         0.5    ~0.0125",
        "a - c        0.02     0.0199",
        "strength: conditional mutual information (nats)",
        "~: rough, as the test ended once it had decided; stop=never makes all permutations",
    ]
    assert "~" not in summary(mixed_result())


def test_the_summary_of_a_run_says_which_tests_ended_early():
    data, _ = simulate.small_network(150, seed=3)
    early, whole = (learn(data, f"iamb+knn-cmi(stop={stop})") for stop in ("sequential", "never"))
    assert early.graph.edges
    assert "\n~: rough, as the test ended once it had decided; stop=never makes all permutations\n" in summary(early)
    assert "~" not in summary(whole)
    assert ("~: rough" in str(early), "~" in str(whole)) == (True, False)


def test_the_summary_names_the_preset():
    data, _ = simulate.small_network(100, seed=1)
    said = summary(learn(data, "recommended"))
    assert said.endswith("\nby the preset recommended, which is functional-anova")


def test_of_columns_that_were_not_searched_for_nothing_is_said():
    found = made({"ab": (False, "", answer(0.1, 0.9))}, {"a": ""}, names="abc", constraints=Constraints(targets=("a",)))
    assert "- 1 column has no edge: a." in summary(found)


def test_a_graph_without_edges_has_a_summary():
    said = summary(made({"ab": (False, "", answer(0.1, 0.9))}, {"a": "", "b": ""}, names="ab"))
    assert said.startswith("0 edges between 2 columns, learned from 100 rows\n")
    assert "- 2 columns have no edge: a, b." in said


def test_many_edges_are_cut_and_counted():
    names = [f"n{i}" for i in range(50)]
    pairs = {(a, b): (True, "", answer(3.0, 0.003)) for a, b in pairwise(names)}
    said = summary(made(pairs, {}, names=names))
    assert "and 9 weaker ones; --out or --report writes all" in said


def test_the_other_way_needs_complete_rows():
    values = np.random.default_rng(0).standard_normal((40, 3))
    values[:3, 1] = np.nan
    for missing, option in (("drop-per-test", " --missing drop"), ("drop", "")):
        told = summary(learn(values, "pairwise+fisher-z", missing=missing)).splitlines()[-1]
        assert told == f"to compare: --spec recommended{option}, which is functional-anova"
