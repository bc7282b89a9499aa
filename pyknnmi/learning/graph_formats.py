"""Graphs in the formats of other programs: GraphML, GEXF, Cytoscape's JSON, Graphviz."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from pyknnmi.graphs.partially_directed import PartiallyDirectedGraph
from pyknnmi.learning.result import LearnResult

__all__ = [
    "cytoscape_json",
    "directed_cytoscape_json",
    "directed_dot",
    "directed_graphml",
    "directed_json",
    "dot",
    "gexf",
    "graphml",
    "json_text",
]

Edge = tuple[str, str, Mapping[str, Any]]

_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_GEXF = "http://www.gexf.net/1.2draft"
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2) allows nowhere, not even as a reference."""
_LIKE_ESCAPES = re.compile(r"\\[xuU\\]")
_TYPES = {str: "string", float: "double", bool: "boolean"}


def graphml(result: LearnResult) -> str:
    r"""Return the graph as GraphML (Cytoscape, Gephi, igraph, yEd, networkx).

    A name with a character that XML does not allow is written with escapes, such as ``\x1b`` and ``\\``.
    """
    return _graphml(result.graph.names, _edges(result), "undirected", {"statistic": float, "p_value": float})


def directed_graphml(graph: PartiallyDirectedGraph) -> str:
    """Return GraphML in which each edge says whether it is directed, as an attribute and under the key ``directed``.

    Cytoscape and yEd read the attribute; igraph reads the key alone, and networkx reads no mixed graphs at all.
    """
    return _graphml(graph.names, _mixed_edges(graph), "directed", {"directed": bool})


def gexf(result: LearnResult) -> str:
    """Return the graph as GEXF (Gephi, networkx); names are written as in `graphml`."""
    root = ET.Element("gexf", xmlns=_GEXF, version="1.2")
    graph = ET.SubElement(root, "graph", defaultedgetype="undirected", mode="static")
    attributes = ET.SubElement(graph, "attributes", {"class": "edge", "mode": "static"})
    for key in ("statistic", "p_value"):
        ET.SubElement(attributes, "attribute", id=key, title=key, type="double")
    nodes, edges = ET.SubElement(graph, "nodes"), ET.SubElement(graph, "edges")
    for name in map(_xml_text, result.graph.names):
        ET.SubElement(nodes, "node", id=name, label=name)
    for number, (a, b, data) in enumerate(_edges(result)):
        edge = ET.SubElement(edges, "edge", id=str(number), source=_xml_text(a), target=_xml_text(b))
        values = ET.SubElement(edge, "attvalues")
        for key, value in data.items():
            ET.SubElement(values, "attvalue", {"for": key, "value": _written(value)})
    return _xml(root)


def cytoscape_json(result: LearnResult) -> str:
    """Return the graph as Cytoscape's JSON (Cytoscape, Cytoscape.js, networkx)."""
    about = {"spec": result.spec, "seed": result.seed, "data_sha256": result.data_sha256}
    return _cytoscape(result.graph.names, _edges(result), about, directed=False)


def directed_cytoscape_json(graph: PartiallyDirectedGraph) -> str:
    """Return the graph as Cytoscape's JSON; ``directed`` marks each edge."""
    return _cytoscape(graph.names, _mixed_edges(graph), {}, directed=True)


def directed_json(graph: PartiallyDirectedGraph) -> str:
    """Return node-link JSON (networkx reads it with ``edges="edges"``); ``directed`` marks each edge."""
    return json_text(
        {
            "directed": True,
            "multigraph": False,
            "graph": {},
            "nodes": [{"id": name} for name in graph.names],
            "edges": [{"source": a, "target": b, **data} for a, b, data in _mixed_edges(graph)],
        }
    )


def dot(result: LearnResult) -> str:
    """Return the graph for Graphviz."""
    lines = ["graph {"]
    lines += [f"  {_quoted(name)};" for name in result.graph.names]
    lines += [f"  {_quoted(a)} -- {_quoted(b)};" for a, b in result.graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


def directed_dot(graph: PartiallyDirectedGraph) -> str:
    """Return the graph for Graphviz; undirected edges are drawn without an arrow."""
    lines = ["digraph {"]
    lines += [f"  {_quoted(name)};" for name in graph.names]
    lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in graph.directed]
    lines += [f"  {_quoted(a)} -> {_quoted(b)} [dir=none];" for a, b in graph.undirected]
    return "\n".join([*lines, "}"]) + "\n"


def json_text(content: Mapping[str, Any]) -> str:
    """Return JSON as every file here has it."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _edges(result: LearnResult) -> list[Edge]:
    found = result.evidence_by_pair()
    return [
        (a, b, {"statistic": pair.answer.statistic, "p_value": pair.answer.p_value})
        if (pair := found.get((a, b))) and not pair.is_constrained
        else (a, b, {})
        for a, b in result.graph.edges
    ]


def _mixed_edges(graph: PartiallyDirectedGraph) -> list[Edge]:
    return [
        (a, b, {"directed": directed})
        for edges, directed in ((graph.directed, True), (graph.undirected, False))
        for a, b in edges
    ]


def _graphml(names: tuple[str, ...], edges: list[Edge], default: str, keys: Mapping[str, type]) -> str:
    root = ET.Element("graphml", xmlns=_GRAPHML)
    for key, of, kind in [("name", "node", str), *((key, "edge", kind) for key, kind in keys.items())]:
        attributes = {"id": key, "for": of, "attr.name": key, "attr.type": _TYPES[kind]}
        ET.SubElement(root, "key", attributes)
    graph = ET.SubElement(root, "graph", edgedefault=default)
    for name in map(_xml_text, names):
        node = ET.SubElement(graph, "node", id=name)
        ET.SubElement(node, "data", key="name").text = name
    for a, b, data in edges:
        edge = ET.SubElement(graph, "edge", source=_xml_text(a), target=_xml_text(b))
        if "directed" in data:
            edge.set("directed", _written(data["directed"]))
        for key, value in data.items():
            ET.SubElement(edge, "data", key=key).text = _written(value)
    return _xml(root)


def _cytoscape(names: tuple[str, ...], edges: list[Edge], about: Mapping[str, Any], *, directed: bool) -> str:
    edge_id = "edge "
    while any(name.startswith(edge_id) for name in names):  # in Cytoscape nodes and edges share their identifiers
        edge_id = f"-{edge_id}"
    return json_text(
        {
            "data": about,
            "directed": directed,
            "multigraph": False,
            "elements": {
                "nodes": [{"data": {"id": name, "value": name, "name": name}} for name in names],
                "edges": [
                    {"data": {"id": f"{edge_id}{number}", "source": a, "target": b, **data}}
                    for number, (a, b, data) in enumerate(edges)
                ],
            },
        }
    )


def _xml(root: ET.Element) -> str:
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
    return text.replace("\r", "&#13;")  # within a text it would be read as a line feed (XML 1.0, section 2.11)


def _xml_text(name: str) -> str:
    """Return a name without what XML does not allow; different names stay different."""
    if not _NOT_XML.search(name) and not _LIKE_ESCAPES.search(name):
        return name
    escaped = name.replace("\\", "\\\\")
    return _NOT_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), escaped)


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
