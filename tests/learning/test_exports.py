from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import tempfile
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyknnmi
from pyknnmi import (
    DataError,
    Dataset,
    Graph,
    PartiallyDirectedGraph,
    PyknnmiWarning,
    learn,
    read_result,
    read_table,
    write_result,
)
from pyknnmi.components import BlanketLearner
from pyknnmi.data.files import write_dataset
from pyknnmi.learning.exports import DIRECTED_WRITERS, WRITERS, edges_csv, write_graph_edges

VALUES, TRUTH = pyknnmi.simulate.small_network(300, seed=1)
# names that every format must quote in its own way
NAMES = ["plain", "with space", 'quo"te', "comma,semi;colon", "<&>", "back\\slash", "blå"]
DATA = Dataset.of(VALUES.values, NAMES)


@pytest.fixture(scope="module")
def result():
    return learn(DATA, "iamb+knn-cmi(permutations=58,stop=never)", seed=2)


def test_files(result, tmp_path):
    paths = write_result(result, tmp_path / "a" / "b", {"data": "x.csv"})
    assert [path.name for path in paths] == [*WRITERS, "provenance.json", "result.json"]
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == sorted(path.name for path in paths)
    for path in paths[:-2]:
        text = path.read_bytes().decode("utf-8")
        assert text == WRITERS[path.name](result)
        assert "\r" not in text
        assert text.endswith("\n")


def test_the_same_run_gives_the_same_bytes(result):
    again = learn(DATA, "iamb+knn-cmi(permutations=58,stop=never)", seed=2, threads=1)
    for name, write in WRITERS.items():
        assert write(again) == write(result), name


def test_edges_csv(result):
    rows = list(csv.DictReader(io.StringIO(WRITERS["edges.csv"](result))))
    assert [(row["source"], row["target"]) for row in rows] == list(result.graph.edges)
    for row, pair in zip(rows, result.edge_evidence(), strict=True):
        assert float(row["statistic"]) == pair.answer.statistic
        assert float(row["p_value"]) == pair.answer.p_value
        assert tuple(*csv.reader([row["given"]], delimiter=";")) == pair.given
        assert (row["decided_by"], int(row["permutations"]), int(row["n"])) == ("permutations", 58, 300)


def test_adjacency_csv(result):
    head, *rows = csv.reader(io.StringIO(WRITERS["adjacency.csv"](result)))
    assert head == ["", *NAMES]
    assert [row[0] for row in rows] == NAMES
    assert np.array_equal(np.array([row[1:] for row in rows], dtype=int), result.graph.adjacency())


def test_graph_json(result):
    written = json.loads(WRITERS["graph.json"](result))
    assert written["graph"] == {"spec": result.spec, "seed": 2, "data_sha256": DATA.sha256}
    assert {node["id"]: tuple(node["markov_blanket"]) for node in written["nodes"]} == result.blankets
    evidence = {(row.source, row.target): row for row in result.evidence}
    listed = written["edges"] + written["not_joined"]
    assert {(row["source"], row["target"]) for row in listed} == set(evidence)
    for row in listed:
        pair = evidence[row["source"], row["target"]]
        assert (row["statistic"], row["p_value"]) == (pair.answer.statistic, pair.answer.p_value)
        assert tuple(row["given"]) == pair.given


def edges_of(networkx_graph):
    return {frozenset(edge) for edge in networkx_graph.edges}


def test_networkx_reads_json_and_graphml(result, tmp_path):
    networkx = pytest.importorskip("networkx")
    expected = {frozenset(edge) for edge in result.graph.edges}
    read = networkx.node_link_graph(json.loads(WRITERS["graph.json"](result)), edges="edges")
    assert list(read.nodes) == NAMES
    assert edges_of(read) == expected
    write_result(result, tmp_path)
    read = networkx.read_graphml(tmp_path / "graph.graphml")
    assert list(read.nodes) == NAMES
    assert edges_of(read) == expected
    for row in result.edge_evidence():
        assert read.edges[row.source, row.target]["statistic"] == row.answer.statistic
        assert read.edges[row.source, row.target]["p_value"] == row.answer.p_value


def test_dot(result):
    lines = WRITERS["graph.dot"](result).splitlines()
    assert lines[0] == "graph {"
    assert lines[-1] == "}"
    assert '  "quo\\"te";' in lines
    assert '  "back\\\\slash";' in lines
    assert sum(" -- " in line for line in lines) == len(result.graph.edges)


