"""Tables that have one thing wrong with them: the audit names it, its columns and its measure, and nothing else."""

from __future__ import annotations

import csv
import json
import re
import shlex
import uuid
import warnings
from datetime import date, timedelta

import numpy as np
import pytest
from click.testing import CliRunner

from pyknnmi import (
    AuditFinding,
    DataError,
    Dataset,
    DataTypeError,
    PyknnmiWarning,
    audit,
    bind,
    ci_test,
    learn,
    parse_test,
)
from pyknnmi.auditing.finding import warn_of
from pyknnmi.cli import main
from pyknnmi.report.summary import summary

N = 300


def normals(p=4, n=N, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def found(values, names=None, kinds=()):
    values = np.asarray(values, dtype=float)
    names = names or tuple(f"X{i + 1}" for i in range(values.shape[1]))
    return {(f.kind, f.columns): f for f in audit(Dataset(values, tuple(names), kinds, has_missing=True)).findings}


def with_column(column, p=3):
    return np.column_stack([column, normals(p, len(column), seed=9)])


def test_normals_have_no_findings():
    assert found(normals()) == {}


RANDOM = np.random.default_rng(5)
U = RANDOM.standard_normal(N)
LOW = np.sort(U)[90]
CASES = {
    "constant": (np.ones(N), "constant", 1),
    "no values": (np.full(N, np.nan), "constant", 0),
    "nearly constant": (np.where(np.arange(N) < 6, U, 2.0), "nearly-constant", 294 / N),
    "detection limit": (np.maximum(U, LOW), "censored", 91 / N),
    "upper limit": (np.minimum(U, -LOW), "censored", (-LOW <= U).sum() / N),
    "zero or lognormal": (np.where(U < LOW, 0, np.exp(U)), "censored", 90 / N),
    "filler": (np.where(np.arange(N) % 4 == 0, 0.5, U), "filler", 75 / N),
    "counts": (RANDOM.poisson(3, N), "whole-numbers", None),
    "rounded": (np.round(U, 1), "tied", None),
    "-9999": (np.where(np.arange(N) % 10 == 0, -9999.0, U), "missing-mark", 0.1),
    "999 in ages": (np.where(np.arange(N) % 10 == 0, 999.0, np.round(40 + 12 * U)), "missing-mark", 0.1),
    "offset": (1e9 + 1e-5 * U, "lost-resolution", None),
    "heavy tails": (np.tan(np.pi * (RANDOM.random(N) - 0.5) * 0.9999), "heavy-tails", None),
    "count of the rows": (np.arange(N), "row-number", 1),
    "walk": (np.cumsum(RANDOM.standard_normal(N)), "drift", None),
}


@pytest.mark.parametrize("case", CASES)
def test_one_column(case):
    column, kind, figure = CASES[case]
    findings = found(with_column(column))
    assert (kind, ("X1",)) in findings
    others = {
        key for key in findings if key[0] not in {kind, "drift", "serial-dependence", "tied", "trend", "whole-numbers"}
    }
    assert others == set()
    if figure is not None:
        assert findings[kind, ("X1",)].figure == pytest.approx(figure)


def test_marks_of_missing_are_all_named_and_set_aside():
    column = np.where(np.arange(N) % 10 == 0, -9999.0, np.where(np.arange(N) % 10 == 1, 9999.0, U))
    findings = audit(np.random.default_rng(0).permutation(with_column(column))).findings
    assert [f.kind for f in findings] == ["missing-mark", "missing-mark"]
    assert {f.found.split()[5] for f in findings} == {"-9999", "9999"}


def days(first, count=N, step=1):
    """Days as numbers such as 20240131."""
    return np.array([int(f"{first + timedelta(step * i):%Y%m%d}") for i in range(count)], dtype=float)


@pytest.mark.parametrize(
    "dates", [days(date(1900, 1, 1), step=240), days(date(2023, 11, 1)), days(date(2024, 2, 20), 20)]
)
@pytest.mark.parametrize("some_miss", [False, True])
def test_dates_as_numbers(dates, some_miss):
    column = np.random.default_rng(0).permutation(np.resize(dates, N))
    if some_miss:
        column[::7] = np.nan
    findings = found(with_column(column))
    seen = column[~np.isnan(column)]
    finding = findings["dates", ("X1",)]
    assert finding.found.endswith(f"are dates, from {seen.min():.0f} to {seen.max():.0f}")
    assert (finding.figure, finding.serious) == (len(set(seen)), True)
    with pytest.warns(PyknnmiWarning, match="The numbers of column 'X1' are dates"):
        learn(with_column(column), "pairwise+fisher-z", missing="drop")


@pytest.mark.parametrize(
    "column",
    [
        np.resize(days(date(2024, 1, 1), 19), N),  # fewer than 20
        np.append(days(date(2024, 1, 1), N - 1), 20240230),  # no day
        np.append(days(date(2024, 1, 1), N - 1), 20240931),
        np.append(days(date(1950, 1, 1), N - 1), 19001301),
        np.append(days(date(1900, 1, 1), N - 1), 19000229),  # no leap year
        np.append(days(date(2024, 1, 1), N - 1), 20241200),
        days(date(1899, 12, 1)),
        days(date(2100, 11, 1)),
        days(date(2024, 1, 1)) + 0.5,
        days(date(2024, 1, 1)) - 20000000,  # 240131
        20_240_000 + 7 * np.arange(N),
        -days(date(2024, 1, 1)),
        np.exp(np.arange(N)),
        1.7e15 + 60_000_000 * np.arange(N),  # microseconds; their first digits are no C integer
        np.append(days(date(2024, 1, 1), N - 1), 1e300),
        -1e300 * np.exp(-np.arange(N)),
    ],
)
def test_numbers_that_are_no_dates(column):
    assert "dates" not in {kind for kind, _ in found(with_column(column))}


@pytest.mark.parametrize(
    "values", [[-1, 0, 1], [18, 24, 48, 120], [1628, 1632, 1644, 1851], [1, 2, 10], [0, 9, 18], [-9, 0, 9], [0, 1]]
)
def test_a_few_values_are_no_marks_of_missing(values):
    column = np.array(values)[np.arange(N) % len(values)]
    assert ("missing-mark", ("X1",)) not in found(with_column(column))


@pytest.mark.parametrize(
    "values", [[1, 2, 3, 9], [0, 1, 9], [1, 2, 3, 4, 5, 99], [0, 1, -9], [1, 2, 999], [0, 1, -9999]]
)
def test_marks_of_missing_among_a_few_values(values):
    column = np.array(values)[np.arange(N) % len(values)]
    assert ("missing-mark", ("X1",)) in found(with_column(column))


@pytest.mark.parametrize("column", [U**3, np.where(np.arange(N) == 7, 1e6, U), np.exp(2 * U), np.round(40 + 12 * U)])
def test_what_is_no_mark_of_missing(column):
    assert ("missing-mark", ("X1",)) not in found(with_column(column))


@pytest.mark.parametrize("name", ["id", "patient_id", "Unnamed: 0", "rownames", "index", "row number", "sample.id"])
def test_identifiers(name):
    column = np.random.default_rng(1).permutation(2 * N)[:N] + 1000
    assert ("identifier", (name,)) in found(with_column(column), [name, "a", "b", "c"])
    assert ("identifier", ("age",)) not in found(with_column(column), ["age", "a", "b", "c"])


def test_what_numbers_the_rows():
    random = np.random.default_rng(1)
    for column, kind in (
        (np.arange(N)[::-1], "row-number"),
        (10 * np.arange(N) + 5, "row-number"),
        (random.permutation(N), "identifier"),
        (random.permutation(10**6)[:N], None),
        (np.arange(N) / 7, None),
    ):
        kinds = {f.kind for f in found(with_column(column)).values() if f.columns == ("X1",)}
        assert kinds - {"drift", "trend"} == ({kind} if kind else set())
    ranks = np.column_stack([random.permutation(N) for _ in range(3)])
    assert found(ranks) == {}


def test_identifiers_of_groups_of_rows():
    labels = np.repeat(np.arange(30), 10)
    findings = found(with_column(labels), ["subject_id", "a", "b", "c"])
    assert findings["identifier", ("subject_id",)].figure == pytest.approx(0.1)
    assert "blocks" in findings["identifier", ("subject_id",)].advice
    table = Dataset(with_column(labels), ("subject_id", "a", "b", "c"))
    assert "ignore" not in audit(table).options


@pytest.mark.parametrize(
    ("name", "low", "high"), [("price_index", 80, 120), ("consumer confidence index", 80, 120), ("row", 1, 40)]
)
def test_measurements_that_are_named_as_identifiers_may_be(name, low, high):
    column = np.random.default_rng(1).integers(low, high + 1, N)
    report = audit(Dataset(with_column(column), (name, "a", "b", "c")))
    assert not [f for f in report.findings if f.serious or f.kind == "identifier"]
    assert "ignore" not in report.options


def test_minus_one_is_a_mark_unless_it_is_the_next_value():
    goals = np.random.default_rng(3).poisson(5, N)
    missing = np.arange(N) % 20 == 0
    assert (goals == 0).sum() >= 2
    assert ("missing-mark", ("X1",)) not in found(with_column(goals - 1))
    for measured in (goals + 18, 10 * goals, np.abs(U), 100 * np.abs(U)):
        assert ("missing-mark", ("X1",)) in found(with_column(np.where(missing, -1, measured)))


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("p{:03d}".format, "holds 300 different texts.*--ignore record"),
        (lambda i: str(uuid.UUID(int=i**7)), "holds 300 different texts.*--ignore record"),
        (lambda i: str(date(2020, 1, 1) + timedelta(days=i)), "a date or a time"),
    ],
)
def test_text_that_names_each_row_is_refused(label, message):
    rows = np.random.default_rng(0).permutation(N)
    x, y = normals(2).T
    table = {"record": [label(int(i)) for i in rows], "x": x, "y": y}
    with pytest.raises((DataError, DataTypeError), match=f"'record'.*{message}"):
        learn(table, "pairwise+fisher-z")
    found = audit(table)
    assert re.search(f"'record'.*{message}", found.refused["record"])
    assert (found.columns, found.options["ignore"]) == (2, ["record"])
    assert audit(table, ignore="record").columns == 2


