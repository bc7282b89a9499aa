from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pyknnmi import (
    DataError,
    Dataset,
    DataTypeError,
    ParameterError,
    PyknnmiWarning,
    UnknownNameError,
    ci_test,
    learn,
    read_table,
)
from pyknnmi.data import reading
from pyknnmi.data.files import write_dataset
from pyknnmi.data.options import TableOptions

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
    assert read_table(tmp_path / "t.csv", header=True).names == (name.strip(), "other")


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


@pytest.mark.parametrize("mark", ["", "NA", "n/a", "N.A.", "#N/A", "<NA>", ".", "NaN", "null", "?", r"\N"])
def test_marks_of_missing_values(write, mark):
    data = read_table(write(f"a,b\n1,x\n{mark},y\n3,{mark}\n4,x\n"), "drop")
    assert data.values.tolist() == [[1, 0], [4, 0]]


@pytest.mark.parametrize("mark", ["missing", ".a", ".Z", "._", "-nan", "1.#QNAN", "-1.#IND", "NaN(ind)", "#NA"])
def test_marks_of_missing_numbers(write, mark):
    data = read_table(write(f"a,b\n1,x\n{mark},y\n3,{mark}\n4,x\n"), "drop")
    assert data.values[:, 0].tolist() == [1, 3, 4]
    assert len(np.unique(data.values[:, 1])) == 2  # a label of its own among labels


def test_a_quotation_mark_alone_in_a_name(write):
    assert read_table(write('width,height"\n1,2\n3,4\n')).names == ("width", 'height"')


