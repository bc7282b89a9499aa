"""Writing results and data to files, in the formats that other tools read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyknnmi.data.files import csv_line, csv_text, make_folder, replace_file, replace_files, safe_name
from pyknnmi.errors import DataError, warn
from pyknnmi.graphs.graph import Graph
from pyknnmi.graphs.partially_directed import PartiallyDirectedGraph
from pyknnmi.learning.graph_formats import (
    cytoscape_json,
    directed_cytoscape_json,
    directed_dot,
    directed_graphml,
    directed_json,
    dot,
    gexf,
    graphml,
    json_text,
)
from pyknnmi.learning.provenance import provenance
from pyknnmi.learning.record import from_record, to_record
from pyknnmi.learning.result import LearnResult, PairEvidence, one_sided_outcome, selection_frequencies
from pyknnmi.protocols.ci_tests import CIResult
from pyknnmi.search.constraints import FORBIDDEN, REQUIRED

__all__ = ["DIRECTED_WRITERS", "WRITERS", "read_result", "result_json", "write_graph_edges", "write_result"]

_MATRIX = 2_000  # columns; of more, a matrix is a file of many megabytes that holds zeros


def write_result(
    result: LearnResult, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None
) -> list[Path]:
    """Write every file of `WRITERS`, ``provenance.json`` and ``result.json``, all or none, and return their paths.

    The last holds the whole result, and `read_result` reads it back. `pyknnmi.provenance_schema` and
    `pyknnmi.result_schema` describe the two.
    A result with directions is written by `DIRECTED_WRITERS` too. Of more than 2000 columns ``adjacency.csv`` is left
    out, with a warning. The same data, spec and seed give the same bytes,
    except in these two, which hold the time taken.

    Parameters
    ----------
    result : LearnResult
    directory : path
        Made if need be; files of these names are replaced.
    extra : mapping, optional
        Further entries for ``provenance.json``.
    """
    directory = make_folder(directory)
    writers = dict(WRITERS)
    if len(result.graph.names) > _MATRIX:
        del writers["adjacency.csv"]
        warn(
            f"adjacency.csv is left out: a matrix of {len(result.graph.names)} columns would hold little but zeros; "
            "edges.csv has the edges, and graph.adjacency() returns the matrix"
        )
    contents = {name: write(result) for name, write in writers.items()}
    if result.oriented is not None:
        contents |= {name: write_directed(result.oriented) for name, write_directed in DIRECTED_WRITERS.items()}
    contents["provenance.json"] = json_text({**to_record(provenance(result)), **(extra or {})})
    contents["result.json"] = result_json(result)
    replace_files({directory / name: text for name, text in contents.items()})
    return [directory / name for name in contents]


def result_json(result: LearnResult) -> str:
    """Return the whole result as JSON, which `read_result` reads back and `pyknnmi.result_schema` describes."""
    return json_text(to_record(result))


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


def write_graph_edges(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write the edges of a graph as CSV with columns source and target."""
    replace_file(Path(path), graph_edges_csv(graph))


def graph_edges_csv(graph: Graph) -> str:
    """Return the edges of a graph as CSV with columns source and target."""
    return csv_text([["source", "target"], *([safe_name(a), safe_name(b)] for a, b in graph.edges)])


def edges_csv(result: LearnResult) -> str:
    """Return one line an edge: its ends, statistic, p-value and the test that decided."""
    evidence = result.evidence_by_pair()
    rows = [[*map(safe_name, edge), *_test_cells(evidence.get(edge))] for edge in result.graph.edges]
    return csv_text([["source", "target", *_TEST_HEADER], *rows])


