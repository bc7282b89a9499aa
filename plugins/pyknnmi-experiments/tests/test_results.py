from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from pyknnmi_experiments import open_results, read_results, write_csv
from result_rows import row

from pyknnmi import DataError

ROWS = [row(n, r, method) for method in ("m2", "m10") for n in (125, 1000) for r in (2, 10)]


@pytest.mark.parametrize("suffix", ["db", "csv"])
def test_rows_come_back(tmp_path, suffix):
    rows = [row(method='q"uo;te, and comma'), row(), row(250, 1, seconds=1e-4)]
    path = tmp_path / "new" / f"results.{suffix}"
    if suffix == "csv":
        write_csv(rows, path)
    else:
        with open_results(path) as results:
            for one in rows:
                results.add([one])
    assert sorted(read_results(path), key=str) == sorted(rows, key=str)
    if suffix == "db":
        with open_results(path) as results:
            assert set(results.rows.values()) == set(rows)


def test_order_depends_on_the_rows_alone(tmp_path):
    for name, order in (("forward", ROWS), ("backward", ROWS[::-1])):
        with open_results(tmp_path / name) as results:
            results.add(order)
        assert read_results(tmp_path / name) == ROWS
        write_csv(order, tmp_path / f"{name}.csv")
    assert (tmp_path / "forward.csv").read_bytes() == (tmp_path / "backward.csv").read_bytes()


def test_a_row_that_is_there_stays_as_it_was(tmp_path):
    for seconds in (1.0, 2.0):
        with open_results(tmp_path / "results.db") as results:
            results.add([row(seconds=seconds)])
    assert read_results(tmp_path / "results.db") == [row(seconds=1.0)]


def test_reading_does_not_wait_for_the_writer(tmp_path):
    path = tmp_path / "results.db"
    with open_results(path) as results:
        results.add([row()])
        assert read_results(path) == [row()]


WRITER = """
import sys
from result_rows import row
from pyknnmi_experiments import open_results
path, method = sys.argv[1:3]
with open_results(path) as results:
    for repetition in range(50):
        results.add([row(repetition=repetition, method=method)])
"""


def test_several_processes_may_add_rows_to_a_new_file(tmp_path):
    path = tmp_path / "results.db"
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{WRITER}", path]
    writers = [subprocess.Popen([*command, method]) for method in "abcd"]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert len(read_results(path)) == 200


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"a,b", b"\xff\xfe\n", b"SQLite format 3\0 and no more"])
def test_other_files_are_left_alone(tmp_path, content):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"data\.csv' is no table of experiments"), open_results(path):
        pass
    with pytest.raises(DataError, match=r"data\.csv' is no table of experiments"):
        read_results(path)
    assert path.read_bytes() == content


def test_other_databases_are_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE results (a)")
    before = path.read_bytes()
    with pytest.raises(DataError, match="is no table of experiments"), open_results(path):
        pass
    with pytest.raises(DataError, match="is no table of experiments"):
        read_results(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("line", ["large-network,a\n", "large-network,a,s,1,x,0,1,1,1,1,1,1\n", "\n"])
def test_bad_row_is_named(tmp_path, line):
    path = tmp_path / "results.csv"
    write_csv([row()], path)
    with path.open("a") as stream:
        stream.write(line)
    with pytest.raises(DataError, match="line 3: this is no row of results"):
        read_results(path)


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match=r"cannot read '.*none.db': No such file"):
        read_results(tmp_path / "none.db")


def test_full_disk(tmp_path, room):
    """Rows without room are an error and leave the table as it was, and the CSV file as it was."""
    path, csv = tmp_path / "results.db", tmp_path / "results.csv"
    with open_results(path) as results:
        results.add([row()])
        write_csv([row()], csv)
        with room(4096), pytest.raises(DataError, match=r"results\.db' cannot be used: .*(full|I/O)"):
            results.add([row(n, method="m" * 2000) for n in range(2, 60)])
        with room(40), pytest.raises(OSError, match=r"results\.csv"):
            write_csv([row(250)], csv)
        results.add([row(500)])
    assert read_results(path) == [row(), row(500)]
    assert read_results(csv) == [row()]