def test_copies_and_what_others_determine():
    a, b, c, d = normals().T
    findings = found(np.column_stack([a, b, c, d, 2.54 * a + 10, b + c]))
    assert set(findings) == {("copies", ("X1", "X5")), ("collinear", ("X2", "X3", "X6"))}
    assert findings["collinear", ("X2", "X3", "X6")].figure == pytest.approx(1)
    noisy = found(np.column_stack([a, b, c, a + b + 0.02 * d]))  # 0.0002 of its variance is its own
    assert noisy["collinear", ("X1", "X2", "X4")].figure == pytest.approx(
        1 - 0.0004 / (a + b + 0.02 * d).var(), abs=1e-4
    )
    assert found(np.column_stack([a, b, c, a + b + 0.2 * d])) == {}


def test_copies_in_any_units():
    a, b, c, d = normals().T
    hole = np.arange(N) % 9 == 0
    a[hole] = np.nan
    findings = found(np.column_stack([a, b, c, d, np.exp(-a), 7 - 1e-6 * b]))
    assert {key for key in findings if key[0] == "copies"} == {("copies", ("X1", "X5")), ("copies", ("X2", "X6"))}
    assert findings["missing-values", ("X5",)].figure == pytest.approx(34 / N)
    assert "reverse" in findings["copies", ("X1", "X5")].found
    assert "units" in findings["copies", ("X2", "X6")].found
    a[[1, 2]] = a[[2, 1]]  # two rows only
    assert ("copies", ("X1", "X5")) not in found(np.column_stack([a, b, c, d, np.exp(-normals()[:, 0])]))


