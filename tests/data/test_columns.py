"""Columns of booleans, categories and text, and missing values, at the data door."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import pyknnmi
from pyknnmi import DataError, Dataset, DataTypeError, ci_test, learn, read_table

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore:knn-cmi. in column 'dose'")  # it has ties, and knn-cmi says so


def frame(n=120, seed=0):
    random = np.random.default_rng(seed)
    age = random.normal(50, 10, n)
    age[:5] = np.nan
    return pandas.DataFrame(
        {
            "age": age,
            "smoker": random.random(n) < 0.4,
            "site": pandas.Categorical(random.choice(list("ABC"), n)),
            "dose": random.integers(0, 5, n),
        },
        index=random.integers(0, 30, n),
    )


def test_kinds_and_codes():
    data = Dataset.of(frame().dropna())
    assert data.kinds == ("continuous", "discrete", "discrete", "continuous")
    assert set(data.values[:, 1]) == {0.0, 1.0}
    assert data.discrete_columns() == (1, 2)


def test_codes_do_not_depend_on_the_order_of_rows_or_categories():
    labels = ["b", "a", "c", "a"]
    first = pandas.DataFrame({"x": [1.0, 2, 3, 4], "c": pandas.Categorical(labels)})
    other = pandas.DataFrame({"x": [1.0, 2, 3, 4], "c": pandas.Categorical(labels, categories=["c", "a", "b"])})
    text = pandas.DataFrame({"x": [1.0, 2, 3, 4], "c": labels})
    assert Dataset.of(first).sha256 == Dataset.of(other).sha256 == Dataset.of(text).sha256
    assert Dataset.of(first).values[:, 1].tolist() == [1, 0, 2, 0]


def test_answers_do_not_depend_on_index_category_order_or_renaming():
    table = frame().dropna()
    renamed = table.reset_index(drop=True)
    renamed["site"] = renamed["site"].map({"A": "zulu", "B": "yankee", "C": "x-ray"})
    question = ("dose", "site", ["smoker"])
    assert ci_test(table, *question) == ci_test(renamed, *question)


def test_boolean_array_is_discrete():
    table = np.array([[True, False], [False, False]])
    assert Dataset.of(table).kinds == ("discrete", "discrete")
    assert Dataset(table, ("a", "b"), ("continuous", "discrete")).kinds == ("continuous", "discrete")


def test_masked_booleans_are_discrete_and_missing():
    table = np.ma.array([[True, False], [False, True], [True, True]], mask=[[0, 0], [1, 0], [0, 0]])
    data = Dataset.of(table, missing="drop")
    assert (data.kinds, data.values.tolist()) == (("discrete", "discrete"), [[1, 0], [1, 1]])
    assert Dataset(table, ("a", "b"), has_missing=True).kinds == ("discrete", "discrete")


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NA])
def test_objects_that_are_all_numbers_are_numbers(missing):
    numbers = [0.5, 2, np.float32(0.25), np.int64(10)]
    table = pandas.DataFrame({"x": [*numbers, missing], "y": range(5)}, dtype=object)
    data = Dataset.of(table, missing="drop")
    assert data.kinds == ("continuous", "continuous")
    assert data.values.tolist() == [[0.5, 0], [2, 1], [0.25, 2], [10, 3]]


def test_numbers_among_other_labels_or_called_categories_are_categories():
    frame = pandas.DataFrame({"mixed": [1, "a", 1], "codes": [10, 9, 10], "given": pandas.Categorical([10, 9, 10])})
    data = Dataset.of(frame, categories=["mixed", "codes"])
    assert data.kinds == ("discrete",) * 3
    assert data.values.tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([1, 2, "a", 4], "'x' holds text among numbers, first 'a' in row 2"),
        (["a", "b", 3.5, "a"], "'x' holds numbers among text, first 3.5 in row 2"),
        ([1, 0, 1, True], "'x' holds truth values among numbers, first True in row 3"),
        ([1, 2, [3], 4], r"'x' holds objects of type list among numbers, first \[3\] in row 2"),
        ([None, {}, {}, {}], r"'x': objects of type dict cannot be used, first \{\} in row 1"),
    ],
)
def test_mixed_columns_are_refused_with_the_first_odd_cell(column, message):
    with pytest.raises(DataTypeError, match=message):
        Dataset.of(pandas.DataFrame({"x": pandas.Series(column, dtype=object), "y": range(4)}))


def test_every_type_of_number_and_of_category():
    pyarrow = pytest.importorskip("pyarrow")
    decimals = [Decimal("1.5"), None, Decimal("2"), Decimal("NaN")]
    columns = {
        "decimal": pandas.Series(decimals, dtype=object),
        "fraction": pandas.Series([Fraction(1, 2), None, 2, 1], dtype=object),
        "nullable": pandas.array([1, None, 3, 4], dtype="Int64"),
        "arrow": pandas.array([1.5, None, 2, 4], dtype="float64[pyarrow]"),
        "arrow decimal": pandas.array([*decimals[:3], None], dtype=pandas.ArrowDtype(pyarrow.decimal128(5, 2))),
        "cut": pandas.cut([1, 2, 3, 4], 2),
        "levels": pandas.Categorical(["b", "a", None, "b"], categories=["unused", "b", "a"]),
        "truth": pandas.array([True, None, False, True], dtype="boolean"),
        "arrow truth": pandas.array([True, None, False, True], dtype="bool[pyarrow]"),
        "arrow text": pandas.array(["a", None, "b", "a"], dtype="string[pyarrow]"),
    }
    data = Dataset.of(pandas.DataFrame(columns), missing="drop-per-test")
    assert data.kinds == ("continuous",) * 5 + ("discrete",) * 5
    nan = np.nan
    expected = [
        [1.5, nan, 2, nan],
        [0.5, nan, 2, 1],
        [1, nan, 3, 4],
        [1.5, nan, 2, 4],
        [1.5, nan, 2, nan],
        [0, 0, 1, 1],
        [1, 0, nan, 1],
        [1, nan, 0, 1],
        [1, nan, 0, 1],
        [0, nan, 1, 0],
    ]
    np.testing.assert_array_equal(data.values.T, expected)


def test_nullable_boolean_column():
    table = pandas.DataFrame({"x": [1.0, 2, 3], "b": pandas.array([True, None, False], dtype="boolean")})
    data = Dataset.of(table, missing="drop")
    assert data.n == 2
    assert data.kinds[1] == "discrete"


def test_free_text_is_an_error_that_names_the_column():
    table = frame().dropna().assign(note=lambda t: [f"patient {i}" for i in range(len(t))])
    with pytest.raises(DataError, match=r"'note' holds 115 different texts in 115 rows.*free text or identifiers"):
        Dataset.of(table)


@pytest.mark.parametrize(("rows", "missing"), [(6, 0), (18, 0), (18, 4)])
def test_labels_that_are_all_different_are_identifiers(rows, missing):
    labels = [*(f"S{i}" for i in range(rows)), *[None] * missing]
    table = pandas.DataFrame({"sample": labels, "x": np.arange(float(rows + missing))})
    with pytest.raises(DataError, match=rf"'sample' holds {rows} different texts in {rows} rows"):
        Dataset.of(table)
    table.loc[0, "sample"] = "S1"
    assert Dataset.of(table, missing="drop").kinds == ("discrete", "continuous")


def test_missing_values_raise_and_are_counted():
    with pytest.raises(DataError, match=r"missing values \(NaN\) in column 'age' \(5\), first in row 0"):
        learn(frame())


def test_drop_leaves_out_rows_once_and_per_test_where_it_matters():
    table = frame()
    assert ci_test(table, "dose", "site", missing="drop").n == 115
    assert ci_test(table, "dose", "site", missing="drop-per-test").n == 120
    assert ci_test(table, "age", "site", missing="drop-per-test").n == 115
    for missing, shape, left_out in (("drop", (115, 4), 5), ("drop-per-test", (120, 4), 0)):
        result = learn(table, missing=missing)
        assert (result.shape, result.rows_left_out) == (shape, left_out)
        assert result.has_missing == (missing == "drop-per-test")
        assert (", 5 left out)" in str(result)) == (missing == "drop")


def test_ties_are_warned_of_once_where_each_question_has_its_rows():
    with pytest.warns(pyknnmi.PyknnmiWarning) as caught:
        learn(frame(), "iamb+knn-cmi(permutations=19,alpha=0.1)", missing="drop-per-test", threads=1)
    assert len([warning for warning in caught if "many rows share a value" in str(warning.message)]) == 1


def test_per_test_answer_is_that_of_the_complete_rows():
    table = frame()
    per_test = ci_test(table, "age", "dose", ["smoker"], missing="drop-per-test")
    assert per_test == ci_test(table[["age", "dose", "smoker"]].dropna(), "age", "dose", ["smoker"])


def test_per_test_columns_that_are_constant_on_the_complete_rows():
    random = np.random.default_rng(1)
    x, y, z = random.standard_normal((3, 60))
    y[:30], z[30:] = np.nan, 1.0  # where y is known, z is constant
    data = Dataset.of(np.column_stack([x, y, z]), ["x", "y", "z"], "drop-per-test")
    assert ci_test(data, "y", "z", test="fisher-z", missing="drop-per-test").decided_by == "constant column"
    given = ci_test(data, "x", "y", ["z"], test="fisher-z", missing="drop-per-test")
    alone = ci_test(data, "x", "y", test="fisher-z", missing="drop-per-test")
    assert given == alone
    assert learn(data, "iamb+fisher-z", missing="drop-per-test").graph.names == ("x", "y", "z")


def test_constant_and_empty_columns_have_warnings_of_their_own():
    x, y, constant, empty = np.random.default_rng(1).standard_normal((4, 60))
    constant[:], empty[:] = 1, np.nan
    with pytest.warns(pyknnmi.PyknnmiWarning) as caught:
        learn(np.column_stack([x, y, constant, empty]), "iamb+fisher-z", missing="drop-per-test")
    assert [str(warning.message) for warning in caught] == [
        "column X3 is constant: it depends on nothing",
        "column X4 is without a value: it depends on nothing",
    ]


def test_too_few_complete_rows():
    data = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, np.nan], [np.nan, 4.0]])
    with pytest.raises(DataError, match=r"only 0 of 4 rows .*: column 'X1' misses most, 2; leave it out"):
        Dataset.of(data, missing="drop")
    with pytest.raises(DataError, match="too few rows are complete in X1, X2: 0 of 4: leave out the one"):
        ci_test(data, "X1", "X2", test="fisher-z", missing="drop-per-test")


@pytest.mark.parametrize("learner", ["iamb", "pairwise"])
def test_too_few_complete_rows_for_a_test_are_reported_with_the_columns(learner):
    values = np.random.default_rng(2).standard_normal((60, 4))
    values[:29, 1], values[32:, 2] = np.nan, np.nan
    with pytest.raises(
        DataError, match=r"3 of 60 rows are complete in X.*X3.*: 3 rows are too few for k = 3: give at least 4, leave"
    ):
        learn(values, f"{learner}+knn-cmi", missing="drop-per-test")


def test_test_for_numbers_refuses_categories_with_two_ways_out():
    with pytest.raises(
        DataError, match=r"columns 'site', 'smoker' hold categories.*leave them out, or take a test for both"
    ):
        learn(frame(), "iamb+fisher-z", missing="drop")
    with pytest.raises(DataError, match="holds categories"):
        ci_test(frame().dropna(), "dose", "site", test="knn-cmi(estimator=ksg)")


def test_transforms_leave_categories_alone_and_need_complete_data():
    assert learn(frame(), "ranks+iamb+knn-cmi", missing="drop").shape == (115, 4)
    with pytest.raises(DataError, match="'ranks' needs complete data"):
        learn(frame(), "ranks+iamb+knn-cmi", missing="drop-per-test")


def test_text_columns_of_a_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,site\n1.5,A\n2,B\nNA,A\n4,\n5,B\n")
    data = read_table(path, "drop")
    assert data.kinds == ("continuous", "discrete")
    assert data.values.tolist() == [[1.5, 0], [2, 1], [5, 1]]
    path.write_text("x,site\n1.5,A\n2,7\n")
    with pytest.raises(DataTypeError, match="line 2: column 'site' holds the text 'A' among numbers"):
        read_table(path)


def test_ties_in_numbers_are_warned_of():
    with pytest.warns(pyknnmi.PyknnmiWarning, match=r"in column 'dose' \(100% of the rows\).*mixed estimator"):
        ci_test(frame().dropna(), "dose", "smoker")