def zipped(content, *names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


CONTENT = b"a,b\n1,2\n3,4\n5,7\n"


@pytest.mark.parametrize(
    "content",
    [
        CONTENT,
        gzip.compress(CONTENT, mtime=0),
        bz2.compress(CONTENT),
        lzma.compress(CONTENT),
        zipped(CONTENT, "folder/", "folder/data.csv", "__MACOSX/folder/._data.csv"),
    ],
    ids=["plain", "gzip", "bzip2", "xz", "zip"],
)
def test_compressed_files_are_known_by_their_content(write, content, monkeypatch):
    path = write(content)
    assert read_table(path).values.tolist() == [[1, 2], [3, 4], [5, 7]]
    with path.open("rb") as stream:
        assert Dataset.of(read_table(stream)).names == ("a", "b")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read_table("-").names == ("a", "b")


def test_archives_that_are_no_table(write):
    with pytest.raises(DataError, match="it holds 2 files: take one table out"):
        read_table(write(zipped(CONTENT, "a.csv", "b.csv")))
    with pytest.raises(DataError, match=r"it is a spreadsheet .*: save it as CSV"):
        read_table(write(zipped(b"", "[Content_Types].xml", "xl/workbook.xml")))


def test_open_files_of_text():
    assert read_table(io.StringIO("\ufeffa,b\n1,2\n3,4\n")).names == ("a", "b")
    assert ci_test(io.StringIO("a,b\n1,2\n3,4\n5,7\n8,1\n"), "a", "b", test="fisher-z").n == 4
    with pytest.raises(DataError, match="the open file, line 2: 1 values for 2"):
        read_table(io.StringIO("a,b\n1\n"))


@pytest.mark.parametrize("library", ["parquet", "feather"])
def test_files_of_arrow(tmp_path, library):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(
        {"x": [1.5, None, 2.0, 4.0], "c": pyarrow.array(["u", "v", None, "u"]).dictionary_encode(), "i": [1, 2, 3, 4]}
    )
    path = tmp_path / "data"
    if library == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    data = read_table(path, "drop", ignore="i")
    assert (data.names, data.kinds, data.rows_left_out) == (("x", "c"), ("continuous", "discrete"), 2)
    assert data.values.tolist() == [[1.5, 0], [4, 0]]


# What the reader takes for what


@pytest.mark.parametrize(
    "cells",
    [
        ["5%", "7%", "12.5 %"],
        ["$10", "$7.50", "$1,000"],
        ["-$10", "$7", "$12"],
        ["EUR 10", "EUR 20", "EUR 7"],
        ["1,000,000", "2,500,000", "12,000"],
        ["1 000", "2 500", "13 000"],
        ["1'000", "2'500", "13'000"],
        ["5 mg", "10 mg", "20 mg"],
        ["5 mg", "2 g", "100 µg"],
        ["5mg", "10mg", "20mg"],
        ["12 h", "30 min", "2 days"],
        ["<5", "<7", "<9"],
        ["\N{MINUS SIGN}5", "\N{MINUS SIGN}7", "\N{MINUS SIGN}1.5"],
        ["1.5D+03", "2.5D+03", "1D-2"],
        ["3.5 kg/m2", "4 kg/m2", "5.25 kg/m2"],
        ["20 °C", "21 °C", "19.5 °C"],
        [*(f"{i}%" for i in range(19)), "unknown"],
        ["R$ 10", "R$ 12", "US$ 7"],
        ["($10)", "($20)", "$30"],
        ["(5)", "(7)", "(9.5)"],
        ["5-", "7-", "9-"],
        ["0x1F", "0x2A", "0x00"],
        ["1_000", "2_500", "13_000"],
        ["1,20,000", "12,00,000", "50,000"],
        ["5 KB", "7 MB", "1 GB"],
        ["5±0.1", "7±0.2", "9 ± 0.1"],
        ["5 10^9/L", "7 10^9/L", "6.5 10^9/L"],
        ["5 x 10^5", "7 x 10^5", "6.5 x 10^4"],
        ["'5", "'7", "'9"],
        ['=""5""', '=""7""', '=""9""'],
        ["\uff11\uff0e\uff15", "\uff12\uff0e\uff15", "\uff13\uff0e\uff15"],
    ],
    ids=lambda cells: cells[0],
)
def test_numbers_with_units_signs_and_separators_are_no_categories(write, cells):
    pandas = pytest.importorskip("pandas")
    text = "a;b\n" + "".join(f'"{cell}";{i}\n' for cell in cells for i in range(3))
    cells = [cell.replace('""', '"') for cell in cells]
    with pytest.raises(DataTypeError, match=rf"line 2: column 'a' holds '{re.escape(cells[0])}', a number with"):
        read_table(write(text))
    assert read_table(write(text), categories="a").kinds == ("discrete", "continuous")
    frame = pandas.DataFrame({"a": np.repeat(cells, 3), "b": np.arange(3.0 * len(cells))})
    with pytest.raises(DataTypeError, match=r"row 0 \(counted from 0\): column 'a' holds"):
        Dataset.of(frame)
    assert Dataset.of(frame, categories=["a"]).kinds == ("discrete", "continuous")


@pytest.mark.parametrize(
    "cells",
    [
        ["1st", "2nd", "3rd"],
        ["18-25", "26-35", "36-99"],
        ["T1", "T2", "T3"],
        ["1a", "2b", "3c"],
        ["5 mg", "10 mg", "placebo"],
        ["stage 1", "stage 2", "stage 3"],
        ["1 = male", "2 = female", "3 = other"],
        ["1 yes", "2 no", "3 no answer"],
        ["+", "-", "++"],
        ["A+", "B-", "0+"],
        ["Na", "K", "Ca"],
        ["none", "low", "high"],
        ["None", "Pool", "Gazebo"],
        ["0/0", "0/1", "1/1"],
        ["1990-95", "1996-99", "2000-05"],
        ["10.1.1", "10.1.2", "10.2.1-rc"],
        ["Group 1", "Group 2", "Group 3"],
        ["marker01", "section02", "decile03"],
        ["7/10", "8/12", "9/9"],
        ["2010-11", "2012-13", "2014-15"],
        ["1500M3", "1500M4", "2500M4"],
        ["SEPT10", "SEPT11", "SEPT12"],
        ["P1D", "P2D", "P3M"],
        ["1234-01", "1234-02", "4321-01"],
        ["2000-21", "2000-22", "2000-23"],
        ["40.13.41", "40.13.42", "40.14.41"],
        ["120/124", "124/124", "122/120"],
        ["16/9", "4/3", "3/2"],
        ["1/2", "2/2", "3/2"],
        [f"{i}/{'1' * 5000}" for i in range(3)],  # more digits than Python makes a number of
        ["1:75", "1:80", "1:99"],
        [".T", ".F", ".X"],
    ],
    ids=lambda cells: cells[0],
)
def test_labels_with_digits_and_words_for_nothing_are_categories(write, cells):
    text = "a;b\n" + "".join(f"{cell};{i}\n" for cell in cells for i in range(3))
    data = read_table(write(text))
    assert data.kinds == ("discrete", "continuous")
    assert len(np.unique(data.values[:, 0])) == len(cells)


@pytest.mark.parametrize(
    "cells",
    [
        ["2020-01-01", "2020-02-01", "2021-01-01"],
        ["1/2/2020", "13/2/2020", "1/3/20"],
        ["1.2.2020", "13.2.2020", "1.3.2021"],
        ["2020-01-01T10:00:00Z", "2020-01-01T11:00:00Z", "2020-01-01 12:30"],
        ["1 Jan 2020", "2 Feb 2020", "13 March 2020"],
        ["Jan 1, 2020", "Feb 2, 2020", "May 13, 2020"],
        ["10:30", "11:45", "7:00 pm"],
        ["00:01:02.5", "00:01:03.5", "00:02:02"],
        ["01JAN2024", "02FEB2024", "13MAR2023"],
        ["01JAN2024:10:30:00", "02FEB2024:11:00:00", "13MAR2023:00:00:01"],
        ["2024-01", "2024-02", "2023-12"],
        ["2024m1", "2024m12", "2023m2"],
        ["2024Q1", "2024-Q2", "2023 Q4"],
        ["Jan-24", "Feb-24", "September-23"],
        ["3h 5m", "12h 0m", "1 h 30 min"],
        ["2 days, 3 hours", "1 day, 20 hours", "5 days, 1 hour"],
        ["PT3H5M", "PT12H", "P1DT2H"],
        ["P1Y6M", "P1Y3M10D", "P2Y1M"],
        ["1h30m", "2h10m", "12h5m"],
        ["2d4h", "1d12h30m", "5min30s"],
        ["1/2020", "2/2020", "12/2020"],
        ["01/2020", "07/2021", "12/1999"],
        ["2020M01", "2020-M12", "2021M03"],
        ["JAN24", "FEB24", "SEP23"],
        ["PT1.5S", "PT20S", "PT2M"],
    ],
    ids=lambda cells: cells[0],
)
def test_dates_and_times_are_no_categories(write, cells):
    text = "a;b\n" + "".join(f"{cell};{i}\n" for cell in cells for i in range(3))
    with pytest.raises(
        DataTypeError, match=rf"line 2: column 'a' holds '{re.escape(cells[0])}', a date or a time: make"
    ):
        read_table(write(text))
    assert read_table(write(text), categories="a").kinds == ("discrete", "continuous")


@pytest.mark.parametrize("error", ["#VALUE!", "#DIV/0!", "#REF!", "#NAME?", "#NUM!"])
def test_an_error_of_a_spreadsheet_is_no_category(write, error):
    text = f"a,b\nlow,1\nhigh,2\nlow,3\n{error},4\n"
    with pytest.raises(
        DataTypeError, match=rf"line 5: column 'a' holds '{re.escape(error)}', an error of a spreadsheet"
    ):
        read_table(write(text))
    assert read_table(write(text), "drop", missing_marks=error).n == 3


def test_nothing_is_added_to_a_quoted_cell_and_no_row_is_swallowed(write):
    with pytest.raises(DataError, match="line 3: cannot read the row that begins here"):
        read_table(write('a,b\n1,2\n"3"4,5\n6,7\n'))  # once 34
    with pytest.raises(DataError, match="line 3: cannot read the row that begins here"):
        read_table(write('a,b\n1,x\n2,"y\n3,x\n4,y\n'))  # once one label of three lines


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blanks_after_a_quoted_cell_are_no_part_of_it(write, delimiter, end):
    lines = ['"a" |"b, c"  | "d"', '"1" |2|"x ""y"" ,"  ', '3 | "4" |"z "', '"5"|6|"x ""y"" ,"']
    table = reading.read_columns(write(end.join(line.replace("|", delimiter) for line in lines)), TableOptions())
    assert [column.name for column in table.columns] == ["a", "b, c", "d"]
    assert table.dataset().values.tolist() == [[1, 2, 0], [3, 4, 1], [5, 6, 0]]
    assert table.columns[2].first == 'x "y" ,'


def test_blanks_after_a_quoted_cell_of_a_table_without_names(write):
    assert read_table(write('"1" ,2\n3, "4" \n'), header=False).values.tolist() == [[1, 2], [3, 4]]


@given(st.text(alphabet='a",\n ', max_size=20))
def test_nothing_but_blanks_after_quotation_marks_is_removed(text):
    mended = reading._without_blanks_after_quotes(text, ",")
    assert mended.replace(" ", "") == text.replace(" ", "")
    try:
        rows = list(csv.reader(io.StringIO(text), skipinitialspace=True, strict=True))
    except csv.Error:
        return
    again = list(csv.reader(io.StringIO(mended), skipinitialspace=True, strict=True))
    assert again == rows


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16", "utf-32"])
def test_text_in_another_encoding_is_refused(tmp_path, encoding):
    path = tmp_path / "data.csv"
    path.write_bytes("a,b\n1,2\n3,4\n".encode(encoding))
    with pytest.raises(DataError, match="save it as CSV in UTF-8"):
        read_table(path)


def test_an_archive_may_hold_files_of_the_system(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (("d/t.csv", "a,b\n1,2\n2,1\n"), ("d/.DS_Store", "x"), ("__MACOSX/d/._t.csv", "x")):
            archive.writestr(zipfile.ZipInfo(name), content)
    assert read_table(path).values.tolist() == [[1, 2], [2, 1]]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n4.7,3.2,other\n", "'5.1' is a number"),
        (
            "5,x,setosa\n4,y,setosa\n4,z,other\n",
            r"'setosa' is also a value in its column \(line 2: remove it if it repeats the names\)",
        ),
        ("a,?,b\n1,2,3\n4,5,6\n", r"'\?' is a mark of missing values"),
        ("-1,x,y\n-2,1,2\n-3,1,2\n", "'-1' is a number"),
        (
            "sex,age\nm,1\nf,2\nsex,3\n",
            r"'sex' is also a value in its column \(line 4: remove it if it repeats the names\)",
        ),
    ],
)
def test_a_first_line_that_looks_like_a_row(write, text, what):
    with pytest.raises(DataError, match=rf"looks like a row of data: the column name {what}; .*--no-header"):
        read_table(write(text))
    assert read_table(write(text), header=True).n == text.count("\n") - 1