def test_copies_of_categories():
    labels = np.random.default_rng(0).integers(0, 4, N)
    renamed = np.array([2, 0, 3, 1])[labels]
    findings = found(np.column_stack([labels, renamed, normals(2)]), kinds=("discrete",) * 2 + ("continuous",) * 2)
    assert [key for key in findings if key[0] == "copies"] == [("copies", ("X1", "X2"))]
    merged = np.minimum(labels, 2)
    findings = found(np.column_stack([labels, merged, normals(2)]), kinds=("discrete",) * 2 + ("continuous",) * 2)
    assert ("copies", ("X1", "X2")) not in findings


def test_wide_and_long_tables():
    wide = normals(600, 60)
    wide[:, 7] = 3 - wide[:, 432]
    assert set(found(wide)) == {("few-rows", ()), ("copies", ("X8", "X433"))}
    long = normals(6, 10_000)
    long[:, 5] = long[:, 0] - long[:, 3]
    assert set(found(long)) == {("collinear", ("X1", "X4", "X6"))}


def test_small_classes():
    labels = np.r_[np.zeros(150), np.ones(148), 2, 3]
    findings = found(with_column(labels), kinds=("discrete", *["continuous"] * 3))
    assert findings["small-class", ("X1",)].figure == pytest.approx(2 / N)