def test_provenance(result, tmp_path):
    write_result(result, tmp_path, {"data": "x.csv"})
    written = json.loads((tmp_path / "provenance.json").read_text(encoding="utf-8"))
    assert written["spec"] == result.spec
    assert (written["seed"], written["data_sha256"], written["rows"], written["columns"]) == (2, DATA.sha256, 300, 7)
    assert written["counts"] == result.counts
    assert written["versions"] == result.versions
    assert written["data"] == "x.csv"
    assert written["seconds"] > 0
    # enough to repeat the run
    again = learn(DATA, written["spec"], seed=written["seed"])
    assert again.evidence == result.evidence


def test_edges_without_evidence(registry):
    @pyknnmi.register_learner("blind")
    def blind(dataset, test):
        """Joins the first two columns."""
        return [dataset.names[:2]]

    result = learn(VALUES, "blind+fisher-z")
    row = WRITERS["edges.csv"](result).splitlines()[1]
    assert row == "X1,X2,,,,,,"
    assert json.loads(WRITERS["graph.json"](result))["edges"] == [{"source": "X1", "target": "X2"}]
    assert ET.fromstring(WRITERS["graph.graphml"](result)) is not None


def test_true_edges(tmp_path):
    path = tmp_path / "edges.csv"
    write_graph_edges(Graph(["a,b", "c"], [("c", "a,b")]), path)
    assert path.read_bytes() == b'source,target\n"a,b",c\n'


def test_directed_formats():
    graph = PartiallyDirectedGraph(NAMES[:4], [("plain", 'quo"te')], [("plain", "with space")])
    written = json.loads(DIRECTED_WRITERS["directed.json"](graph))
    assert [edge["directed"] for edge in written["edges"]] == [True, False]
    lines = DIRECTED_WRITERS["directed.dot"](graph).splitlines()
    assert '  "plain" -> "quo\\"te";' in lines
    assert '  "plain" -> "with space" [dir=none];' in lines
    root = ET.fromstring(DIRECTED_WRITERS["directed.graphml"](graph))
    edges = [element.attrib for element in root.iter() if element.tag.endswith("edge")]
    assert [(e["source"], e["target"], e["directed"]) for e in edges] == [
        ("plain", 'quo"te', "true"),
        ("plain", "with space", "false"),
    ]


def test_a_folder_that_is_a_file(result, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(FileExistsError):
        write_result(result, tmp_path / "out")


def test_several_may_write_to_one_folder(result, tmp_path):
    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(write_result, result, tmp_path) for _ in range(60)]:
            done.result()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*WRITERS, "provenance.json", "result.json"])


def test_links_and_modes_stay(result, tmp_path):
    target = tmp_path / "elsewhere.csv"
    target.write_text("old")
    target.chmod(0o600)
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "edges.csv").symlink_to(target)
    write_result(result, folder)
    assert (folder / "edges.csv").is_symlink()
    assert target.read_text() == edges_csv(result)
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_pipe_stays_a_pipe(result, tmp_path):
    pipe = tmp_path / "edges.csv"
    os.mkfifo(pipe)  # as a device it is no file that could be replaced
    with ThreadPoolExecutor(1) as threads:
        read = threads.submit(pipe.read_text)
        write_result(result, tmp_path)
        assert read.result(timeout=10) == edges_csv(result)
    assert pipe.is_fifo()


