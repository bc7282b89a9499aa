from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pyknnmi import DataError, Dataset, DataTypeError, read_table
from pyknnmi.learning.exports import write_dataset

reals = st.floats(allow_nan=False, allow_infinity=False)
tables = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=5), elements=reals)


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@given(tables)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_back_to_the_bit(tmp_path, table):
    data = Dataset.of(table)
    write_dataset(data, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").sha256 == data.sha256


@pytest.mark.parametrize("name", ["a,b", "a;b", 'a"b', " spaced ", "å", "X 1", "1e5", "#x", "new\nline"])
def test_any_name_is_read_back(tmp_path, name):
    data = Dataset.of([[1.0, 2.0], [3.0, 4.0]], [name, "other"])
    write_dataset(data, tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").names == (name.strip(), "other")


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,4.5\n",
        "a,b\r\n1,2\r\n3,4.5\r\n",
        "a,b\r1,2\r3,4.5\r",
        "a,b\n1,2\n3,4.5",
        "a\tb\n1\t2\n3\t4.5\n",
        "a;b\n1;2\n3;4.5\n",
        "a, b\n 1, 2\n3 ,4.5\n",
        '"a","b"\n"1","2"\n"3","4.5"\n',
        "\ufeffa,b\n1,2\n3,4.5\n",
        "a,b\n1,2\n\n3,4.5\n\n",
        "a,b\n1e0,2.\n+3,45e-1\n",
    ],
)
def test_dialects(write, text):
    data = read_table(write(text))
    assert data.names == ("a", "b")
    assert data.values.tolist() == [[1, 2], [3, 4.5]]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('"conc, mM";"b, x";c\n1;2;3\n4;5;6\n', ("conc, mM", "b, x", "c")),
        ("a\tb, mM, tot, x\tc\n1\t2\t3\n4\t5\t6\n", ("a", "b, mM, tot, x", "c")),
        ('"dose; a; b; c",b,c\n1,2,3\n4,5,6\n', ("dose; a; b; c", "b", "c")),
        ('"a", "b, x", "c"\n1, "2", 3\n4.0, "5.0", 6\n', ("a", "b, x", "c")),
        ('"a"\t "b"\t"c"\n1\t "2"\t3\n4\t5\t6\n', ("a", "b", "c")),
        ('size 5",b,c\n1,2,3\n4,5,6\n', ('size 5"', "b", "c")),
        ('"two\nlines",b,c\n1,2,3\n4,5,6\n', ("two\nlines", "b", "c")),
    ],
)
def test_separators_within_quotes_or_names(write, text, names):
    data = read_table(write(text))
    assert data.names == names
    assert data.values.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_inch_marks_hold_no_lines_together(write):
    data = read_table(write('size 5",lab\n1,x\n2,y\n3,x"\n4,y\n5,y\n6,x\n7,x"\n'))
    assert data.names == ('size 5"', "lab")
    assert data.values[:, 0].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_decimal_commas_between_semicolons_are_told_where_names_have_commas_too(write):
    with pytest.raises(DataTypeError, match=r"line 2: column 'Größe, cm' holds '0,13', a number with a comma"):
        read_table(write("Größe, cm;Gewicht, kg\n0,13;0,50\n0,14;0,60\n"))


@pytest.mark.parametrize("mark", ["", "NA", "n/a", "N.A.", "#N/A", "<NA>", ".", "NaN", "null", "None", "?"])
def test_marks_of_missing_values(write, mark):
    data = read_table(write(f"a,b\n1,x\n{mark},y\n3,{mark}\n4,x\n"), "drop")
    assert data.values.tolist() == [[1, 0], [4, 0]]


def test_a_quotation_mark_alone_in_a_name(write):
    assert read_table(write('width,height"\n1,2\n3,4\n')).names == ("width", 'height"')


def test_compressed(write):
    path = write(gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0), "data.csv.gz")
    assert read_table(path).values.tolist() == [[1, 2], [3, 4]]