def test_few_rows():
    assert found(normals(n=40))["few-rows", ()].figure == 40
    assert ("few-rows", ()) in found(normals(p=120, n=110))


def test_repeated_rows():
    values = normals()
    values[:30] = values[30:60]
    finding = found(values)["repeated-rows", ()]
    assert (finding.figure, finding.serious) == (pytest.approx(0.1), True)
    few = np.random.default_rng(0).integers(0, 4, (N, 3))
    assert not found(few)["repeated-rows", ()].serious, "by chance"


REPEATS = {
    "a categories and a number": lambda random, n: np.column_stack(
        [random.integers(0, 2, n), random.standard_normal(n)]
    ),
    "answers from 1 to 5": lambda random, n: random.integers(1, 6, (n, 12)),
    "counts": lambda random, n: random.poisson(4, (n, 5)),
    "one digit": lambda random, n: np.round(random.standard_normal((n, 4)), 1),
    "detection limits": lambda random, n: np.maximum(random.standard_normal((n, 5)), 0.3),
}


@pytest.mark.parametrize("kind", REPEATS)
def test_copied_rows_are_told_from_chance(kind):
    random = np.random.default_rng(3)
    once = REPEATS[kind](random, 250)
    assert not [f for f in audit(once).findings if f.kind == "repeated-rows" and f.serious]
    copied = random.permutation(np.vstack([once, once[:50]]))
    numbered = np.column_stack([np.arange(300), copied])
    for table in (copied, numbered):
        finding = next(f for f in audit(table).findings if f.kind == "repeated-rows")
        assert (finding.figure, finding.serious) == (pytest.approx(1 / 6, abs=0.04), True)
    assert "leave out X1" in finding.advice


def test_few_answers_repeat_by_chance_where_they_depend_on_each_other():
    random = np.random.default_rng(0)
    mood = random.standard_normal((N, 1))
    answers = np.clip(np.round(3 + 1.2 * (0.95 * mood + 0.3 * random.standard_normal((N, 10)))), 1, 5)
    assert not found(answers)["repeated-rows", ()].serious


@pytest.mark.parametrize("columns", [3, 6, 12])
def test_zeros_that_counts_have_in_common_are_no_copies(columns):
    random = np.random.default_rng(columns)
    counts = (random.random((N, 1)) > 0.4) * random.poisson(3, (N, columns))
    assert not found(counts)["repeated-rows", ()].serious
    rare = random.random((N, columns)) < 0.03
    assert not found(rare)["repeated-rows", ()].serious


def test_two_columns_of_few_values_repeat_by_chance_however_they_depend():
    random = np.random.default_rng(11)
    first = random.integers(0, 4, 200)
    assert not found(np.column_stack([first, (first + random.integers(0, 2, 200)) % 4]))["repeated-rows", ()].serious


@pytest.mark.parametrize("digits", [0, 1, 2])
@pytest.mark.parametrize("scale", [1, 7, 100])
def test_columns_that_follow_from_one_rounded_column_are_no_copies(digits, scale):
    once = np.round(scale * U, digits)
    functions = np.column_stack([once, once**2 - once, np.exp(once / scale), np.abs(once)])
    assert not [f for f in found(functions).values() if f.kind == "repeated-rows" and f.serious]


