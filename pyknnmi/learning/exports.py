"""Writing results and data to files, in the formats that other tools read."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import secrets
import shutil
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import DataError
from pyknnmi.graphs.graph import Graph
from pyknnmi.graphs.partially_directed import PartiallyDirectedGraph
from pyknnmi.learning.record import FORMAT, from_record, to_record
from pyknnmi.learning.result import LearnResult, PairEvidence

__all__ = ["DIRECTED_WRITERS", "WRITERS", "read_result", "write_dataset", "write_graph_edges", "write_result"]

_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2) allows nowhere, not even as a reference."""


def write_result(
    result: LearnResult, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None
) -> list[Path]:
    """Write every file of `WRITERS`, ``provenance.json`` and ``result.json``, and return their paths.

    The last holds the whole result, and `read_result` reads it back; `pyknnmi.result_schema` describes it.
    A result with directions is written by `DIRECTED_WRITERS` too. The same data, spec and seed give the same bytes, but
    for these two, which hold the time taken.

    Parameters
    ----------
    result : LearnResult
    directory : path
        Made if need be; files of these names are replaced.
    extra : mapping, optional
        Further entries for ``provenance.json``.
    """
    directory = make_folder(directory)
    contents = {name: write(result) for name, write in WRITERS.items()}
    if result.oriented is not None:
        contents |= {name: write_directed(result.oriented) for name, write_directed in DIRECTED_WRITERS.items()}
    contents["provenance.json"] = _json({**_provenance(result), **(extra or {})})
    contents["result.json"] = _json(to_record(result))
    for name, text in contents.items():
        replace_file(directory / name, text)
    return [directory / name for name in contents]


def read_result(directory: str | os.PathLike[str]) -> LearnResult:
    """Return the result that `write_result` wrote to a folder: all of it, equal to what was written.

    Parameters
    ----------
    directory : path
        The folder, or its ``result.json``.

    Raises
    ------
    DataError
        A file that is no result, or one of a later format.
    """
    path = Path(directory)
    if path.is_dir():
        path /= "result.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # of JSON or of UTF-8
        raise DataError(f"{path} is no result: {error}") from error
    if not isinstance(record, dict):
        raise DataError(f"{path} is no result: it holds no JSON object")
    return from_record(record)


def make_folder(directory: str | os.PathLike[str]) -> Path:
    """Make a folder, and those that it is in, unless it is there; return its path."""
    path = Path(directory)
    path.mkdir(parents=True, exist_ok=True)
    return path


