"""What the user knows or wants beforehand: edges that are required or forbidden, and the columns to search for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pyknnmi.data.dataset import Dataset, listing
from pyknnmi.errors import ParameterError
from pyknnmi.protocols.ci_tests import CIResult

__all__ = ["FORBIDDEN", "REQUIRED", "Column", "Constraints"]

REQUIRED, FORBIDDEN = "required", "forbidden"
"""What decides about a pair that is not tested."""

Column = str | int
Edge = tuple[str, str]


@dataclass(frozen=True)
class Constraints:
    """Edges that must or must not be in the graph, and the columns whose neighbours are searched for.

    A required or forbidden pair is never tested: every question about it has the same answer, so it stands in the
    graph, or not, whatever the learner tests.

    Attributes
    ----------
    required, forbidden : tuple of (str, str)
        Pairs of columns, in any order.
    targets : tuple of str, optional
        The columns to search for; all of them when left out. Edges between two other columns are not looked for.

    Raises
    ------
    ParameterError
        A pair of a column with itself, a pair both required and forbidden, no targets at all.
    """

    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()
    targets: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.targets == ():
            raise ParameterError("targets is empty: name columns, or leave it out to search for all", "targets")
        for a, b in (*self.required, *self.forbidden):
            if a == b:
                raise ParameterError(f"the required or forbidden edge {a} - {b} joins a column to itself")
        both = {frozenset(edge) for edge in self.required} & {frozenset(edge) for edge in self.forbidden}
        for a, b in map(sorted, both):
            raise ParameterError(f"the edge {a} - {b} is both required and forbidden")

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        required: Iterable[Sequence[Column]] | None = (),
        forbidden: Iterable[Sequence[Column]] | None = (),
        targets: Column | Iterable[Column] | None = None,
    ) -> Self:
        """Return constraints on the columns of `dataset`, each given by name or number; None is no constraint.

        Raises
        ------
        UnknownNameError
            A column that does not exist.
        ParameterError
            Constraints that contradict each other or the data.
        """
        constraints = cls(
            _edges(dataset, "required", required),
            _edges(dataset, "forbidden", forbidden),
            None if targets is None else tuple(dataset.names[i] for i in dataset.columns_of(targets)),
        )
        constraints.check(dataset)
        return constraints

    def check(self, dataset: Dataset) -> None:
        """Raise an error unless every column exists and the data do not contradict a required edge."""
        for name in (*(end for edge in (*self.required, *self.forbidden) for end in edge), *(self.targets or ())):
            dataset.column(name)
        constant = {dataset.names[i] for i in dataset.constant_columns()}
        for a, b in self.required:
            for end in (a, b):
                if end in constant:
                    raise ParameterError(f"the edge {a} - {b} is required, but column '{end}' is constant")
            if self.targets is not None and a not in self.targets and b not in self.targets:
                raise ParameterError(
                    f"the edge {a} - {b} is required, but neither end is a target: add one of them to the targets "
                    f"({listing(self.targets)})"
                )

    def answers(self, dataset: Dataset) -> dict[tuple[int, int], CIResult]:
        """Return the answer to every question about a constrained pair, by column numbers (i, j), i < j.

        A pair with a column that `dataset` does not have is left out.
        """
        index = {name: i for i, name in enumerate(dataset.names)}
        found = {}
        for edges, independent, reason in ((self.required, False, REQUIRED), (self.forbidden, True, FORBIDDEN)):
            for a, b in edges:
                if a in index and b in index:
                    found[min(index[a], index[b]), max(index[a], index[b])] = CIResult(
                        statistic=0.0,  # nothing was estimated
                        p_value=float(independent),
                        independent=independent,
                        n=dataset.n,
                        decided_by=reason,
                    )
        return found

    def target_columns(self, dataset: Dataset) -> tuple[int, ...]:
        """Return the numbers of the target columns that `dataset` has."""
        return tuple(i for i, name in enumerate(dataset.names) if self.targets is None or name in self.targets)


def _edges(dataset: Dataset, what: str, given: Any) -> tuple[Edge, ...]:
    if given is None:
        return ()
    if not isinstance(given, Iterable):
        raise ParameterError(f"{what} = {given!r}: give pairs of columns", what)
    return tuple(_edge(dataset, what, edge) for edge in given)


def _edge(dataset: Dataset, what: str, given: Any) -> Edge:
    if isinstance(given, str) or not isinstance(given, Collection) or len(given) != 2:
        raise ParameterError(f"{what}: {given!r} is no edge: give a pair of columns for each", what)
    a, b = (dataset.names[dataset.column(end)] for end in given)
    return a, b
