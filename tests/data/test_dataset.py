from __future__ import annotations

import hashlib
import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pyknnmi import DataError, Dataset, DataTypeError, ParameterError, UnknownNameError
from pyknnmi.data.dataset import listing, natural_key

reals = st.floats(allow_nan=False, allow_infinity=False)
tables = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=8), elements=reals)


@pytest.fixture
def values():
    return np.random.RandomState(9).standard_normal((30, 3))


# What comes in


@given(tables)
def test_values_come_in_unchanged(table):
    data = Dataset.of(table)
    assert data.values.tobytes() == table.tobytes()
    assert (data.n, data.p) == table.shape
    assert data.names == tuple(f"X{i + 1}" for i in range(table.shape[1]))


LAYOUTS = {
    "C": lambda v: v,
    "Fortran": np.asfortranarray,
    "reversed": lambda v: v[::-1].copy()[::-1],
    "strided": lambda v: np.repeat(v, 2, axis=1)[:, ::2],
    "big-endian": lambda v: v.astype(">f8"),
    "longdouble": lambda v: v.astype(np.longdouble),
    "list": lambda v: v.tolist(),
    "tuple": lambda v: tuple(map(tuple, v.tolist())),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_is_the_same_data(layout, values):
    data = Dataset.of(LAYOUTS[layout](values))
    assert data.values.tobytes() == values.tobytes()
    assert data.values.flags.c_contiguous
    assert data.values.dtype == np.float64
    assert data.sha256 == Dataset.of(values).sha256


@pytest.mark.parametrize("kind", ["f2", "f4", "i1", "i8", "u1", "u8"])
def test_numbers_of_other_types_are_converted_once(kind):
    small = np.arange(12).reshape(4, 3).astype(kind)
    assert np.array_equal(Dataset.of(small).values, small.astype(np.float64))


def test_double_in_c_order_is_not_copied_and_not_locked(values):
    data = Dataset.of(values)
    assert np.shares_memory(data.values, values)
    assert values.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        data.values[0, 0] = 1.0


def test_read_only_memory_map(values, tmp_path):
    np.save(tmp_path / "v.npy", values)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert Dataset.of(mapped).sha256 == Dataset.of(values).sha256


def test_a_dataset_passes_through(values):
    data = Dataset.of(values, ["a", "b", "c"])
    assert Dataset.of(data) is data
    assert Dataset.of(data, ["u", "v", "w"]).names == ("u", "v", "w")


def test_pandas(values):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(values, columns=["b", "a", 7], index=[5] * 30)
    data = Dataset.of(frame)
    assert data.names == ("b", "a", "7")
    assert np.array_equal(data.values, values)


def test_a_number_never_means_two_columns(values):
    pandas = pytest.importorskip("pandas")
    data = Dataset.of(pandas.DataFrame(values, columns=[1, 2, 3]))
    assert [data.column(c) for c in (0, "1", "2", "3")] == [0, 0, 1, 2]
    with pytest.raises(UnknownNameError, match="column 2 may be the one named '2', or '3', which is number 2"):
        data.column(np.int64(2))
    with pytest.raises(UnknownNameError, match=r"no column number 3: .* 0 to 2; the name of a column is text, '3'"):
        data.column(3)
    assert Dataset.of(pandas.DataFrame(values)).column(2) == 2


def test_sparse_matrices_and_bunches_are_told_the_way(values):
    with pytest.raises(DataError, match=r"the data are a csr_array: pass what their \.toarray\(\) returns"):
        Dataset.of(pytest.importorskip("scipy.sparse").csr_array(values))
    with pytest.raises(DataError, match=r"a Bunch of scikit-learn: load it with as_frame=True"):
        Dataset.of(pytest.importorskip("sklearn.datasets").load_iris())


class OnlyArrow:
    """A table that is known by Arrow's C interface alone."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


LIBRARIES = ["pandas", "polars", "lazy", "pyarrow", "arrow", "dict", "xarray", "xarray set", "dask", "records"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_names_and_kinds_are_kept_from_every_library(library):
    x, c = [1.5, 2.5, 3.5, 0.5], ["u", "v", "u", "v"]
    columns = {"x": np.array(x), "c": np.array(c, dtype=object), 7: np.array([True, False, True, True])}
    pandas = pytest.importorskip("pandas")
    named = {str(name): column for name, column in columns.items()}
    if library == "pandas":
        table = pandas.DataFrame(columns)
    elif library in ("polars", "lazy"):
        table = pytest.importorskip("polars").DataFrame({**named, "c": c})
        table = table.lazy() if library == "lazy" else table
    elif library in ("pyarrow", "arrow"):
        table = pytest.importorskip("pyarrow").table({**named, "c": c})
        table = OnlyArrow(table) if library == "arrow" else table
    elif library == "dict":
        table = columns
    elif library == "xarray":
        table = pytest.importorskip("xarray").DataArray(pandas.DataFrame(columns), dims=("row", "column"))
    elif library == "xarray set":
        table = pytest.importorskip("xarray").Dataset({name: ("row", column) for name, column in named.items()})
    elif library == "dask":
        table = pytest.importorskip("dask.dataframe").from_pandas(pandas.DataFrame(named), npartitions=2)
    else:
        table = np.array(list(zip(x, c, columns[7], strict=True)), dtype=[("x", float), ("c", "U1"), ("7", bool)])
    data = Dataset.of(table)
    assert (data.names, data.kinds) == (("x", "c", "7"), ("continuous", "discrete", "discrete"))
    assert data.values.T.tolist() == [x, [0, 1, 0, 1], [1, 0, 1, 1]]


def test_mappings_that_are_no_table():
    with pytest.raises(DataError, match="column 'b' has 2 rows where 'a' has 3"):
        Dataset.of({"a": [1, 2, 3], "b": [1, 2]})
    with pytest.raises(DataError, match="column 'b' has one value where 'a' has 3"):
        Dataset.of({"a": [1, 2, 3], "b": 1})
    with pytest.raises(DataError, match="no columns"):
        Dataset.of({})


def test_one_column_is_no_table():
    for library in ("pandas", "polars"):
        with pytest.raises(DataError, match=r"the data have 1 dimension\(s\): give a table"):
            Dataset.of(pytest.importorskip(library).Series([1.0, 2.0, 3.0]))


def test_what_a_library_refuses_is_a_data_error():
    table = pytest.importorskip("pyarrow").table([[1, 2], [2, 1]], names=["a", "a"])
    with pytest.raises(DataError, match=r"(?s)the table of type Table cannot be read: .*unique"):
        Dataset.of(table)


def test_masked_columns_of_a_mapping_are_missing():
    numbers = np.ma.masked_array([1.5, 2.5, 3.5, 4.5], mask=[False, True, False, False])
    words = np.ma.masked_array(["u", "v", "w", "u"], mask=[False, False, True, False])
    data = Dataset.of({"a": numbers, "b": words, "c": [1, 2, 3, 4]}, missing="drop")
    assert data.values.tolist() == [[1.5, 0, 1], [4.5, 0, 4]]
    assert data.kinds == ("continuous", "discrete", "continuous")


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_that_are_no_text(values, name):
    with pytest.raises(DataError, match=r"the name of column 2, .*, is no text: it holds"):
        Dataset(values, ("a", name, "c"))


@pytest.mark.parametrize("label", [None, float("nan")])
def test_missing_labels_are_no_names(values, label):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="column 2 has no name"):
        Dataset.of(pandas.DataFrame(values, columns=["a", label, "c"]))


def test_pandas_own_number_types():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"i": pandas.array([1, 2, 3], dtype="Int64"), "f": pandas.array([1.5, 2, 3], "Float32")})
    assert Dataset.of(frame).values.tolist() == [[1, 1.5], [2, 2], [3, 3]]
    frame.loc[1, "i"] = pandas.NA
    with pytest.raises(DataError, match=r"missing values \(NaN\) in column 'i' \(1\), first in row 1"):
        Dataset.of(frame)


@pytest.mark.parametrize("library", ["pandas", "pandas by Arrow", "polars", "pyarrow"])
def test_whole_numbers_beside_missing_ones_keep_their_digits(library):
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    numbers = [2**53, None, 2**53 + 1]
    table = {
        "pandas": lambda: pandas.DataFrame({"a": pandas.array(numbers, dtype="Int64")}),
        "pandas by Arrow": lambda: pandas.DataFrame({"a": pandas.array(numbers, dtype="int64[pyarrow]")}),
        "polars": lambda: polars.DataFrame({"a": numbers}),
        "pyarrow": lambda: pyarrow.table({"a": numbers}),
    }[library]()
    with pytest.raises(DataError, match=r"column 'a' holds 9007199254740993 in row 2"):
        Dataset.of(table, missing="drop")


def test_whole_numbers_that_numpy_has_no_type_for():
    polars = pytest.importorskip("polars")
    column = polars.Series("a", [2**100, 1, None], dtype=polars.Int128)
    assert Dataset.of(polars.DataFrame([column]), missing="drop").values.tolist() == [[2.0**100], [1.0]]


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"b": [1, 2, 3], "a": [0.5, 1.5, 2.5]})
    data = Dataset.of(frame)
    assert data.names == ("b", "a")
    assert data.values.tolist() == [[1, 0.5], [2, 1.5], [3, 2.5]]
    with pytest.raises(DataError, match=r"missing values \(NaN\) in column 'b' \(1\)"):
        Dataset.of(frame.with_columns(b=polars.Series([1, None, 3])))


# What is refused


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            [[1.0, np.nan], [np.nan, np.nan], [1, 2]],
            r"missing values \(NaN\) in column 'X1' \(1\), 'X2' \(2\), first in",
        ),
        ([[1.0, 2], [np.inf, 3]], r"infinite values in column 'X1' \(1\), first in row 1 \(counted from 0\): drop or"),
        ([1.0, 2, 3], r"1 dimension\(s\): give a table"),
        (5.0, "are of type float: give an array of shape"),
        ("data.csv", "are of type str: .* read_table reads a file"),
        ((row for row in [[1, 2], [3, 4]]), "are of type generator"),
        ([{"a": 1, "b": 2}, {"a": 2, "b": 3}], r"a list of records: pass pandas.DataFrame\(data\)"),
        ([[10**400, 1], [2, 3]], "'X1' holds a number too large for a double, in row 0"),
        ([[Decimal(2**60 + 1), 1], [2, 3]], r"'X1' holds 1152921504606846977 in row 0 .* a double rounds"),
        (
            [[Decimal("1e-400"), 1], [2, 3]],
            r"'X1' holds 1E-400 in row 0 .*, a number so small that a double makes it 0",
        ),
        (np.zeros((3, 2, 2)), r"3 dimension\(s\)"),
        (np.zeros((3, 0)), "no columns"),
        (np.zeros((1, 3)), r"1 row\(s\)"),
        ([], r"1 dimension\(s\)"),
        ([[1.0, 2], [3.0]], "rows differ in length"),
        (np.ma.array([[1.0, 2], [3, 4]], mask=[[0, 1], [0, 0]]), r"missing values \(NaN\) in column 'X2' \(1\)"),
        (np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]), r"missing values \(NaN\) in column 'X2' \(1\)"),
        (np.ma.array([[True, False], [False, True]], mask=[[0, 1], [0, 0]]), r"\(NaN\) in column 'X2' \(1\)"),
    ],
)
def test_bad_tables(table, message):
    with pytest.raises(DataError, match=message):
        Dataset.of(table)


@pytest.mark.parametrize("missing", ["pairwise", "Drop", None])
def test_unknown_ways_with_missing_values(values, missing):
    with pytest.raises(ParameterError, match=rf"missing = {missing!r} must be one of raise, drop, drop-per-test"):
        Dataset.of(values, missing=missing)


def test_unknown_kinds(values):
    with pytest.raises(ParameterError, match="column 'b': kind = 'categorical' must be one of continuous, discrete"):
        Dataset(values, ("a", "b", "c"), ("continuous", "categorical", "discrete"))
    with pytest.raises(DataError, match="2 kinds were given for 3 columns"):
        Dataset(values, ("a", "b", "c"), ("continuous", "discrete"))


def test_missing_values_are_kept_when_told(values):
    values[3, 1] = np.nan
    with pytest.raises(DataError, match=r"'b' \(1\), first in row 3 .* or keep them with has_missing=True"):
        Dataset(values, ("a", "b", "c"))
    assert Dataset(values, ("a", "b", "c"), has_missing=True).has_missing


def test_an_array_of_objects_is_read_column_by_column():
    rows = [[1, "u", Decimal("0.5"), True], [2.5, "v", None, False], [3, "u", 2, None]]
    for table in (rows, [tuple(row) for row in rows], np.array(rows, dtype=object)):
        data = Dataset.of(table, ["a", "b", "c", "d"], missing="drop-per-test")
        assert data.kinds == ("continuous", "discrete", "continuous", "discrete")
        expected = [[1, 0, 0.5, 1], [2.5, 1, np.nan, 0], [3, 0, 2, np.nan]]
        np.testing.assert_array_equal(data.values, expected)
    with pytest.raises(DataError, match="3 names were given for 4 columns"):
        Dataset.of(rows, ["a", "b", "c"])
    with pytest.raises(DataError, match="given more than once: a"):
        Dataset.of(rows, ["a", "a", "b", "c"])


def test_columns_of_pandas_whose_row_labels_differ_are_no_table():
    pandas = pytest.importorskip("pandas")
    a = pandas.Series([1.0, 2.0, 3.0])
    assert Dataset.of({"a": a, "b": a * a, "c": [1, 2, 4]}).p == 3
    with pytest.raises(DataError, match="column 'b' has other row labels than 'a': pass pandas"):
        Dataset.of({"a": a, "b": a.sort_values(ascending=False)})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((3, 2)) * 1j, "column X1, X2: complex numbers cannot be used; convert"),
        (
            np.array([[1.0, "a"], [2.0, 3.0], [3.0, "b"]], dtype=object),
            "'X2' holds numbers among text, first 3.0 in row 1",
        ),
        ([["1", "2"], ["3", "4"]], r"row 0 .*: column 'X1' holds '1', a number as text: convert it to a number"),
        (np.array([[True, 1], [2, 3], [False, 4]], dtype=object), "'X1' holds numbers among truth values, first 2"),
        (np.zeros((2, 2), "M8[D]"), r"column X1, X2: type datetime64\[D\] cannot be used"),
    ],
)
def test_bad_types(table, message):
    with pytest.raises(DataTypeError, match=message):
        Dataset.of(table)
    with pytest.raises(DataTypeError):
        Dataset(np.asarray(table), ("X1", "X2"))


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (np.array(["2020-01-01"] * 3, "M8[s]"), "type datetime64"),
        ([1j, 2, 3], "complex numbers"),
        ([{}, {}, {}], "objects of type dict"),
    ],
    ids=["date", "complex", "objects"],
)
def test_bad_columns_of_a_frame(column, what):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"good": [1.0, 2, 3], "bad": column})
    with pytest.raises(DataTypeError, match=rf"column 'bad': {what}.* cannot be used"):
        Dataset.of(frame)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "2 names were given for 3 columns"),
        (["a", "b", "a"], "given more than once: a"),
        (["a", " ", "c"], "column 2 has no name"),
        (["a", "b", None], "column 3 has no name"),
    ],
)
def test_bad_names(values, names, message):
    with pytest.raises(DataError, match=message):
        Dataset.of(values, names)


def test_names_may_come_one_at_a_time(values):
    for data in (values, [[1, "a", 2.5], [2, "b", None], [3, "a", 1.5]], Dataset.of(values)):
        assert Dataset.of(data, (name for name in "uvw"), "drop").names == ("u", "v", "w")


def test_a_frame_brings_its_names(values):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(DataError, match="a table with column names brings its own"):
        Dataset.of(pandas.DataFrame(values), ["a", "b", "c"])
    with pytest.raises(DataError, match="given more than once: a"):
        Dataset.of(pandas.DataFrame(values, columns=["a", "b", "a"]))


# What it knows


def test_column_by_name_or_number(values):
    data = Dataset.of(values, ["age", "dose", "site"])
    assert [data.column(c) for c in ("dose", 1, np.int64(1))] == [1, 1, 1]
    with pytest.raises(UnknownNameError, match=r"no column 'dosis'; did you mean 'dose'\? \(the columns are age, dose"):
        data.column("dosis")
    for number in (-1, 3, 1.5, True, None):
        with pytest.raises(UnknownNameError, match=rf"no column number {number}: they run from 0 to 2"):
            data.column(number)


@given(tables)
def test_hash_is_of_shape_names_kinds_and_bytes(table):
    data = Dataset.of(table)
    digest = hashlib.sha256(repr((table.shape, data.names, data.kinds)).encode() + table.astype("<f8").tobytes())
    assert data.sha256 == digest.hexdigest()


def test_hash_sees_every_change(values):
    changed = values.copy()
    changed[29, 2] = np.nextafter(changed[29, 2], 9)
    variants = [
        Dataset.of(values),
        Dataset.of(changed),
        Dataset.of(values, ["a", "b", "c"]),
        Dataset(values, ("X1", "X2", "X3"), ("continuous", "discrete", "continuous")),
        Dataset.of(values.reshape(15, 6)),
        Dataset.of(values).select([0, 2, 1]),
        Dataset.of(values[:-1]),
    ]
    assert len({data.sha256 for data in variants}) == len(variants)
    assert Dataset(values, ["X1", "X2", "X3"]).sha256 == variants[0].sha256


def test_hash_is_of_the_values_as_they_are(values):
    data = Dataset.of(values)
    before = data.sha256
    values[0, 0] += 1.0  # the caller's own array, which is not copied
    assert data.sha256 == Dataset.of(values.copy()).sha256 != before


def test_select(values):
    data = Dataset.of(values, ["a", "b", "c"]).select([2, 0])
    assert data.names == ("c", "a")
    assert np.array_equal(data.values, values[:, [2, 0]])


def test_constant_columns():
    tiny = np.array([0.1 + 0.2, 0.3, 0.3])
    data = Dataset.of(np.column_stack([np.full(3, 7.0), tiny, [1, 1, 2], np.zeros(3)]))
    assert data.constant_columns() == (0, 3)


def test_pickle(values):
    data = Dataset.of(values, ["a", "b", "c"])
    copy = pickle.loads(pickle.dumps(data))
    assert (copy.names, copy.sha256, copy.column("b")) == (data.names, data.sha256, 1)
    with pytest.raises(ValueError, match="read-only"):
        copy.values[0, 0] = 1.0
    gaps = Dataset(np.where(values > 1, np.nan, values), ("a", "b", "c"), ("discrete",) * 3, has_missing=True)
    copy = pickle.loads(pickle.dumps(gaps))
    assert (copy.sha256, copy.kinds, copy.has_missing) == (gaps.sha256, gaps.kinds, True)


def test_natural_order():
    names = ["X10", "x2", "X9", "X2", "a", "10", "9", "X2b", "X2a10", "X2a9", ""]
    assert sorted(names, key=natural_key) == ["", "9", "10", "X2", "X2a9", "X2a10", "X2b", "X9", "X10", "a", "x2"]


@given(st.lists(st.text("aX019²٣", max_size=4), unique=True))
def test_natural_order_is_an_order(names):
    assert sorted(names, key=natural_key) == sorted(sorted(names), key=natural_key)
    assert len(set(map(natural_key, names))) == len(names)


def test_listing():
    assert listing(["a", "b"]) == "a, b"
    assert listing([str(i) for i in range(14)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more"


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_part_is_what_the_constructor_makes_of_it(order):
    values = np.array(np.random.default_rng(1).standard_normal((6, 4)), order=order)
    values[2, 1] = np.nan
    data = Dataset(values, tuple("abcd"), has_missing=True)
    for part, chosen in ((data.select([3, 0]), values[:, [3, 0]]), (data.rows([0, 2, 5]), values[[0, 2, 5]])):
        expected = Dataset(chosen, part.names, has_missing=True)
        assert part.sha256 == expected.sha256
        assert part.has_missing is expected.has_missing
        assert part.values.flags.c_contiguous
        assert not part.values.flags.writeable
        assert [part.column(name) for name in part.names] == list(range(part.p))
    assert data.select([]).p == 0


def test_a_part_has_each_column_once_and_two_rows():
    data = Dataset.of(np.eye(3))
    with pytest.raises(DataError, match="given more than once: X1"):
        data.select([0, 1, 0])
    with pytest.raises(DataError, match=r"the data have 1 row"):
        data.rows([1])
