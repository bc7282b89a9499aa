"""What a learner returns: a graph in column numbers, with the tests that decided."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pyknnmi.protocols.ci_tests import CIResult

__all__ = ["Evidence", "LearnedGraph", "LeveledQuestion", "Pair", "Question", "pair_of"]

Pair = tuple[int, int]
"""Two columns, by number."""

Question = tuple[int, int, tuple[int, ...]]
"""x, y and the sorted z, as column numbers; x < y when the test is symmetric."""

LeveledQuestion = Question | tuple[int, int, tuple[int, ...], float]
"""A question; with a level where it is only asked whether p is below that."""


def pair_of(x: int, y: int) -> Pair:
    """Return two columns in their order."""
    return (x, y) if x < y else (y, x)


@dataclass(frozen=True)
class Evidence:
    """The test that speaks for or against an edge.

    Attributes
    ----------
    question : (int, int, tuple of int)
        The columns x, y and z that were tested.
    answer : CIResult
        What came out.
    """

    question: Question
    answer: CIResult


@dataclass(frozen=True)
class LearnedGraph:
    """What a learner found, in column numbers.

    Attributes
    ----------
    edges : collection of (int, int)
        The pairs that are joined, in any order.
    blankets : mapping of int to tuple of int, optional
        What was found for each target, its Markov blanket or its neighbours, for learners that search column by column.
    evidence : mapping of (int, int) to Evidence, optional
        For pairs i < j that were tested; pairs without an edge may be there too. When left out it is made of the
        tests of the run: for each pair the most doubtful of those that agree with the outcome.
    sides : mapping of (int, int) to Evidence, optional
        What decided in the search for the blanket of i whether j is in it, for pairs (i, j) of a learner that searches
        column by column.
    details : mapping of str to object
        What else a user may want to see of the learner's work, by names of columns, in types that JSON knows.
    """

    edges: Collection[Pair]
    blankets: Mapping[int, tuple[int, ...]] | None = None
    evidence: Mapping[Pair, Evidence] | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    sides: Mapping[Pair, Evidence] = field(default_factory=dict)