def test_full_disk_leaves_the_files_of_before(result, tmp_path, room):
    other = learn(DATA, "iamb+fisher-z")
    write_result(other, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with room(40), pytest.raises(OSError, match=r"edges\.csv"):
        write_result(result, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


# Fuzzed names, read back by other programs

names_of_columns = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    [
        "\r",
        "a\r\nb",
        "\x1b",
        "\\x1b",
        "\\\\x1b",
        "=1+1",
        "'=1+1",
        "''=1",
        "+1",
        "-x",
        "@x",
        "\tx",
        "NA",
        "1",
        "a;b",
        'a"b',
    ]
)
three_names = (
    st.lists(names_of_columns, min_size=3, max_size=3, unique_by=str.strip)
    .filter(lambda names: all(name.strip() and "\0" not in name for name in names))
    .map(tuple)
)


def joined(names):
    """Return a result with the edge between the first column and the last, from a search that found none."""
    return learn(
        Dataset(VALUES.values[:, [0, 3, 6]], names), "iamb+fisher-z(alpha=1e-9)", required=[(names[0], names[2])]
    )


def by_hand(cells):
    return [cell[1:] if re.match(r"''*[=+\-@\t\r]", cell) else cell for cell in cells]


@given(three_names)
@settings(max_examples=20, deadline=None)
def test_every_program_reads_every_name_back(names):
    networkx, pandas, igraph = map(pytest.importorskip, ("networkx", "pandas", "igraph"))
    result = joined(names)
    edge = {frozenset((names[0], names[2]))}
    for table in ("edges.csv", "evidence.csv", "adjacency.csv"):
        text = WRITERS[table](result)
        head, *rows = csv.reader(io.StringIO(text, newline=""))
        frame = pandas.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)
        assert frame.to_numpy().tolist() == rows
        assert [row[0][:1] in "=+-@\t\r" for row in rows] == [False] * len(rows)
        if table == "adjacency.csv":
            assert by_hand(head[1:]) == by_hand(row[0] for row in rows) == list(names)
        else:
            assert {frozenset(by_hand(row[:2])) for row in rows if row[2] != "false"} == edge
    for read in (
        networkx.node_link_graph(json.loads(WRITERS["graph.json"](result)), edges="edges"),
        networkx.cytoscape_graph(json.loads(WRITERS["graph.cyjs"](result))),
    ):
        assert (list(read.nodes), edges_of(read)) == (list(names), edge)
    in_xml = [name_in_xml(name) for name in names]
    for read in (
        networkx.parse_graphml(WRITERS["graph.graphml"](result)),
        networkx.read_gexf(io.BytesIO(WRITERS["graph.gexf"](result).encode())),
    ):
        assert (list(read.nodes), edges_of(read)) == (in_xml, {frozenset((in_xml[0], in_xml[2]))})
    with tempfile.TemporaryDirectory() as folder:
        write_result(result, folder)
        assert read_result(folder) == result
        read = igraph.Graph.Read_GraphML(f"{folder}/graph.graphml")
        assert (read.vs["name"], read.get_edgelist()) == (in_xml, [(0, 2)])
        write_dataset(Dataset(VALUES.values[:, :3], names), f"{folder}/data.csv")
        read = read_table(f"{folder}/data.csv", header=True).names
        assert [name.strip() for name in read] == [name.strip() for name in names]


def test_in_cytoscape_edges_and_nodes_have_different_identifiers():
    elements = json.loads(WRITERS["graph.cyjs"](joined(("0", "edge 0", "-edge 0"))))["elements"]
    given = [element["data"]["id"] for kind in ("nodes", "edges") for element in elements[kind]]
    assert len(set(given)) == len(given) == 4


