"""Tables that have one thing wrong with them: the audit names it, its columns and its measure, and nothing else."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pyknnmi
from pyknnmi import AuditFinding, Dataset, PyknnmiWarning, audit, learn
from pyknnmi.auditing.finding import warn_of

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
    "walk": (np.cumsum(RANDOM.standard_normal(N)), "serial-dependence", None),
}


@pytest.mark.parametrize("case", CASES)
def test_one_column(case):
    column, kind, figure = CASES[case]
    findings = found(with_column(column))
    assert (kind, ("X1",)) in findings
    others = {key for key in findings if key[0] not in {kind, "serial-dependence", "tied", "whole-numbers"}}
    assert others == set()
    if figure is not None:
        assert findings[kind, ("X1",)].figure == pytest.approx(figure)


def test_marks_of_missing_are_all_named_and_set_aside():
    column = np.where(np.arange(N) % 10 == 0, -9999.0, np.where(np.arange(N) % 10 == 1, 9999.0, U))
    findings = audit(with_column(column)).findings
    assert [f.kind for f in findings] == ["missing-mark", "missing-mark"]
    assert {f.found.split()[5] for f in findings} == {"-9999", "9999"}


@pytest.mark.parametrize("column", [U**3, np.where(np.arange(N) == 7, 1e6, U), np.exp(2 * U), np.round(40 + 12 * U)])
def test_what_is_no_mark_of_missing(column):
    assert ("missing-mark", ("X1",)) not in found(with_column(column))


@pytest.mark.parametrize("name", ["id", "patient_id", "Unnamed: 0", "rownames", "index", "row number", "sample.id"])
def test_identifiers(name):
    column = np.random.default_rng(1).permutation(N) + 1000
    assert ("identifier", (name,)) in found(with_column(column), [name, "a", "b", "c"])
    assert ("identifier", ("age",)) not in found(with_column(column), ["age", "a", "b", "c"])


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


def test_rows_that_were_sorted_are_no_series():
    values = normals()
    classes = np.sort(np.random.default_rng(1).integers(0, 3, N))
    assert ("serial-dependence", ("X2",)) not in found(np.column_stack([classes, values + 2 * classes[:, None]]))
    assert ("serial-dependence", ("X1",)) in found(np.cumsum(values, axis=0))


def test_serious_findings_are_warned_of_and_all_are_kept():
    values = np.cumsum(normals(3), axis=0)
    with pytest.warns(PyknnmiWarning, match=r"'X1'.*'X2'.*'X3'.*null=block") as caught:
        result = learn(values, "iamb+fisher-z")
    assert len(caught) == 1
    assert [f.kind for f in result.findings] == ["serial-dependence"] * 3
    learn(values, "iamb+knn-cmi(null=block,permutations=39)")  # says nothing: it allows for them


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


def test_printed():
    values = normals()
    values[:, 1:] = np.maximum(values[:, 1:], -0.5)
    values[:30] = values[30:60]
    text = str(audit(values))
    assert text.startswith("300 rows, 4 columns\n! 10.0% of the rows repeat an earlier row\n")
    assert "\nrecommended: " in text
    assert "nothing was found" in str(audit(normals()))


def test_the_recommended_spec_can_be_run():
    for values in (normals(2, 60), np.cumsum(normals(2), axis=0), np.tan(1.5 * normals(2))):
        pyknnmi.Pipeline.parse(audit(values).spec)


def test_order_of_columns_does_not_count():
    values = np.column_stack([np.maximum(U, LOW), normals(2), np.cumsum(U)])
    one, other = found(values, list("abcd")), found(values[:, ::-1], list("dcba"))
    assert one == other