def test_a_file_without_names(write):
    data = read_table(write("5.1,3.5,setosa\n4.9,3.0,setosa\n4.7,3.2,other\n"), header=False)
    assert (data.names, data.values.tolist()) == (("X1", "X2", "X3"), [[5.1, 3.5, 1], [4.9, 3, 1], [4.7, 3.2, 0]])
    with pytest.raises(DataTypeError, match="line 1: column 'X2' holds the text 'x' among numbers"):
        read_table(write("1,x\n2,1\n"), header=False)


@pytest.mark.parametrize("header", ["country,2019,2020", "item,1,7"])
def test_whole_numbers_are_names(write, header):
    assert read_table(write(f"{header}\na,1,2\nb,2,1\n")).names == tuple(header.split(","))


def test_whole_numbers_that_are_values_too_may_be_a_row(write):
    path = write("5,3,setosa\n4,3,other\n6,3,third\n5,2,other\n")
    with pytest.warns(
        PyknnmiWarning, match=r"may be a row of data: the column name '5' is also .* \(line 4\).*--no-header"
    ):
        assert read_table(path).n == 3
    assert read_table(path, header=False).n == 4
    assert read_table(path, header=True).n == 3


def test_a_header_of_years_alone(write):
    path = write("2019,2020\n1,2\n3,4\n")
    with pytest.raises(DataError, match=r"header=False, --no-header.*header=True, --header"):
        read_table(path)
    assert read_table(path, header=True).names == ("2019", "2020")
    assert read_table(path, header=False).n == 3