@pytest.mark.parametrize("column", [U, np.round(100 * U, 1)])
def test_copies_of_rows_that_follow_from_one_column_are_found(column):
    functions = np.column_stack([column, column**2, np.exp(column / 100)])
    copied = np.vstack([functions, functions[:60]])
    assert found(copied)["repeated-rows", ()].serious


@pytest.mark.parametrize("levels", [2, 3, 5, 10])
@pytest.mark.parametrize("given", [0, 1, 2])
def test_a_question_about_categories_says_nothing_of_repeated_rows(levels, given):
    random = np.random.default_rng(levels)
    shares = random.dirichlet(np.full(levels, 0.5))  # some of them rare
    cause = random.choice(levels, 200, p=shares)
    others = [np.where(random.random(200) < 0.8, cause, random.choice(levels, 200, p=shares)) for _ in range(given + 1)]
    values = np.column_stack([cause, *others]).astype(float)
    names = tuple(f"X{i}" for i in range(given + 2))
    answer = ci_test(Dataset(values, names, ("discrete",) * (given + 2)), 0, 1, names[2:], "knn-cmi(permutations=39)")
    assert not [doubt for doubt in answer.doubts if "repeat" in doubt]


TIME = np.arange(N)[:, None]
SERIES = {
    "season": 1.2 * np.sin(2 * np.pi * (TIME / 12 + [0.1, 0.4])) + normals(2),
    "trend": TIME / 100 * [1, -1] + normals(2),
    "drift": normals(2).cumsum(axis=0),
    "serial-dependence": normals(2) + 0.9 * np.roll(normals(2), 1, axis=0),
}


@pytest.mark.parametrize("kind", SERIES)
def test_what_the_order_of_the_rows_shows(kind):
    findings = found(SERIES[kind])
    assert set(findings) == {(kind, ("X1",)), (kind, ("X2",))}
    assert all(finding.serious for finding in findings.values())
    figure = findings[kind, ("X1",)].figure
    if kind == "season":
        assert figure == pytest.approx(12)
    elif kind == "trend":
        assert figure == pytest.approx(np.corrcoef(rank(SERIES[kind][:, 0]), TIME.ravel())[0, 1])
    alone = found(np.column_stack([SERIES[kind][:, 0], normals(2, seed=1)]))
    assert [(key, finding.serious) for key, finding in alone.items()] == [((kind, ("X1",)), False)]


def rank(column):
    return np.argsort(np.argsort(column))


@pytest.mark.parametrize(
    "draw",
    [
        lambda random, size: random.standard_normal(size),
        lambda random, size: random.standard_t(5, size),
        lambda random, size: random.random(size),
        lambda random, size: random.exponential(size=size),
    ],
)
def test_clean_tables_have_no_findings(draw):
    for seed, (n, p) in enumerate([(100, 5), (100, 60), (200, 30), (400, 20), (1000, 10)]):
        assert audit(draw(np.random.default_rng(seed), (n, p))).findings == ()


def test_rows_that_were_sorted_are_no_series():
    values = normals()
    classes = np.sort(np.random.default_rng(1).integers(0, 3, N))
    assert ("serial-dependence", ("X2",)) not in found(np.column_stack([classes, values + 2 * classes[:, None]]))
    assert ("drift", ("X1",)) in found(np.cumsum(values, axis=0))


def test_serious_findings_are_warned_of_and_all_are_kept():
    with pytest.warns(PyknnmiWarning, match=r"'X1'.*'X2'.*differences") as caught:
        result = learn(SERIES["drift"], "iamb+fisher-z")
    assert len(caught) == 1
    assert [f.kind for f in result.findings] == ["drift"] * 2
    assert result.warnings[0] in summary(result)
    assert result.warnings[0] in str(result)