def name_in_xml(name):
    """XML 1.0, production 2, written out; backslashes are doubled where an escape could be meant."""
    legal = {*"\t\n\r", *map(chr, range(0x20, 0xD800)), *map(chr, range(0xE000, 0xFFFE))}
    odd = [letter for letter in name if letter not in legal and letter < "\U00010000"]
    if not odd and not any(escape in name for escape in ("\\x", "\\u", "\\U", "\\\\")):
        return name
    name = name.replace("\\", "\\\\")
    for letter in odd:
        code = ord(letter)
        name = name.replace(letter, f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
    return name


def test_names_that_look_alike_as_escapes_stay_apart():
    names = ("\x1b", "\\x1b", "\\\\x1b")
    read = pytest.importorskip("networkx").parse_graphml(WRITERS["graph.graphml"](joined(names)))
    assert list(read.nodes) == ["\\x1b", "\\\\x1b", "\\\\\\\\x1b"]


def test_half_a_character_is_no_name():
    with pytest.raises(DataError, match=r"the name of column 2, 'a\\ud800', is no text"):
        learn(Dataset(VALUES.values[:, :2], ("x", "a\ud800")), "iamb+fisher-z")


def test_other_programs_read_mixed_graphs():
    igraph, networkx = map(pytest.importorskip, ("igraph", "networkx"))
    graph = PartiallyDirectedGraph(("a", "b", "c"), [("a", "b")], [("b", "c")])
    with tempfile.NamedTemporaryFile(suffix=".graphml") as file:
        Path(file.name).write_text(DIRECTED_WRITERS["directed.graphml"](graph))
        read = igraph.Graph.Read_GraphML(file.name)
    assert (read.vs["name"], read.get_edgelist(), read.es["directed"]) == (
        ["a", "b", "c"],
        [(0, 1), (1, 2)],
        [True, False],
    )
    read = networkx.cytoscape_graph(json.loads(DIRECTED_WRITERS["directed.cyjs"](graph)))
    assert dict(read.edges) == {
        ("a", "b"): {"id": "edge 0", "source": "a", "target": "b", "directed": True},
        ("b", "c"): {"id": "edge 1", "source": "b", "target": "c", "directed": False},
    }


def test_statistics_are_read_from_every_graph_file(result):
    networkx = pytest.importorskip("networkx")
    for read in (
        networkx.read_gexf(io.BytesIO(WRITERS["graph.gexf"](result).encode())),
        networkx.cytoscape_graph(json.loads(WRITERS["graph.cyjs"](result))),
    ):
        for row in result.edge_evidence():
            edge = read.edges[row.source, row.target]
            assert (edge["statistic"], edge["p_value"]) == (row.answer.statistic, row.answer.p_value)


@pytest.mark.parametrize("rule", ["and", "or"])
def test_evidence_says_which_pairs_are_one_sided(rule, registry):
    @pyknnmi.register_learner
    @dataclass(frozen=True, kw_only=True)
    class OneSided(BlanketLearner):
        """The first column chooses the second, and is not chosen by it; the third and fourth choose each other."""

        name = "one-sided"
        rule: Literal["and", "or"] = "and"

        def blanket(self, target, candidates, tester):
            return {0: [1], 2: [3], 3: [2]}.get(target, [])

    result = learn(VALUES, f"one-sided(rule={rule})+fisher-z")
    assert result.one_sided() == (("X1", "X2"),)
    rows = {(row["source"], row["target"]): row for row in csv.DictReader(io.StringIO(WRITERS["evidence.csv"](result)))}
    assert (rows["X1", "X2"]["edge"], rows["X1", "X2"]["one_sided"]) == (str(rule == "or").lower(), "true")
    assert (rows["X3", "X4"]["edge"], rows["X3", "X4"]["one_sided"]) == ("true", "false")
    # no test was made: yet the row says what became of the pair, and why
    became = {"and": "lost by the AND rule", "or": "kept by one side"}[rule]
    assert rows["X1", "X2"]["outcome"] == f"{became}: X2 is in the blanket of X1, and X1 not in that of X2"
    assert (rows["X1", "X2"]["source_member"], rows["X1", "X2"]["target_member"]) == ("true", "false")
    assert rows["X3", "X4"]["outcome"] == "joined"


def test_evidence_holds_what_both_searches_found(result):
    rows = {(row["source"], row["target"]): row for row in csv.DictReader(io.StringIO(WRITERS["evidence.csv"](result)))}
    assert set(rows) >= {(pair.source, pair.target) for pair in result.evidence}
    for pair in result.evidence:
        row = rows[pair.source, pair.target]
        assert (row["outcome"], float(row["p_value"])) == (pair.outcome, pair.answer.p_value)
        for side in pair.sides:
            end = "source" if side.target == pair.source else "target"
            assert row[f"{end}_member"] == str(side.member).lower()
            assert row[f"{end}_p_value"] == ("" if side.answer is None else repr(side.answer.p_value))


def test_only_where_both_were_searched_for_can_a_pair_be_one_sided():
    result = learn(DATA, "iamb+fisher-z", targets=[NAMES[1]])
    assert result.one_sided() == ()
    assert {row["one_sided"] for row in csv.DictReader(io.StringIO(WRITERS["evidence.csv"](result)))} == {""}


def test_a_full_disk_leaves_the_old_files(result, tmp_path):
    resource = pytest.importorskip("resource")
    old = {path.name: path.read_bytes() for path in write_result(learn(DATA, "iamb+fisher-z"), tmp_path)}
    sizes = sorted(len(write(result).encode()) for write in WRITERS.values())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[-2], hard))  # all but the largest fit, as on a disk nearly full
    try:
        with pytest.raises(OSError, match="too large"):
            write_result(result, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == old


def test_of_many_columns_no_matrix_is_written(result, tmp_path):
    names = [*result.graph.names, *(f"more {i}" for i in range(1994))]
    wide = replace(result, graph=result.graph.reordered(names))
    with pytest.warns(PyknnmiWarning, match=r"adjacency.csv is left out: a matrix of 2001 columns"):
        paths = write_result(wide, tmp_path)
    assert {path.name for path in paths} == {*WRITERS, "provenance.json", "result.json"} - {"adjacency.csv"}
    assert read_result(tmp_path).graph == wide.graph