def test_the_word_that_was_taken_for_missing_is_named(write):
    path = write("level,dose\nnone,1\nNA,2\nhigh,none\nlow,4\n")
    with pytest.raises(DataError, match=r"'level' \(1, written 'NA'\), 'dose' \(1, written 'none'\), first in line 3"):
        read_table(path)
    assert read_table(path, "drop").n == 2
    with pytest.raises(DataTypeError, match=r"'none' among numbers: .*--missing-marks"):
        read_table(path, missing_marks=["NA"])


def test_marks_of_missing_values_can_be_chosen(write):
    path = write("a,b\n-9999,x\n-9999.0,NA\n3,missing\n,y\n5,x\n6,y\n")
    data = read_table(path, "drop-per-test", missing_marks=["-9999", "missing"])
    assert np.isnan(data.values).tolist() == [[True, False]] * 2 + [[False, True], [True, False]] + [[False] * 2] * 2
    assert data.values[1, 1] == 0  # NA, which is a label now
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [-9999, 1, 2], "b": ["x", "missing", "x"]})
    given = Dataset.of(frame, missing="drop-per-test", missing_marks=["-9999", "missing"])
    assert np.isnan(given.values).tolist() == [[True, False], [False, True], [False, False]]
    given = Dataset.of([[-9999.0, 1], [2, 3], [4, 5]], missing="drop", missing_marks="-9999")
    assert (given.n, given.rows_left_out) == (2, 1)