@pytest.mark.parametrize("kind", ["season", "serial-dependence"])
def test_blocks_are_no_cause_for_doubt(kind):
    values = SERIES[kind]
    result = learn(values, "iamb+knn-cmi(null=block,permutations=39)")
    assert [(f.kind, f.serious) for f in result.findings] == [(kind, False)] * 2
    answer = ci_test(values, 0, 1, test="knn-cmi(null=block,permutations=39)")
    assert answer.doubts == ()


@pytest.mark.filterwarnings("ignore:In column")
@pytest.mark.parametrize(
    ("given", "doubts"),
    [("season=12", 0), ("season=24", 0), ("season=1", 2), ("season=6", 2), ("season=7", 2), ("null=local-block", 0)],
)
def test_a_season_is_allowed_for_where_whole_ones_are_exchanged(given, doubts):
    null = "" if "null" in given else "null=block,"
    result = bind(SERIES["season"], f"knn-cmi({null}{given})")
    assert [(f.kind, f.serious) for f in result.findings] == [("season", doubts > 0)] * 2


def test_rows_within_blocks_keep_no_season():
    findings = audit(SERIES["season"]).findings
    allowed = [parse_test(f"knn-cmi(null={null})").allows_for(findings[0], findings, N) for null in ("within", "block")]
    assert allowed == [False, True]


@pytest.mark.filterwarnings("ignore:In column")
@pytest.mark.parametrize(("other", "serious"), [(7, True), (6, False), (12.3, False)])
def test_seasons_that_do_not_go_together_are_a_cause_for_doubt(other, serious):
    waves = 1.5 * np.sin(2 * np.pi * TIME / [12, other]) + 0.5 * normals(2)
    assert [(f.kind, f.serious) for f in bind(waves, "knn-cmi(null=block)").findings] == [("season", serious)] * 2


@pytest.mark.parametrize("kind", ["drift", "trend"])
def test_answers_that_blocks_do_not_mend_say_so_themselves(kind):
    values = SERIES[kind]
    spec = "knn-cmi(null=block,permutations=39)"
    with pytest.warns(PyknnmiWarning, match="blocks do not undo it"):
        result = learn(values, f"iamb+{spec}")
    assert [(f.kind, f.serious) for f in result.findings] == [(kind, True)] * 2
    with pytest.warns(PyknnmiWarning, match="blocks do not undo it"):
        answer = ci_test(values, 0, 1, test=spec)
    assert answer.doubts == result.warnings
    assert all(text in summary(result) for text in result.warnings)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:In column")
@pytest.mark.parametrize("n", [100, 200, 500])
def test_independent_walks_look_dependent_with_a_doubt_only(n):
    rejected = doubtless = 0
    for seed in range(40):
        walks = np.random.default_rng(seed).standard_normal((n, 2)).cumsum(axis=0)
        answer = ci_test(walks, 0, 1, test="knn-cmi(null=block,permutations=99)", seed=seed)
        rejected += not answer.independent
        doubtless += not answer.independent and not answer.doubts
    assert rejected >= 3
    assert doubtless <= 5  # 98.6 % of the binomial with 40 and 0.05


def test_a_trend_beside_series_that_blocks_are_long_enough_for_is_no_cause_for_doubt():
    values = np.column_stack([SERIES["trend"][:, 0], SERIES["serial-dependence"]])
    result = learn(values, "iamb+knn-cmi(null=block,permutations=39)")
    assert {f.kind: f.serious for f in result.findings} == {"trend": False, "serial-dependence": False}
    with pytest.warns(PyknnmiWarning, match="In column 'X1' values go up"), pytest.warns(PyknnmiWarning, match="alike"):
        learn(values, "iamb+fisher-z")


@pytest.mark.filterwarnings("ignore:In column")
def test_a_season_with_gaps_is_doubtful():
    values = SERIES["season"].copy()
    values[[5, 50, 100], 0] = np.nan  # rows that are left out shift the season
    result = learn(values, "iamb+knn-cmi(null=block,permutations=39)", missing="drop-per-test")
    assert {f.kind: f.serious for f in result.findings}["season"]


def test_a_single_question_warns_of_what_its_columns_show():
    values = normals()
    values[:30, :2] = -9999
    with pytest.warns(PyknnmiWarning, match="the value -9999 stands outside"):
        ci_test(values, 0, 1, test="fisher-z")
    ci_test(values, 2, 3, test="fisher-z")  # says nothing: these columns are clean


