"""What the audit says of data sets that packages ship, beside counts that are made here from the tables themselves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pyknnmi import audit

datasets = pytest.importorskip("sklearn.datasets")


@pytest.fixture(params=["diabetes", "wine", "breast_cancer", "iris"])
def frame(request):
    return getattr(datasets, f"load_{request.param}")(as_frame=True).frame


def test_shared_values_are_counted(frame):
    findings = {f.columns[0]: f for f in audit(frame).findings if f.kind in ("tied", "whole-numbers")}
    for name in frame:
        times = Counter(frame[name])
        shared = sum(count for count in times.values() if count > 4) / len(frame)
        assert (name in findings) == (shared >= 0.05)
        if name in findings:
            whole = bool((frame[name] == np.rint(frame[name])).all())
            assert findings[name].kind == ("whole-numbers" if whole else "tied")
            assert findings[name].figure == pytest.approx(len(times) if whole else shared)


def test_iris_has_the_rows_that_its_description_names():
    # Rows 101 and 142 (counted from 0) are equal, as in Fisher's table; it is one in 150.
    frame = datasets.load_iris(as_frame=True).frame
    assert frame.duplicated().sum() == 1
    kinds = {f.kind: f for f in audit(frame.iloc[95:]).findings}
    assert kinds["repeated-rows"].figure == pytest.approx(1 / 55)
    assert "repeated-rows" not in {f.kind for f in audit(frame).findings}, "below one in a hundred"


def test_diabetes_in_its_own_units():
    """The package has each column twice: as it was measured, and with mean 0 and a sum of squares of 1."""
    scaled, raw = (datasets.load_diabetes(as_frame=True, scaled=value).frame for value in (True, False))
    both = raw.join(scaled.drop(columns="target").add_suffix(" scaled"))
    copies = {f.columns for f in audit(both).findings if f.kind == "copies"}
    assert copies == {(name, f"{name} scaled") for name in scaled if name != "target"}
    assert audit(both).options["ignore"] == [f"{name} scaled" for name in scaled if name != "target"]


def test_breast_cancer_with_what_its_columns_determine():
    frame = datasets.load_breast_cancer(as_frame=True).frame
    assert not [f for f in audit(frame).findings if f.kind in ("copies", "collinear")]
    frame["benign"] = 1 - frame["target"]
    frame["worst less mean radius"] = frame["worst radius"] - frame["mean radius"]
    found = {(f.kind, f.columns) for f in audit(frame).findings if f.kind in ("copies", "collinear")}
    assert ("copies", ("target", "benign")) in found
    assert ("collinear", ("mean radius", "worst radius", "worst less mean radius")) in found