def test_columns_are_left_out_and_codes_called_categories(write):
    path = write("id,code,x,note\nr1,1,4,some\nr2,2,3,free\nr3,1,2,text\nr4,2,7,is\nr5,1,6,here\nr6,2,5,$5\n")
    data = read_table(path, index="id", ignore=["note"], categories=["code"])
    assert (data.names, data.kinds) == (("code", "x"), ("discrete", "continuous"))
    assert learn(path, "iamb+fisher-z", index="id", ignore=["note"]).shape == (6, 2)
    with pytest.raises(UnknownNameError, match=r"ignore: there is no column 'notes'; did you mean 'note'\?"):
        read_table(path, ignore="notes")
    with pytest.raises(ParameterError, match="column 'note' is left out by another option"):
        read_table(path, ignore="note", categories="note")
    with pytest.raises(TypeError, match="unexpected keyword argument 'ignored'"):
        read_table(path, ignored="note")
    array = np.array([[1.0, 5, 2], [2, 6, 3], [1, 7, 4]])
    data = Dataset.of(array, ["code", "id", "x"], categories="code", ignore="id")
    assert (data.names, data.kinds) == (("code", "x"), ("discrete", "continuous"))


@pytest.mark.parametrize("text", [",a,b\nr1,1,2\nr2,3,4\n", "a,b\nr1,1,2\nr2,3,4\n"])
def test_row_names_without_a_name(write, text):
    assert read_table(write(text), index="").values.tolist() == [[1, 2], [3, 4]]


def test_trailing_separators_and_a_line_for_excel(write):
    for text in ("a,b,\n1,2,\n3,4,\n", "sep=;\na;b\n1;2\n3;4\n", "SEP=,\r\na,b\r\n1,2\r\n3,4\r\n"):
        data = read_table(write(text))
        assert (data.names, data.values.tolist()) == (("a", "b"), [[1, 2], [3, 4]])
    for text in ("a,b,,,\n1,2,,,\n3,4\n5,6,, ,\n", "a;b;;\n1;2;;\n3;4;;\n5;6;;\n"):
        assert read_table(write(text)).names == ("a", "b")
        assert read_table(write(text)).n == 3
    with pytest.raises(DataError, match="line 3: 3 values for 2 column names"):
        read_table(write("a,b,,\n1,2,,\n3,4,5\n"))
    with pytest.raises(DataTypeError, match="line 4: column 'b'"):
        read_table(write("sep=;\na;b\n1;2\n3;x\n"))


def test_points_that_may_separate_thousands_are_told(write):
    with pytest.warns(PyknnmiWarning, match="line 4: in column 'a' the points may separate .* '1.250' .* beside '17'"):
        assert read_table(write("a;b\n999;1\n12.345;2\n1.250;3\n17;4\n")).values[2, 0] == 1.25


@pytest.mark.parametrize("other", ["0.250", "1.25", "17.000", "1.2505"])
def test_points_beside_what_has_none_are_decimal(write, other):  # no warning: it would be an error here
    assert read_table(write(f"a;b\n999.000;1\n12.345;2\n1.250;3\n{other};4\n")).n == 4


@pytest.fixture
def looked(monkeypatch):
    """What was read once more."""
    looked, lines = [], reading._Body.lines
    monkeypatch.setattr(reading._Body, "lines", lambda body: looked.append(body) or lines(body))
    return looked


def test_numbers_that_a_double_holds_are_not_looked_at_again(write, looked):
    rows = ["1e-05,0,1e20,9007199254740992", "0,0.5,0.0,1e300", "0e-400,1e-120,-0,9007199254740994"]
    assert read_table(write("\n".join(["a,b,c,d", *rows, ""]))).n == 3
    assert not looked


def test_a_table_is_read_once_more_for_the_points_of_all_columns(write, looked):
    columns = [f"x{i}" for i in range(20)]
    rows = [",".join(f"{10 + row + i}.{row % 3 * 125:03d}" for i in range(20)) for row in range(30)]
    assert read_table(write("\n".join([",".join(columns), *rows, ""]))).p == 20  # all look as if 12.000 were 12000
    assert len(looked) == 1


def test_marks_of_missing_values_are_no_whole_numbers_beside_points(write):  # a warning would be an error here
    text = "a;b\n1.250;1\n2.000;2\n-99;3\n3.111;4\n"
    assert read_table(write(text), "drop", missing_marks=["-99"]).n == 3


def test_categories_that_differ_in_spelling_alone_are_told(write):
    cells = ["Male", "female", "male ", "Female"]
    told = "column 'sex' holds '(Fem|fem)ale' and '(Fem|fem)ale', which are different categories: write them alike"
    with pytest.warns(PyknnmiWarning, match=told):
        read_table(write("sex,x\nfemale,1\nFemale,2\nmale,3\nfemale,4\n"))
    with pytest.warns(PyknnmiWarning, match="which are different categories"):
        assert len(np.unique(Dataset.of({"sex": cells, "x": range(4)}).values[:, 0])) == 4