def test_a_finding_as_record_and_as_text():
    finding = audit(with_column(CASES["-9999"][0])).findings[0]
    record = json.loads(json.dumps(finding.record()))
    assert AuditFinding(**{**record, "columns": tuple(record["columns"])}) == finding
    assert str(finding).count(finding.follows[1:]) == 1


def test_many_columns_of_one_kind_make_one_warning():
    findings = [AuditFinding("kind", (f"X{i}",), i, f"X{i} is so", "this follows", "do that", True) for i in range(9)]
    with pytest.warns(
        PyknnmiWarning, match=r"X5 is so\. So it is with 3 more columns\. This follows\. Do that\.$"
    ) as caught:
        warn_of(findings)
    assert len(caught) == 1


def unusable_tables():
    x, y = normals(2, 60).T
    infinite = np.where(np.arange(60) == 7, np.inf, y)
    names = [f"note {i}" for i in range(60)]
    numbers = np.column_stack([x, infinite, y])
    objects = np.array([*zip(x, names, y, strict=True)], dtype=object)
    infinite_values = r"infinite values in column 'X2' \(1\), first in row 7 \(counted from 0\): drop or clip"
    return {
        "array": (numbers, infinite_values),
        "list": (numbers.tolist(), infinite_values),
        "masked array": (np.ma.masked_array(numbers, np.isnan(numbers)), infinite_values),
        "mapping": ({"X1": x, "X2": infinite, "X3": y}, infinite_values),
        "array of objects": (objects, "column 'X2' holds 60 different texts"),
        "list of rows": (objects.tolist(), "column 'X2' holds 60 different texts"),
    }


@pytest.mark.parametrize("case", unusable_tables())
def test_columns_that_cannot_be_used_are_left_out_of_whatever_is_given(case):
    data, message = unusable_tables()[case]
    seen = audit(data)
    assert (seen.columns, seen.options) == (2, {"ignore": ["X2"]})
    assert re.match(message, seen.refused["X2"])
    assert learn(data, seen.spec, **seen.options).graph.names == ("X1", "X3")
    with pytest.raises(DataError, match=message):
        learn(data, seen.spec)


