"""Each door is given mutated input: it takes it, or refuses it with an error of the package's own.

``--inputs N`` gives each door N inputs; the same seed gives the same ones, ``--fuzz-seed`` others.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import warnings
from pathlib import Path

import numpy as np
import oracle
import pytest
from click.testing import CliRunner

import pyknnmi
from pyknnmi import DataError, Dataset, Pipeline, PyknnmiError, Store, learn, read_result, read_table
from pyknnmi.cli import main
from pyknnmi.learning.exports import WRITERS, result_json
from pyknnmi.numbers import neighbor_counts

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::pyknnmi.errors.PyknnmiWarning")]

DATA, _ = pyknnmi.simulate.small_network(60, seed=2)
ODD = ["", "\0", "\r", "\n", "\t", '"', "'", ",", ";", "\\", "\x1b[31m", "é", "\u2028", "\U0001f600", "\ud800", "=1+1"]
ODD += ["-1", "1e999", "9" * 5000, "NaN", "NA", "none", "true", "1_0", "5%", "$1", "1,5", "(", ")", "+", "=", "None"]


@pytest.fixture
def inputs(request):
    """One random generator an input; that of input i depends on the test, the seed and i alone."""
    seed, count = (request.config.getoption(option) for option in ("--fuzz-seed", "--inputs"))
    return (random.Random(f"{request.node.name} {seed} {number}") for number in range(count))


def mutated(text, draw, most=4):
    """Return a text with a few places changed, doubled, cut or filled with something odd."""
    for _ in range(draw.randint(1, most)):
        at = draw.randint(0, len(text))
        end = min(len(text), at + draw.choice([0, 1, 1, 3, 10]))
        text = text[:at] + draw.choice([*ODD, text[at:end] * 2, chr(draw.randint(1, 255))]) + text[end:]
    return text


def refused(call, *arguments, **keywords):
    """Return whether a door refused what it got; other errors are the test's failure."""
    try:
        call(*arguments, **keywords)
    except PyknnmiError:
        return True
    return False


def test_specs(inputs):
    specs = [
        "iamb+knn-cmi(k=5,permutations=39)",
        "ranks+pc-stable(rule=and)+fisher-z(alpha=0.01)",
        "pairwise+separation",
    ]
    for draw in inputs:
        spec = mutated(draw.choice(specs), draw)
        if not refused(Pipeline.parse, spec):
            assert str(Pipeline.parse(str(Pipeline.parse(spec)))) == str(Pipeline.parse(spec))


def test_files(inputs, tmp_path):
    rows = "".join(f"{i},{i * 37 % 101 / 8},{'abc'[i % 3]},{i * 53 % 97}\n" for i in range(12))
    text, path = f"n,x,label,y\n{rows}", tmp_path / "data"
    for draw in inputs:
        content = mutated(draw.choice([text, text.replace(",", ";"), text.replace("\n", "\r\n")]), draw, 6)
        path.write_bytes(content.encode("utf-8", "surrogatepass") if draw.random() < 0.9 else draw.randbytes(200))
        if not refused(read_table, path, "drop-per-test"):
            data = read_table(path, "drop-per-test")
            assert data.has_missing or np.isfinite(data.values).all()