def evidence_csv(result: LearnResult) -> str:
    """Return one line for each edge and each other pair with evidence: the test that decided, and both searches.

    ``one_sided`` is true where one of the two columns chose the other and was not chosen by it. That happens to edges
    under the rule OR, and to near misses under AND. It is empty where only one of them was searched for, or where the
    learner searches for no blankets. Columns that begin with ``source_`` and ``target_`` hold what the search of that
    column found about the other. ``frequency``, of the wrapper ``stability``, is the share of graphs with the edge.
    """
    evidence = result.evidence_by_pair()
    frequency = selection_frequencies(result)
    place = {name: i for i, name in enumerate(result.graph.names)}
    one_sided = set(result.one_sided())
    rows = [
        ["source", "target", "edge", "outcome", "one_sided", *_DECISION, "level", "permutations", "n"]
        + [f"{end}_{key}" for end in ("source", "target") for key in ("member", *_DECISION)]
        + ["frequency"]
    ]
    pairs = {*result.graph.edges, *evidence, *one_sided, *frequency}
    for a, b in sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]])):
        pair, known = evidence.get((a, b)), a in result.blankets and b in result.blankets
        row: list[Any] = [safe_name(a), safe_name(b), _word((a, b) in result.graph)]
        row.append(safe_name(pair.outcome if pair else _untested_outcome(result, a, b, one_sided)))
        row.append(_word((a, b) in one_sided) if known else "")
        row += _decision(pair.given, pair.answer) if pair else [""] * len(_DECISION)
        row += ["" if pair is None else getattr(pair.answer, key) for key in ("level", "permutations", "n")]
        sides = {side.target: side for side in pair.sides} if pair else {}
        for end in (a, b):
            side = sides.get(end)
            member = (b if end == a else a) in result.blankets[end] if pair is None and end in result.blankets else None
            row.append(_word(side.member if side else member))
            row += _decision(side.given, side.answer) if side else [""] * len(_DECISION)
        row.append(frequency.get((a, b)))
        rows.append(["" if cell is None else cell for cell in row])
    return csv_text(rows)


def _untested_outcome(result: LearnResult, a: str, b: str, one_sided: Container[tuple[str, str]]) -> str:
    """Return what became of a pair of which the learner gives no test."""
    edge = (a, b) in result.graph
    if (a, b) not in one_sided:
        return "joined" if edge else "not joined"
    inside, outside = (a, b) if b in result.blankets[a] else (b, a)
    return one_sided_outcome(inside, outside, edge)


def adjacency_csv(result: LearnResult) -> str:
    """Return the 0/1 matrix with the column names as header and as first column."""
    names = [safe_name(name) for name in result.graph.names]
    matrix = result.graph.adjacency().tolist()
    return csv_text([["", *names], *([name, *row] for name, row in zip(names, matrix, strict=True))])


def graph_json(result: LearnResult) -> str:
    """Return the graph as node-link JSON (networkx reads it with ``edges="edges"``), with all evidence."""
    evidence = result.evidence_by_pair()
    return json_text(
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


WRITERS: Mapping[str, Callable[[LearnResult], str]] = {
    "edges.csv": edges_csv,
    "evidence.csv": evidence_csv,
    "adjacency.csv": adjacency_csv,
    "graph.json": graph_json,
    "graph.graphml": graphml,
    "graph.gexf": gexf,
    "graph.cyjs": cytoscape_json,
    "graph.dot": dot,
}


DIRECTED_WRITERS: Mapping[str, Callable[[PartiallyDirectedGraph], str]] = {
    "directed.json": directed_json,
    "directed.graphml": directed_graphml,
    "directed.cyjs": directed_cytoscape_json,
    "directed.dot": directed_dot,
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


_TEST_HEADER = ["statistic", "p_value", "given", "decided_by", "permutations", "n"]


def _test_cells(pair: PairEvidence | None) -> list[Any]:
    """Return what `_TEST_HEADER` names; the names in ``given`` are separated by semicolons, and quoted as in CSV."""
    if pair is None:
        return [""] * len(_TEST_HEADER)
    answer = pair.answer
    numbers = ["", ""] if pair.is_constrained else [repr(answer.statistic), repr(answer.p_value)]
    return [*numbers, _names(pair.given), answer.decided_by, answer.permutations, answer.n]


_DECISION = ["given", "statistic", "p_value", "p_low", "p_high", "decided_by"]


def _decision(given: Sequence[str], answer: CIResult | None) -> list[Any]:
    """Return what `_DECISION` names; nothing was measured where the pair is required or forbidden."""
    if answer is None or answer.decided_by in (REQUIRED, FORBIDDEN):
        return ["", "", "", "", "", "" if answer is None else answer.decided_by]
    low, high = answer.monte_carlo_interval or ("", "")
    return [_names(given), repr(answer.statistic), repr(answer.p_value), low, high, answer.decided_by]


def _names(names: Sequence[str]) -> str:
    """Return names for one cell: separated by semicolons, and quoted as in CSV."""
    return safe_name(csv_line(names, delimiter=";")) if names else ""


def _word(holds: bool | None) -> str:
    return "" if holds is None else str(holds).lower()