@pytest.mark.parametrize(
    "cells", [["AA", "Aa", "aa"], ["CO", "Co", "Ni"], ["1a", "1A", "2a"]], ids=lambda cells: cells[0]
)
def test_symbols_that_differ_in_capital_letters_are_no_spellings(write, cells):  # a warning would be an error here
    assert len(np.unique(read_table(write("a,x\n" + "".join(f"{c},{c}\n" for c in cells * 2))).values)) == len(cells)
    assert len(np.unique(Dataset.of({"a": cells * 2, "x": range(6)}).values[:, 0])) == len(cells)


def test_spellings_of_declared_categories_are_meant(write):  # a warning would be an error here
    assert read_table(write("gene,x\nTrp53,1\nTRP53,2\nTrp53,3\n"), categories="gene").n == 3
    assert Dataset.of({"gene": ["Trp53", "TRP53", "Trp53"], "x": [1, 2, 3]}, categories="gene").n == 3
    with pytest.warns(PyknnmiWarning, match=r"if they are not, say so .*--categories gene"):
        read_table(write("gene,x\nTrp53,1\nTRP53,2\nTrp53,3\n"))


def test_so_many_of_a_total_is_a_number(write):
    with pytest.raises(DataTypeError, match="line 2: column 'a' holds '7/10', so many of 10: write the first number"):
        read_table(write("a,b\n7/10,1\n8/10,2\n9/10,3\n7/10,4\n"))


def test_blood_pressure_is_two_numbers(write):
    text = "a,b\n120/80,1\n135/85,2\n110/70,3\n120/80,4\n"
    with pytest.raises(DataTypeError, match=r"'120/80', two numbers in one cell, .*: make two .*--categories a"):
        read_table(write(text))
    assert read_table(write(text), categories="a").kinds[0] == "discrete"