def make_writable_folder(directory: str | os.PathLike[str]) -> None:
    """Make a folder as `make_folder` does, and raise OSError if no file can be made in it."""
    path = make_folder(directory)
    try:
        tempfile.TemporaryFile(dir=path).close()  # permissions alone do not show it
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def replace_file(path: Path, text: str) -> None:
    """Write a file, under another name until it is whole: if that fails, what had the name before is left."""
    whole = path.resolve()  # a link stays one
    part = whole.with_name(f"{whole.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        if whole.exists():
            shutil.copymode(whole, part)
        part.replace(whole)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        part.unlink(missing_ok=True)


def write_dataset(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the data as CSV with a header, in a folder that is made if need be; values are read back to the bit."""
    make_folder(Path(path).parent)
    with Path(path).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(dataset.names)
        writer.writerows(dataset.values.tolist())


def write_graph_edges(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write the edges of a graph as CSV with columns source and target."""
    text = _csv(["source", "target"], [list(edge) for edge in graph.edges])
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def edges_csv(result: LearnResult) -> str:
    """Return one line an edge: its ends, statistic, p-value and the test that decided."""
    evidence = result.evidence_by_pair()
    header = ["source", "target", "statistic", "p_value", "given", "decided_by", "permutations", "n"]
    rows = []
    for edge in result.graph.edges:
        row: list[Any] = list(edge)
        if found := evidence.get(edge):
            answer = found.answer
            row += ["", ""] if found.is_constrained else [repr(answer.statistic), repr(answer.p_value)]
            row += [";".join(found.given), answer.decided_by, answer.permutations, answer.n]
        rows.append(row + [""] * (len(header) - len(row)))
    return _csv(header, rows)


def adjacency_csv(result: LearnResult) -> str:
    """Return the 0/1 matrix with the column names as header and as first column."""
    names = result.graph.names
    matrix = result.graph.adjacency().tolist()
    return _csv(["", *names], [[name, *row] for name, row in zip(names, matrix, strict=True)])


def graph_json(result: LearnResult) -> str:
    """Return the graph as node-link JSON (networkx reads it with ``edges="edges"``), with all evidence."""
    evidence = result.evidence_by_pair()
    return _json(
        {
            "directed": False,
            "multigraph": False,
            "graph": {"spec": result.spec, "seed": result.seed, "data_sha256": result.data_sha256},
            "nodes": [
                {"id": name, "markov_blanket": list(result.blankets.get(name, ()))} for name in result.graph.names
            ],
            "edges": [{"source": a, "target": b, **_answer(evidence.get((a, b)))} for a, b in result.graph.edges],
            "not_joined": [
                {"source": row.source, "target": row.target, **_answer(row)} for row in result.evidence if not row.edge
            ],
        }
    )


def graphml(result: LearnResult) -> str:
    r"""Return the graph as GraphML (Cytoscape, Gephi, igraph, yEd, networkx).

    A character that XML does not allow, in the name of a column, becomes its escape, such as ``\x1b``.
    """
    root = ET.Element("graphml", xmlns=_GRAPHML)
    for key in ("statistic", "p_value"):
        attributes = {"id": key, "for": "edge", "attr.name": key, "attr.type": "double"}
        ET.SubElement(root, "key", attributes)
    graph = ET.SubElement(root, "graph", edgedefault="undirected")
    for name in result.graph.names:
        ET.SubElement(graph, "node", id=_xml_text(name))
    evidence = result.evidence_by_pair()
    for a, b in result.graph.edges:
        edge = ET.SubElement(graph, "edge", source=_xml_text(a), target=_xml_text(b))
        if (found := evidence.get((a, b))) and not found.is_constrained:
            for key in ("statistic", "p_value"):
                ET.SubElement(edge, "data", key=key).text = repr(getattr(found.answer, key))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def dot(result: LearnResult) -> str:
    """Return the graph for Graphviz."""
    lines = ["graph {"]
    lines += [f"  {_quoted(name)};" for name in result.graph.names]
    lines += [f"  {_quoted(a)} -- {_quoted(b)};" for a, b in result.graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


WRITERS: Mapping[str, Callable[[LearnResult], str]] = {
    "edges.csv": edges_csv,
    "adjacency.csv": adjacency_csv,
    "graph.json": graph_json,
    "graph.graphml": graphml,
    "graph.dot": dot,
}


def directed_json(graph: PartiallyDirectedGraph) -> str:
    """Return node-link JSON (networkx reads it with ``edges="edges"``); ``directed`` marks each edge."""
    return _json(
        {
            "directed": True,
            "multigraph": False,
            "graph": {},
            "nodes": [{"id": name} for name in graph.names],
            "edges": [
                {"source": a, "target": b, "directed": directed}
                for edges, directed in ((graph.directed, True), (graph.undirected, False))
                for a, b in edges
            ],
        }
    )


def directed_graphml(graph: PartiallyDirectedGraph) -> str:
    """Return GraphML in which each edge says whether it is directed (Cytoscape, yEd; not networkx)."""
    root = ET.Element("graphml", xmlns=_GRAPHML)
    element = ET.SubElement(root, "graph", edgedefault="directed")
    for name in graph.names:
        ET.SubElement(element, "node", id=_xml_text(name))
    for edges, directed in ((graph.directed, "true"), (graph.undirected, "false")):
        for a, b in edges:
            ET.SubElement(element, "edge", source=_xml_text(a), target=_xml_text(b), directed=directed)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def directed_dot(graph: PartiallyDirectedGraph) -> str:
    """Return the graph for Graphviz; undirected edges are drawn without an arrow."""
    lines = ["digraph {"]
    lines += [f"  {_quoted(name)};" for name in graph.names]
    lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in graph.directed]
    lines += [f"  {_quoted(a)} -> {_quoted(b)} [dir=none];" for a, b in graph.undirected]
    return "\n".join([*lines, "}"]) + "\n"


DIRECTED_WRITERS: Mapping[str, Callable[[PartiallyDirectedGraph], str]] = {
    "directed.json": directed_json,
    "directed.graphml": directed_graphml,
    "directed.dot": directed_dot,
}


def _provenance(result: LearnResult) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "spec": result.spec,
        "seed": result.seed,
        "data_sha256": result.data_sha256,
        "rows": result.shape[0],
        "columns": result.shape[1],
        "rows_left_out": result.rows_left_out,
        "missing_values": result.has_missing,
        "constant_columns": list(result.constant_columns),
        "required": [list(edge) for edge in result.constraints.required],
        "forbidden": [list(edge) for edge in result.constraints.forbidden],
        "targets": None if result.constraints.targets is None else list(result.constraints.targets),
        "oriented": result.oriented is not None,
        "details": dict(result.details),
        "counts": dict(result.counts),
        "warnings": list(result.warnings),
        "versions": dict(result.versions),
        "seconds": result.seconds,
    }


def _answer(row: PairEvidence | None) -> dict[str, Any]:
    if row is None:
        return {}
    answer = row.answer
    return {
        "statistic": None if row.is_constrained else answer.statistic,
        "p_value": None if row.is_constrained else answer.p_value,
        "given": list(row.given),
        "decided_by": answer.decided_by,
        "permutations": answer.permutations,
        "n": answer.n,
    }


def _csv(header: list[str], rows: list[list[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _xml_text(name: str) -> str:
    return _NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), name)


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
