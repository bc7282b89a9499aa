"""The protocol of wrappers: what goes round a whole pipeline and changes its graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pyknnmi.data.dataset import Dataset
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.learned_graph import LearnedGraph
from pyknnmi.run import Run

__all__ = ["Inner", "Learned", "Wrapper"]


@dataclass(frozen=True)
class Learned:
    """What a pipeline made of some data.

    Attributes
    ----------
    graph : LearnedGraph
        In numbers of the columns of the data.
    counts : mapping of str to int
        ``tests``, ``permutations`` and ``scored``, as in a result.
    """

    graph: LearnedGraph
    counts: Mapping[str, int] = field(default_factory=lambda: {"tests": 0, "permutations": 0, "scored": 0})


class Inner(ABC):
    """The pipeline that a wrapper goes round."""

    @abstractmethod
    def learn(self, dataset: Dataset, run: Run) -> Learned:
        """Return what the pipeline makes of a data set with all the columns of the table."""

    @abstractmethod
    def each(self, datasets: Sequence[Dataset], run: Run) -> Iterator[Learned]:
        """Yield what it makes of each of several data sets, as they are finished: with ``jobs`` side by side."""


class Wrapper(Component):
    """Base of wrappers. In a spec they come first: ``stability(runs=50)+iamb+knn-cmi``."""

    kind: ClassVar[str] = "wrapper"

    compares_p_values: ClassVar[bool] = True
    """Whether it looks at the p-values of what the pipeline makes. If not, a test may end once it has decided."""

    def accepts(self, kind: str) -> bool:
        """Return True: the test decides which kinds of columns can be used."""
        return True

    @abstractmethod
    def learn(self, inner: Inner, dataset: Dataset, run: Run) -> Learned:
        """Return the graph of the columns of `dataset`, from what `inner` makes of it or of parts of its rows."""