@pytest.mark.parametrize("cells", [["3h", "6h", "24h"], ["0", "3h", "6h"], ["10mg", "20mg", "50mg"], ["1", "2", "X"]])
def test_labels_with_numbers_may_be_called_categories(write, cells):
    path = write("a,b\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells * 2)))
    with pytest.raises(DataTypeError, match="--categories a"):
        read_table(path)
    assert read_table(path, categories="a").kinds[0] == "discrete"


def test_names_and_cells_of_several_lines_stay_on_one_in_what_was_read(write):
    shown = str(reading.read_columns(write('"a\nb",c\n"x\ty",2\nz,4\n'), TableOptions()))
    assert [line.split("  ")[0] for line in shown.splitlines()] == ["column", "a\\nb", "c"]


def test_whole_numbers_that_a_double_rounds(write):
    with pytest.raises(DataError, match=r"column 'b' holds 9007199254740993 in line 3, a whole number that a double"):
        read_table(write("a,b\n1,2\n2,9007199254740993\n"))
    with pytest.raises(DataError, match=r"column 'b' holds 9007199254740993.0 in line 3"):
        read_table(write("a,b\n1,2\n2,9007199254740993.0\n"))
    assert read_table(write("a,b\n1,2\n2,9007199254740994\n")).values[1, 1] == 2.0**53 + 2
    pandas = pytest.importorskip("pandas")
    for table in (np.array([[1, 2], [3, 2**60 + 1]]), pandas.DataFrame({"X1": [1, 3], "X2": [2, 2**60 + 1]})):
        with pytest.raises(DataError, match=rf"column 'X2' holds {2**60 + 1} in row 1"):
            Dataset.of(table)
    with pytest.raises(DataError, match=r"column 'X' holds a number too large for a double, in row 1"):
        Dataset.of(pandas.DataFrame({"X": [1, 10**400], "Y": [1, 2]}))


def test_a_missing_value_makes_no_slow_path(write, monkeypatch):
    looked_at = []  # what costs much is counted, not timed: the cells that are looked at one by one
    number = reading.number
    monkeypatch.setattr(reading, "number", lambda cell: looked_at.append(cell) or number(cell))
    assert read_table(write("a,b\n" + "1,2\n" * 30_000 + "NA,3\n"), "drop").n == 30_000
    assert len(looked_at) < 20


def test_a_column_of_missing_values_alone(write):
    table = read_table(write("a,b\nNA,1\nn/a,2\nnone,3\n,4\n"), "drop-per-test")  # "none" is a label beside others
    assert np.isnan(table.values[:, 0]).all()
    assert table.kinds == ("continuous", "continuous")


def test_parquet_without_pyarrow(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match="it is Parquet, which needs the package pyarrow: pip install"):
        read_table(write(b"PAR1\0junk"))


def test_marks_that_are_given_take_the_place_of_the_usual_ones(write):
    path = write("a,b\n1,2\n<NA>,3\n-99,4\n5,6\n")
    with pytest.raises(DataTypeError, match=r"line 3: column 'a' holds '<NA>' among numbers: ") as told:
        read_table(path, missing_marks="-99")
    assert str(told.value).endswith("(missing_marks=['-99', '<NA>'], '--missing-marks=-99,<NA>')")
    assert read_table(path, "drop", missing_marks=["-99", "<NA>"]).n == 2


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
        (",a,b\n1,2,3\n2,3,4\n", "column 1 has no name: name it, or leave it out if it names the rows"),
        (
            "a,b\n1,NA\n,4\n",
            r"missing values \(NaN\) in column 'a' \(1, written empty\), 'b' \(1, written 'NA'\), first in line 2:",
        ),
        (
            '"a\nb",c\n1,2\n\n3,nan\n',
            r"missing values \(NaN\) in column 'c' \(1, .*\), first in line 5: drop or impute",
        ),
        ("a,b\nx,2\n\ny,inf\n", "infinite values in column 'b' .*, first in line 4: drop or clip"),
        ("a,\n1,\n2,3\n", "line 3: 2 values for 1 column names"),
        ("a,b\n1,2,\n3,4,\n", "line 2: 3 values for 2 column names: the line ends with a separator: remove it"),
        ("a,b\n1,2\n3,4\n# done\n", "line 4: 1 values for 2 column names: if it is a comment, remove it"),
        ("#x\n#y\na,b\n1,2\n", "line 3: 2 values for 1 column names: .* and be no title or comment"),
        ("a,b\n1,2,3\n1,2\n" * 2, "line 2: 3 values for 2 column names"),
        (
            "569,30,malignant\n" + "1,2,3,4,5\n" * 3,
            "line 2: 5 values for 3 .*: the first line must hold the column names",
        ),
        ("A title\nof two lines\n\na,b\n1,2\n", "one column, 'A title': .*, and put nothing above their names"),
        (b"r\x02\x01\0\x0e\0", "it is a table of Stata"),
        (
            "a,b\n1,2\na,b\n3,4\n",
            r"the column name 'a' is also a value in its column \(line 3: remove it if it repeats",
        ),
        ("a,b,c\n1,2,3\n1,2\n", "line 3: 2 values for 3 column names: give each column one value in each row"),
        ("a^b^c\n" + "".join(f"{i}^{i * i}^x\n" for i in range(30)), r"one column, 'a\^b\^c': separate columns by"),
        ("a,b\n1e-400,2\n0,3\n", "'a' holds 1e-400 in line 2, a number so small that a double makes it 0"),
        (f"a,b\n1,2\n0.{'0' * 400}1,3\n", "'a' holds 0.0+1 in line 3, a number so small"),
        (b"$FL2@(#) SPSS", "it is a table of SPSS: save it as CSV in UTF-8, or read it with pandas.read_spss"),
        (b"<stata_dta><header>\0", "it is a table of Stata"),
        (gzip.compress(b"X\n\0\0\0\3", mtime=0), "it is an object of R: save it as CSV in UTF-8, with write.csv"),
        ('[{"a": 1, "b": 2}]', "it is JSON"),
        (" <!doctype html><html>", "it is a page of HTML"),
        (b"RDX3\nX\n\0\0\0\3", "it is a workspace of R"),
        (b"RDA2\nA\n2\n", "it is a workspace of R"),
        ("a,b\r1,2\n3,4\n", "line 1: .* are the ends of lines mixed"),
        ("a,b\n1,nan\n2,4\n", r"missing values \(NaN\) in column 'b' \(1, written 'nan'\)"),
        ("a,b\n1,inf\n2,4\n", r"infinite values in column 'b' \(1\)"),
        (b"a,b\n1,\xff\n", "is not text in UTF-8: save it as CSV in UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "is not text in UTF-8: save it as CSV in UTF-8"),
        ('name,v\nx,0\n"abc,1\nx,2\nx,3\n', "line 3: cannot read the row .* is a quotation mark left open"),
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
        ("a,b\nmg,ml\n3,1\n4,5\n", "line 2: .* text 'mg' among numbers: remove the line if it holds units or more"),
        ("a,b\n1,2\n3,(5.5)\n", r"line 3: column 'b' holds '\(5.5\)', a number with a unit, a sign or a separator"),
        ("a,b\n1,2\n3,<5\n", "line 3: column 'b' holds '<5', a number with a unit, a sign or a separator"),
        ("a,b\n1,2\n3,12'345\n", "line 3: column 'b' holds '12'345', a number with a unit, a sign or a separator"),
        ("a,b\n1,2\n3,\N{MINUS SIGN}5\n", "line 3: .*, a number with a unit, a sign or a separator"),
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
    "content",
    [
        gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-20],
        b"\x1f\x8b\x08\x00junk",
        b"BZh91AY&SYjunk",
        b"\xfd7zXZ\x00junk",
        b"PK\x03\x04junk",
        b"PAR1\0junk",
        b"ARROW1\0junk",
    ],
)
def test_damaged_files(write, content):
    with pytest.raises(DataError, match="cannot read"):
        read_table(write(content, "data.csv.gz"))