def test_infinite_values_in_a_file_are_reported_by_their_line(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,y,z\n" + "".join(f"{i * 37 % 101},{i * 53 % 97},{'inf' if i == 2 else i}\n" for i in range(60)))
    said = CliRunner().invoke(main, ["audit", str(path)]).stdout
    assert "\nz       refused\n" in said
    assert "\n! infinite values in column 'z' (1), first in line 4: drop or clip those values\n" in said
    assert said.endswith(" --ignore=z\n")


def test_a_table_of_infinite_values_alone_is_an_error():
    with pytest.raises(DataError, match=r"infinite values in column 'X1' \(2\).*; column 'X2' cannot be used either"):
        audit(np.full((2, 2), np.inf))


def test_printed():
    values = normals()
    values[:, 1:] = np.maximum(values[:, 1:], -0.5)
    values[:30] = values[30:60]
    text = str(audit(values))
    assert text.startswith("300 rows, 4 columns\n! 10.0% of the rows repeat an earlier row\n")
    assert "\nsuits this table: " in text
    assert "nothing was found" in str(audit(normals()))


def recommended_for():
    random = np.random.default_rng(0)
    walks = normals(3, 120).cumsum(axis=0)
    holes = np.where(random.random((120, 3)) < 0.05, np.nan, np.exp(2 * normals(3, 120)))
    copies = np.repeat(normals(3, 60), 2, axis=0)
    return {
        "plain": (normals(3, 120), "iamb+knn-cmi", {}),
        "series": (walks, "iamb+knn-cmi(null=block)", {}),
        "heavy tails": (np.exp(3 * normals(3, 120)), "nonparanormal+iamb+knn-cmi", {}),
        "heavy tails, missing values": (holes, "iamb+knn-cmi", {"missing": "drop-per-test"}),
        "many columns": (normals(40, 120), "iamb(max_conditioning=6)+knn-cmi", {}),
        "repeats": (random.permutation(copies), "iamb+knn-cmi", {"repeats": "one"}),
        "numbered": (np.column_stack([np.arange(120), normals(2, 120)]), "iamb+knn-cmi", {"ignore": ["X1"]}),
        "copied": (np.column_stack([walks[:, 0], normals(2, 120), walks[:, 0]]), "iamb+knn-cmi", {"ignore": ["X4"]}),
        "mostly missing": (
            np.column_stack([normals(2, 120), np.where(random.random(120) < 0.9, np.nan, 1)]) * normals(3, 120, seed=2),
            "iamb+knn-cmi",
            {"ignore": ["X3"], "missing": "drop-per-test"},
        ),
        "two columns": (np.column_stack([np.arange(120), normals(1, 120)]), "iamb+knn-cmi", {}),
        "few values": (random.integers(0, 3, (120, 3)), "iamb+knn-cmi", {}),
    }


@pytest.mark.parametrize("case", recommended_for())
def test_the_recommended_run(case):
    values, spec, options = recommended_for()[case]
    found = audit(values)
    assert (found.spec, found.options) == (spec, options)
    # functional-anova needs complete rows that do not depend on each other
    compared = any("the preset 'recommended'" in reason for reason in found.reasons)
    assert compared == ("missing" not in options and "null=block" not in spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PyknnmiWarning)
        result = learn(values, found.spec, targets=["X2"], **found.options)
    assert set(result.graph.names) == {f"X{i + 1}" for i in range(values.shape[1])} - set(options.get("ignore", ()))


@pytest.mark.parametrize("case", recommended_for())
def test_the_recommended_command(case, tmp_path):
    values = recommended_for()[case][0]
    names = ["row, number", "it's", 'a "b"', "d"][: values.shape[1]]
    names += [f"X{i}" for i in range(len(names), values.shape[1])]
    path = tmp_path / "my data.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *(["" if np.isnan(v) else v for v in row] for row in values)])
    told = CliRunner().invoke(main, ["audit", str(path)]).stdout.splitlines()[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PyknnmiWarning)
        run = CliRunner().invoke(main, [*shlex.split(told)[1:], "--targets", f'"{names[1]}"'])
    assert run.exit_code == 0, run.output


def test_the_recommended_run_reads_the_table_as_the_audit_did(tmp_path):
    pandas = pytest.importorskip("pandas")
    x, y = normals(2, 120).T
    columns = {
        "id": [f"s{i}" for i in range(120)],
        "note": [f"note {i}" for i in range(120)],
        "code": np.arange(120) % 3,
        "same": np.arange(120) % 3,
        "x": np.where(np.arange(120) % 10 == 0, -9, x),
        "y": y,
    }
    path = tmp_path / "data.csv"
    pandas.DataFrame(columns).to_csv(path, index=False)
    given = {"index": "id", "ignore": "note", "categories": ["code", "same"], "missing_marks": [-9], "missing": "drop"}
    for data in (path, pandas.DataFrame(columns)):
        seen = audit(data, header=True, **given)
        result = learn(data, seen.spec, **seen.options)
        assert result.graph.names == ("code", "x", "y")
        assert (result.shape, result.rows_left_out, seen.options["categories"]) == ((108, 3), 12, ["code"])
    words = shlex.split(seen.command(str(path)))
    assert CliRunner().invoke(main, words[1:]).exit_code == 0
    as_given = ["--header", "--missing-marks=-9", "--missing=drop", "--index=id", "--ignore=note", "--categories=code"]
    assert set(words[5:]) == {*as_given, "--ignore=same"}
    assert words[1:] == words_of_audit(path, *as_given, "--categories=same")[1:]


def words_of_audit(path, *options):
    return shlex.split(CliRunner().invoke(main, ["audit", str(path), *options]).stdout.splitlines()[-1])


def test_order_of_columns_does_not_count():
    values = np.column_stack([np.maximum(U, LOW), normals(2), np.cumsum(U)])
    one, other = found(values, list("abcd")), found(values[:, ::-1], list("dcba"))
    assert one == other
