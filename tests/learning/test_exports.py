from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pyknnmi
from pyknnmi import Dataset, Graph, PartiallyDirectedGraph, learn, write_result
from pyknnmi.learning.exports import DIRECTED_WRITERS, WRITERS, edges_csv, write_graph_edges

VALUES, TRUTH = pyknnmi.simulate.small_network(300, seed=1)
# names that every format must quote in its own way
NAMES = ["plain", "with space", 'quo"te', "comma,semi;colon", "<&>", "back\\slash", "blå"]
DATA = Dataset.of(VALUES.values, NAMES)


@pytest.fixture(scope="module")
def result():
    return learn(DATA, "iamb+knn-cmi(permutations=58)", seed=2)


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
    again = learn(DATA, "iamb+knn-cmi(permutations=58)", seed=2, threads=1)
    for name, write in WRITERS.items():
        assert write(again) == write(result), name


def test_edges_csv(result):
    rows = list(csv.DictReader(io.StringIO(WRITERS["edges.csv"](result))))
    assert [(row["source"], row["target"]) for row in rows] == list(result.graph.edges)
    for row, pair in zip(rows, result.edge_evidence(), strict=True):
        assert float(row["statistic"]) == pair.answer.statistic
        assert float(row["p_value"]) == pair.answer.p_value
        assert row["given"] == ";".join(pair.given)
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


def test_characters_that_xml_does_not_allow():
    # written out: all of XML 1.0, production 2, and what lies beside its ranges
    names = ["\x1b[0m", "\t\n\r \ud7ff\ue000\ufffd\U00010000\U0010ffff", "\ud800\udfff\ufffe\uffff"]
    read = ["\\x1b[0m", names[1], r"\ud800\udfff\ufffe\uffff"]
    result = learn(Dataset(VALUES.values[:, [0, 1, 2]], names), "iamb+fisher-z", required=[(0, 2)])
    directed = PartiallyDirectedGraph(tuple(names), [(names[0], names[2])], [])
    for text in (WRITERS["graph.graphml"](result), DIRECTED_WRITERS["directed.graphml"](directed)):
        elements = list(ET.fromstring(text).iter())
        assert [element.get("id") for element in elements if element.tag.endswith("node")] == read
        assert (read[0], read[2]) in {(element.get("source"), element.get("target")) for element in elements}


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


def test_full_disk_leaves_the_files_of_before(result, tmp_path, room):
    other = learn(DATA, "iamb+fisher-z")
    write_result(other, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with room(40), pytest.raises(OSError, match=r"edges\.csv"):
        write_result(result, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