def test_one_column(write):
    assert read_table(write("a\n1\n2\n")).values.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty, or its first line is: it must hold the column names"),
        ("\n1,2\n", "is empty, or its first line is"),
        ("a,b\n", "has column names and no rows"),
        ("a,b", "has column names and no rows"),
        ("1,2\n3,4\n", "the first line of '.*' holds numbers: put the column names there"),
        ("a,b\n1,2\n3\n", "line 3: 1 values for 2 column names"),
        ("a,b\n1,2,3\n4,5,6\n", "line 2: 3 values for 2 column names: each column needs a name, also one"),
        ("a,b\nr1,1,2\nr2,3,4\n", "line 2: 3 values for 2 column names: each column needs a name, also one"),
        ("My experiment\na,b\n1,2\n", "line 2: 2 values for 1 column names: the first line must hold the column names"),
        ("# of 2024\n1;2\n3;4\n", "line 2: 2 values for 1 column names: .* and be no title or comment"),
        ("a|b c\n1|2 3\n", r"has one column, 'a\|b c': separate columns by commas, semicolons or tabs"),
        ("a b\n 1 2\n 3 4\n", "has one column, 'a b': separate columns by commas"),
        ("a,b\n1,2\n", r"1 row\(s\)"),
        ("a,a\n1,2\n3,4\n", "given more than once: a"),
        (",a,b\n1,2,3\n2,3,4\n", "column 1 has no name: name it, or leave it out if it is a row index"),
        ("a,b\n1,NA\n,4\n", r"missing values \(NaN\) in column 'a' \(1\), 'b' \(1\), first in line 2:"),
        ('"a\nb",c\n1,2\n\n3,nan\n', r"missing values \(NaN\) in column 'c' \(1\), first in line 5: drop or impute"),
        ("a,b\nx,2\n\ny,inf\n", "infinite values in column 'b' .*, first in line 4: drop or clip"),
        ("a,\n1,\n2,\n", "column 2 has no name"),
        ("a,b\n1,nan\n2,4\n", r"missing values \(NaN\) in column 'b' \(1\)"),
        ("a,b\n1,inf\n2,4\n", r"infinite values in column 'b' \(1\)"),
        (b"a,b\n1,\xff\n", "is not text in UTF-8: save it as CSV in UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "is not text in UTF-8: save it as CSV in UTF-8"),
        ('name,v\nx,0\n"abc,1\nx,2\nx,3\n', "line 3: 1 values for 2 column names"),
        ('name,v\nx,0\n"abc,1\n' + "x,2\n" * 40000, r"line 3: .* begins here \(field larger .*: is a quotation mark"),
        ("a,b\nx,2\ny\r,4\n", "line 3: cannot read the row that begins here"),
        ("a\rb,c\n1,2\n3,4\n", "line 1: cannot read the row that begins here"),
    ],
)
def test_bad_files(write, content, message):
    with pytest.raises(DataError, match=message):
        read_table(write(content))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3,x\n4,5\n", "line 3: column 'b' holds the text 'x' among numbers: give numbers, leave the cell"),
        ("a,b\n1,2\n3,-\n", "holds the text '-' among numbers: .* empty or write NA where a value is missing"),
        ('"a\n1",b\n1,2\n3,x\n', "line 4: column 'b' holds the text 'x'"),
        ("a,b\n1_2,x\n3,y\n", "line 2: column 'a' holds the text '1_2' among numbers"),
        ("a;b\n0,5;1\n-0,25;2\n", "line 2: column 'a' holds '0,5', a number with a comma: write decimal points"),
        ("conc, mM;b\n0,5;1\n1,5;2\n", "line 2: column 'conc, mM' holds '0,5', a number with a comma"),
        ("a;b\n2;1\n1,5;2\n", "line 3: column 'a' holds '1,5', a number with a comma"),
        ("a\tb\nx\t1.234,5\ny\t\n", "line 2: column 'b' holds '1.234,5', a number with a comma"),
        ('a,b\n"1,5",1\n"2,5e-3",2\n', "line 2: column 'a' holds '1,5', a number with a comma"),
    ],
)
def test_text_among_numbers(write, text, message):
    with pytest.raises(DataTypeError, match=message):
        read_table(write(text))


def test_no_file(tmp_path):
    with pytest.raises(DataError, match=r"cannot read '.*none\.csv': No such file or directory"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(DataError, match="cannot read"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="cannot read"):
        read_table("a\0b")


def test_digits_joined_by_underscores_are_labels(write):
    data = read_table(write("a,b\n1_2,2\n1_3,3\n1_2,4\n"))
    assert data.kinds == ("discrete", "continuous")
    assert data.values.tolist() == [[0, 2], [1, 3], [0, 4]]


def test_lists_of_numbers_are_categories(write):
    assert read_table(write("a;b\n1,2,3;2\n1,3;3\n1,2,3;4\n")).kinds[0] == "discrete"


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-20], b"\x1f\x8b\x08\x00junk"]
)
def test_files_that_are_not_what_their_name_says(write, content):
    with pytest.raises(DataError, match="cannot read"):
        read_table(write(content, "data.csv.gz"))
