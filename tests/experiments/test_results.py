from __future__ import annotations

import pytest
from result_rows import row

from pyknnmi import DataError
from pyknnmi.experiments import read_results
from pyknnmi.experiments.results import open_results


def test_rows_come_back(tmp_path):
    rows = [row(), row(method='q"uo;te, and comma'), row(250, 1, seconds=1e-4)]
    path = tmp_path / "new" / "results.csv"
    with open_results(path) as results:
        for one in rows:
            results.append(one)
    assert read_results(path) == rows
    with open_results(path) as results:
        assert list(results.rows.values()) == rows


def test_order_depends_on_the_rows_alone(tmp_path):
    rows = [row(n, r, method) for method in ("m2", "m10") for n in (125, 1000) for r in (2, 10)]
    for name, order in (("forward", rows), ("backward", rows[::-1])):
        with open_results(tmp_path / name) as results:
            for one in order:
                results.append(one)
            results.put_in_order()
    assert read_results(tmp_path / "backward") == rows
    assert (tmp_path / "forward").read_bytes() == (tmp_path / "backward").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"forward", "backward"}


@pytest.mark.parametrize("cut", [1, 30, 400])
def test_unfinished_line_is_dropped(tmp_path, cut):
    path = tmp_path / "results.csv"
    with open_results(path) as results:
        results.append(row())
        results.append(row(250))
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])  # 400 bytes reach into the header
    left = read_results(path) if cut < 400 else []
    with open_results(path) as results:
        assert list(results.rows.values()) == left
        results.append(row(250))
        results.append(row())
        results.put_in_order()
    assert path.read_bytes() == whole


def test_reading_does_not_wait_for_the_writer(tmp_path):
    path = tmp_path / "results.csv"
    with open_results(path) as results:
        results.append(row())
        assert read_results(path) == [row()]


def test_two_writers(tmp_path):
    path = tmp_path / "results.csv"
    with open_results(path), pytest.raises(DataError, match="another run writes to"), open_results(path):
        pass
    with open_results(path):
        pass  # the lock is gone with its holder


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"a,b", b"\xff\xfe\n"])
def test_other_files_are_left_alone(tmp_path, content):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match="no table of experiments"), open_results(path):
        pass
    with pytest.raises(DataError, match="no table of experiments"):
        read_results(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("line", ["large-network,a\n", "large-network,a,s,1,x,0,1,1,1,1,1,1\n", "\n"])
def test_bad_row_is_named(tmp_path, line):
    path = tmp_path / "results.csv"
    with open_results(path) as results:
        results.append(row())
    with path.open("a") as stream:
        stream.write(line)
    with pytest.raises(DataError, match="line 3: this is no row of results"):
        read_results(path)


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match=r"cannot read '.*none.csv': No such file"):
        read_results(tmp_path / "none.csv")


def test_full_disk(tmp_path, room):
    """A row that has room in part is an error and leaves the table as it was; later rows are not glued to it."""
    path = tmp_path / "results.csv"
    with open_results(path) as results:
        results.append(row())
        before = path.read_bytes()
        with room(len(before) + 40), pytest.raises(OSError, match=r"results\.csv"):
            results.append(row(250))
        assert path.read_bytes() == before
        with room(40), pytest.raises(OSError, match=r"results\.csv"):
            results.put_in_order()
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]
        results.append(row(500))
    assert read_results(path) == [row(), row(500)]


def test_full_disk_at_the_header(tmp_path, room):
    path = tmp_path / "results.csv"
    with room(40), pytest.raises(OSError, match=r"results\.csv"), open_results(path):
        pass
    with open_results(path) as results:
        results.append(row())
    assert read_results(path) == [row()]