def test_frames(inputs):
    pandas = pytest.importorskip("pandas")
    values = [1, 2.5, -3, True, None, np.nan, np.inf, "a", "5%", "NA", "", 10**400, 2**60 + 1, b"x", (1,), {}]
    values += [pandas.NA, pandas.NaT, pandas.Timestamp(0), 1j, np.float32(2), np.int64(7), Path("x"), "\ud800"]
    for draw in inputs:
        kinds = [draw.sample(values, draw.choice([1, 1, 2, 3])) for _ in range(draw.randint(1, 4))]
        columns = {draw.choice(["x", "y", 1, "", *ODD]): [draw.choice(kind) for _ in range(8)] for kind in kinds}
        as_frame = draw.random() < 0.7 and "\ud800" not in columns  # which pandas refuses itself
        table = (
            pandas.DataFrame({k: pandas.Series(v, dtype=object) for k, v in columns.items()}) if as_frame else columns
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's and pandas' own, of what they were given
            refused(Dataset.of, table, missing=draw.choice(["raise", "drop", "drop-per-test"]))


def test_stores(inputs, tmp_path):
    path = tmp_path / "store.db"
    expected = learn(DATA, "iamb+fisher-z", store=path)
    whole = path.read_bytes()
    for draw in inputs:
        content = bytearray(whole)
        for _ in range(draw.randint(1, 40)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content[: draw.randrange(len(content))] if draw.random() < 0.1 else content)
        kept = Store(path)
        for pair in expected.evidence:  # a damaged answer is an error, or a question that has no answer yet
            try:
                found = [kept.get(it.data, it.test, pair.source, pair.target, pair.given) for it in kept.summaries()]
            except DataError:
                break
            assert set(found) <= {None, pair.answer}
        kept.close()
        for name in ("store.db-wal", "store.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)


def test_result_files(inputs, tmp_path):
    path = tmp_path / "result.json"
    whole = result_json(learn(DATA, "iamb+fisher-z", orient=True, required=[("X1", "X7")]))
    for draw in inputs:
        if draw.random() < 0.5:
            text = mutated(whole, draw)
        else:  # a value of another type, where JSON is still JSON
            record = json.loads(whole)
            part, key = record, draw.choice(list(record))
            while isinstance(part[key], dict | list) and part[key] and draw.random() < 0.8:
                part = part[key]
                key = draw.choice(list(part)) if isinstance(part, dict) else draw.randrange(len(part))
            part[key] = draw.choice([None, True, -1, 0.5, "x", "X1", [], ["X1"], {}, {"X1": 1}, [["X1", "Q"]]])
            text = json.dumps(record)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        if not refused(read_result, tmp_path):
            assert json.loads(result_json(read_result(tmp_path)))["format"] == json.loads(whole)["format"]


def test_names_through_exports(inputs, tmp_path):
    networkx, pandas, igraph = map(pytest.importorskip, ("networkx", "pandas", "igraph"))
    for draw in inputs:
        names = tuple(mutated(draw.choice(["x", "a b", "\\x1b", "=1"]), draw, 3) for _ in range(3))
        required = [(names[0], names[2])]
        if refused(Dataset, DATA.values[:, :3], names):
            continue
        result = learn(Dataset(DATA.values[:, :3], names), "iamb+fisher-z(alpha=1e-9)", required=required)
        text = WRITERS["adjacency.csv"](result)
        head, *rows = csv.reader(io.StringIO(text, newline=""))
        read = [re.sub(r"(?s)\A'('*[=+\-@\t\r])", r"\1", cell) for cell in head[1:]]
        assert (read, head[1:]) == (list(names), [row[0] for row in rows])
        frame = pandas.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)
        assert frame.to_numpy().tolist() == rows
        graphs = [
            networkx.node_link_graph(json.loads(WRITERS["graph.json"](result)), edges="edges"),
            networkx.cytoscape_graph(json.loads(WRITERS["graph.cyjs"](result))),
        ]
        assert [list(graph.nodes) for graph in graphs] == [list(names)] * 2
        graphml = networkx.parse_graphml(WRITERS["graph.graphml"](result))
        gexf = networkx.read_gexf(io.BytesIO(WRITERS["graph.gexf"](result).encode()))
        (tmp_path / "graph.graphml").write_text(WRITERS["graph.graphml"](result), encoding="utf-8", newline="")
        as_igraph = igraph.Graph.Read_GraphML(str(tmp_path / "graph.graphml"))
        assert as_igraph.vs["name"] == [name for _, name in graphml.nodes(data="name")]
        assert len(as_igraph.es) == 1
        assert len(graphml) == len(gexf) == 3
        assert [len(graph.edges) for graph in (*graphs, graphml, gexf)] == [1] * 4


def test_command_lines(inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data.csv"
    path.write_text("a,b,c\n" + "".join(f"{i * 37 % 101},{i * 53 % 97},{i * 29 % 89}\n" for i in range(20)))
    lines = [
        ["learn", str(path), "--spec", "iamb+fisher-z", "--seed", "1", "--targets", "a", "--ignore", "b"],
        ["test", str(path), "a", "b", "--given", "c", "--test", "fisher-z"],
        ["audit", str(path), "--missing-marks", "3", "--json"],
        ["explain", "iamb+fisher-z"],
        ["store", "check", str(path)],
        ["describe", "iamb"],
    ]
    for draw in inputs:
        line = list(draw.choice(lines))
        at = draw.randrange(1, len(line))
        line[at] = mutated(line[at], draw, 2) if draw.random() < 0.8 else draw.choice(ODD)
        line = [word.replace("\ud800", "\udcff") for word in line]  # a byte that is no UTF-8, as Python shows it
        outcome = CliRunner().invoke(main, line)
        assert outcome.exit_code in (0, 2), (line, outcome.output, outcome.exception)
        assert "Traceback" not in outcome.output


def test_the_core_against_brute_force(inputs):
    for draw in inputs:
        generator = np.random.default_rng(draw.randrange(2**32))
        n, d = int(generator.integers(5, 40)), int(generator.integers(0, 4))
        points = generator.standard_normal((n, d + 2))
        if draw.random() < 0.5:
            points = np.round(points, int(generator.integers(0, 2)))  # ties
        points *= 10.0 ** int(generator.integers(-9, 9))
        k = int(generator.integers(1, n - 1))
        xyz = points[:, :1], points[:, 1:2], points[:, 2:]
        for found, expected in zip(neighbor_counts(*xyz, k=k), oracle.neighbor_counts(*xyz, k), strict=True):
            np.testing.assert_array_equal(found, expected)