@pytest.mark.parametrize("name", ["RDX", "RDX2", "RDA3", "PAR1", "ARROW1", "BZh", "BZh9", "$FL", "$FL2", "%PDF"])
def test_names_that_begin_as_other_formats_do(write, name):
    data = read_table(write(f"{name},TNT\n1,2\n2,1\n"))
    assert (data.names, data.n) == ((name, "TNT"), 2)


@given(st.text(alphabet="a1,\r\n\v\x1c\u2028", max_size=30))
def test_lines_end_where_those_of_a_file_do(text):
    assert list(reading._lines(text)) == list(io.StringIO(text, newline="\n"))


def test_a_wide_table_is_read_in_parts(write, monkeypatch):
    text = "a,b,c\n" + "".join(f"{i},{i / 7!r},{'xy'[i % 2]}\n" for i in range(20))
    expected = read_table(write(text))
    monkeypatch.setattr(reading, "_CELLS_AT_A_TIME", 9)  # three rows
    assert read_table(write(text)).sha256 == expected.sha256
    monkeypatch.setattr(reading, "_CELLS_AT_A_TIME", 1)  # a row at a time, though it has more cells
    assert read_table(write(text)).sha256 == expected.sha256


# What does not fit into memory


def as_arrow(write):
    def content(text):
        columns = dict.fromkeys("abcd", np.zeros(20_000))
        return write(pytest.importorskip("pyarrow").table(columns))

    return content


def as_parquet(table):
    stream = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(table, stream)
    return stream.getvalue()


def as_feather(table):
    stream = io.BytesIO()
    pytest.importorskip("pyarrow.feather").write_feather(table, stream, compression="lz4")
    return stream.getvalue()


FORMS = {
    "plain": str.encode,
    "gzip": lambda text: gzip.compress(text.encode()),
    "bzip2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "zip": lambda text: zipped(text, "a.csv"),
    "Parquet": as_arrow(as_parquet),
    "Feather": as_arrow(as_feather),
}
MANY_ZEROS = "a,b,c,d\n" + "0,0,0,0\n" * 20_000


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_open", [False, True], ids=["path", "open file"])
def test_a_table_that_does_not_fit_into_memory_is_refused(write, monkeypatch, form, is_open):
    path = write(FORMS[form](MANY_ZEROS))
    with path.open("rb") as stream:
        table = read_table(stream if is_open else path)
        assert (table.n, table.p, table.values.any()) == (20_000, 4, False)
    monkeypatch.setattr("pyknnmi.run._LITTLE", 0)
    for free in (100, 2 * 10**5, 10**6):  # of the bytes, of the text, of 80,000 numbers
        monkeypatch.setattr("pyknnmi.run._free_memory", lambda free=free: free)
        with (
            path.open("rb") as stream,
            pytest.raises(DataError, match=rf"^reading .*needs .* GB .* {free / 1e9:.3g} GB are free: give"),
        ):
            read_table(stream if is_open else path)


def test_a_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr("pyknnmi.run._LITTLE", 0)
    monkeypatch.setattr("pyknnmi.run._free_memory", lambda: 5 * 2**16)
    monkeypatch.setattr("pyknnmi.data.sources._PIECE", 2**16)
    read, unpacked = lzma.LZMAFile.read, []
    monkeypatch.setattr(lzma.LZMAFile, "read", lambda self, size: unpacked.append(size) or read(self, size))
    bomb = io.BytesIO(lzma.compress(b"0" * 20 * 2**16))
    with pytest.raises(DataError, match=r"reading the open file unpacked, which holds 0.\d* GB or more, needs"):
        read_table(bomb)
    assert sum(unpacked) <= 4 * 2**16
