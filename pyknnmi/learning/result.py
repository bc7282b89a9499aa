"""What a run returns: the graph, and everything needed to explain and repeat it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyknnmi.auditing import AuditFinding, in_warnings
from pyknnmi.calibration.rates import Calibration
from pyknnmi.data.dataset import natural_key
from pyknnmi.graphs.graph import Graph
from pyknnmi.graphs.partially_directed import PartiallyDirectedGraph
from pyknnmi.protocols.ci_tests import CIResult
from pyknnmi.protocols.learned_graph import LearnedGraph, Pair
from pyknnmi.search.constraints import FORBIDDEN, REQUIRED, Constraints

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "LearnResult",
    "PairEvidence",
    "Side",
    "ended_early",
    "format_p_value",
    "named_blankets",
    "named_evidence",
    "named_pairs",
    "one_sided_outcome",
    "rows_of_pairs",
    "selection_frequencies",
]


@dataclass(frozen=True)
class Side:
    """What the search for the blanket of one column found about another.

    Attributes
    ----------
    target, other : str
        The column whose blanket it was, and the other.
    member : bool
        Whether the other is in the blanket.
    given : tuple of str
        The conditioning set of the test that decided: of a member the weakest that kept it, else the strongest that
        excluded it.
    answer : CIResult, optional
        Statistic, p-value and how it was decided; None if the search ended without a test of the other.
    """

    target: str
    other: str
    member: bool
    given: tuple[str, ...]
    answer: CIResult | None


@dataclass(frozen=True)
class PairEvidence:
    """The test that decided about a pair of columns.

    Attributes
    ----------
    source, target : str
        The two columns, in the order of the data.
    edge : bool
        Whether the graph joins them.
    given : tuple of str
        The conditioning set of the test.
    answer : CIResult
        Statistic, p-value and how it was decided.
    sides : tuple of Side
        What the search of each column found about the other; none for learners that decide each pair once.
    """

    source: str
    target: str
    edge: bool
    given: tuple[str, ...]
    answer: CIResult
    sides: tuple[Side, ...] = ()

    @property
    def outcome(self) -> str:
        """What became of the pair, in a few words."""
        if self.is_constrained:
            return self.answer.decided_by
        members = [side for side in self.sides if side.member]
        if not self.sides:
            return "joined" if self.edge else "not joined"
        if len(members) == len(self.sides):
            if not self.edge:
                return "in both blankets, not joined"
            return "in both blankets" if len(members) == 2 else f"in the blanket of {members[0].target}"
        if not members:
            return "in neither blanket" if len(self.sides) == 2 else f"not in the blanket of {self.sides[0].target}"
        rule = "the rule combined" if self.answer.decided_by == "both directions" else "the AND rule"
        return one_sided_outcome(members[0].target, members[0].other, self.edge, rule)

    @property
    def is_constrained(self) -> bool:
        """Whether the pair was required or forbidden, so that nothing was tested."""
        return self.answer.decided_by in (REQUIRED, FORBIDDEN)


def one_sided_outcome(inside: str, outside: str, edge: bool, rule: str = "the AND rule") -> str:
    """Return what became of a pair of which only `inside` has the other, `outside`, in its blanket."""
    where = f"{outside} is in the blanket of {inside}, and {inside} not in that of {outside}"
    return f"kept by one side: {where}" if edge else f"lost by {rule}: {where}"


@dataclass(frozen=True, repr=False)
class LearnResult:
    """A learned Markov network with its evidence.

    Attributes
    ----------
    graph : Graph
        The columns and the edges between them.
    blankets : dict of str to tuple of str
        What was found for each column, before the rule joins them: its Markov blanket, or its neighbours if the
        learner estimates a skeleton. Only of the targets, if there are any; empty for learners without.
    evidence : tuple of PairEvidence
        One for each pair that was tested, required or forbidden. An edge's is the most doubtful of the tests that kept
        it.
    spec : str
        The pipeline with every parameter written out.
    seed : int
        The seed of the run.
    data_sha256 : str
        SHA-256 of the data's shape, names, kinds and values.
    shape : (int, int)
        Rows and columns of the data.
    rows_left_out : int
        Further rows, which were left out before since they missed values.
    repeats_left_out : int
        Further rows, which were left out since they were equal to another.
    findings : tuple of AuditFinding
        What the table shows, and what follows from it: see `pyknnmi.audit`. `learn` warned of the serious ones.
    has_missing : bool
        Whether values are missing in the rows that are there, so that each test left out what misses them.
    constant_columns : tuple of str
        Constant columns, which depend on nothing.
    counts : dict of str to int
        ``tests``: different questions answered; ``permutations`` made for them; ``scored``: candidates ranked.
    seconds : float
        Wall-clock time of the run.
    versions : dict of str to str
        Python, NumPy, pyknnmi, the plugins that took part, and how the core was built.
    constraints : Constraints
        The edges that were required or forbidden, and the targets.
    details : dict of str to object
        What else the learner says of its work, such as a penalty and the curve that it was chosen by.
    calibration : Calibration, optional
        How often the test rejects independence in data made like these, if the run measured it.
    oriented : PartiallyDirectedGraph, optional
        The graph with the directions that the data determine, if the run oriented it.
    warnings : tuple of str
        What the run warned of.
    """

    graph: Graph
    blankets: Mapping[str, tuple[str, ...]]
    evidence: tuple[PairEvidence, ...]
    spec: str
    seed: int
    data_sha256: str
    shape: tuple[int, int]
    constant_columns: tuple[str, ...]
    counts: Mapping[str, int]
    seconds: float
    versions: Mapping[str, Any]
    constraints: Constraints = field(default_factory=Constraints)
    details: Mapping[str, object] = field(default_factory=dict)
    oriented: PartiallyDirectedGraph | None = None
    calibration: Calibration | None = None
    rows_left_out: int = 0
    repeats_left_out: int = 0
    has_missing: bool = False
    findings: tuple[AuditFinding, ...] = ()
    warnings: tuple[str, ...] = ()

    def edge_evidence(self) -> tuple[PairEvidence, ...]:
        """Return the evidence of the edges alone, in the order of the graph's edges."""
        return tuple(pair for pair in self.evidence if pair.edge)

    def evidence_by_pair(self) -> dict[tuple[str, str], PairEvidence]:
        """Return the evidence under the names of the two columns, in the order of the data."""
        return {(pair.source, pair.target): pair for pair in self.evidence}

    def one_sided(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs of which one column chose the other and was not chosen by it, in the order of the data.

        Only pairs of which both were searched for can be one-sided.
        """
        place = {name: i for i, name in enumerate(self.graph.names)}
        pairs = {
            (a, b) if place[a] < place[b] else (b, a)
            for a, blanket in self.blankets.items()
            for b in blanket
            if b in self.blankets and a not in self.blankets[b]
        }
        return tuple(sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]])))

    def plot(self, kind: str = "graph", ax: Axes | None = None, *, seed: int = 0) -> Axes:
        """Draw the result, and return the axes; see `pyknnmi.report.plots.plot`.

        Parameters
        ----------
        kind : str
            ``graph``, ``matrix``, ``evidence``, ``effects`` or ``selection``.
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure when left out.
        seed : int
            Another seed gives another drawing of the same network.
        """
        from pyknnmi.report.plots import plot

        return plot(self, kind, ax, seed=seed)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        data: str | None = None,
        command: str | None = None,
    ) -> Path:
        """Write the result as one HTML file, and return its path; see `pyknnmi.report.html.write_report`.

        Parameters
        ----------
        path : path
            The HTML file, which needs no other file and no network.
        title : str, optional
            The heading.
        data : str, optional
            The file that the data came from, for the heading and for the command that repeats the run.
        command : str, optional
            The command that repeats the run; made of the result when left out.
        """
        from pyknnmi.report.html import write_report

        return write_report(self, path, title=title, data=data, command=command)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a small picture, the edges, and what to look at."""
        from pyknnmi.report.notebook import notebook_html

        return notebook_html(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each edge and each other pair that was tested, required or forbidden.

        Returns
        -------
        pandas.DataFrame
            ``source``, ``target`` and ``edge``; then what is known of the test that decided: ``statistic`` and
            ``p_value``, NaN where nothing was tested, ``given`` (a tuple of names), ``decided_by``, ``permutations``
            and ``n``.
        """
        import pandas as pd

        found = self.evidence_by_pair()
        place = {name: i for i, name in enumerate(self.graph.names)}
        pairs = sorted({*self.graph.edges, *found}, key=lambda pair: (place[pair[0]], place[pair[1]]))
        columns = ["source", "target", "edge", *_OF_THE_TEST]
        rows = [(a, b, (a, b) in self.graph, *_of_the_test(found.get((a, b)))) for a, b in pairs]
        return pd.DataFrame.from_records(rows, columns=columns)

    def __str__(self) -> str:
        found = self.evidence_by_pair()
        width = max((len(f"{a} - {b}") for a, b in self.graph.edges), default=4)
        lines = [f"{'edge':<{width}}  {'statistic':>10}  {'p-value':>9}" if found else "edge"]
        for a, b in self.graph.edges:
            line = f"{f'{a} - {b}':<{width}}"
            if pair := found.get((a, b)):
                if pair.is_constrained:
                    line += f"  {pair.answer.decided_by:>21}"
                else:
                    line += f"  {pair.answer.statistic:>10.4f}  {format_p_value(pair.answer):>9}"
            lines.append(line)
        lines += ended_early(found[edge].answer for edge in self.graph.edges if edge in found)
        if self.oriented is not None:
            lines.append(f"oriented: {self.oriented}")
        lines += [f"doubtful: {text}" for text in in_warnings(self.findings)]
        lines.append(self._summary())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<LearnResult of {self.spec}: {self._summary()}>"

    def _summary(self) -> str:
        n, p = self.shape
        left_out = f", {self.rows_left_out} left out" if self.rows_left_out else ""
        left_out += f", {self.repeats_left_out} repeats left out" if self.repeats_left_out else ""
        edges, tests = (
            f"{count} {what}{'s' * (count != 1)}"
            for count, what in ((len(self.graph.edges), "edge"), (self.counts["tests"], "test"))
        )
        return f"{edges} between {p} columns ({n} rows{left_out}), {tests}, {self.seconds:.2f} s"


_OF_THE_TEST = ("statistic", "p_value", "given", "decided_by", "permutations", "n")


def _of_the_test(pair: PairEvidence | None) -> tuple[Any, ...]:
    if pair is None:
        return math.nan, math.nan, (), "", 0, 0
    answer = pair.answer
    numbers = (math.nan, math.nan) if pair.is_constrained else (answer.statistic, answer.p_value)
    return *numbers, pair.given, answer.decided_by, answer.permutations, answer.n


def format_p_value(answer: CIResult) -> str:
    """Return the p-value of an answer for people.

    It has four digits, and is ``<1e-300`` where a double ends. A ~ before it says that the test ended as soon as it had
    decided.
    """
    p = answer.p_value
    return ("~" if answer.says_alpha_only else "") + ("<1e-300" if p < 1e-300 else f"{p:.4g}")


def ended_early(answers: Iterable[CIResult]) -> list[str]:
    """Return what the ~ before a p-value means, as a line, if there is one among the answers."""
    if not any(answer.says_alpha_only for answer in answers):
        return []
    return ["~: rough, as the test ended once it had decided; stop=never makes all permutations"]


def rows_of_pairs(found: object) -> list[Mapping[str, Any]]:
    """Return the rows about pairs of columns in an entry of a result's details; none if it holds something else."""
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [row for row in found if isinstance(row, Mapping) and row.keys() >= {"source", "target"}]


def selection_frequencies(result: LearnResult) -> dict[tuple[str, str], float]:
    """Return how often each pair was an edge in parts of the rows, for `stability`; empty for other specs.

    The names of a pair are in the order of the data. In the details they are in the order in which columns are worked
    on.
    """
    place = {name: i for i, name in enumerate(result.graph.names)}
    found = {}
    for row in rows_of_pairs(result.details.get("selection")):
        a, b = sorted((str(row["source"]), str(row["target"])), key=place.__getitem__)
        found[a, b] = float(row["frequency"])
    return found


def named_pairs(pairs: Iterable[Pair], names: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of column numbers as pairs of names."""
    return [(names[i], names[j]) for i, j in pairs]


def named_blankets(
    learned: LearnedGraph, names: Sequence[str], targets: Sequence[str], order: Sequence[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return the blanket of each target by name, each in the order of the data; none for learners without."""
    if learned.blankets is None:
        return {}
    found = {names[t]: {names[i] for i in blanket} for t, blanket in learned.blankets.items()}
    return {name: tuple(other for other in order if other in found.get(name, ())) for name in targets}


def _sides(learned: LearnedGraph, names: Sequence[str], pair: Pair, place: Mapping[str, int]) -> tuple[Side, ...]:
    """Return what the search of each column of a pair found about the other, by names."""
    blankets = learned.blankets or {}
    sides = []
    for target, other in (pair, pair[::-1]):
        if learned.sides and target in blankets:
            found = learned.sides.get((target, other))
            given = tuple(sorted((names[i] for i in found.question[2]), key=natural_key)) if found else ()
            answer = found.answer if found else None
            sides.append(Side(names[target], names[other], other in blankets[target], given, answer))
    return tuple(sorted(sides, key=lambda side: place[side.target]))


def named_evidence(learned: LearnedGraph, names: Sequence[str], graph: Graph) -> tuple[PairEvidence, ...]:
    """Return the evidence by names, in the order of the data."""
    place = {name: i for i, name in enumerate(graph.names)}
    edges = set(graph.edges)
    rows = []
    for pair, found in (learned.evidence or {}).items():
        a, b = sorted((names[i] for i in pair), key=place.__getitem__)
        given = tuple(sorted((names[i] for i in found.question[2]), key=natural_key))
        rows.append(PairEvidence(a, b, (a, b) in edges, given, found.answer, _sides(learned, names, pair, place)))
    return tuple(sorted(rows, key=lambda row: (place[row.source], place[row.target])))
