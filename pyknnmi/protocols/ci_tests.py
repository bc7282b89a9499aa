"""The protocol of conditional independence (CI) tests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import warn
from pyknnmi.numbers.intervals import wilson_interval
from pyknnmi.protocols.component import Component
from pyknnmi.run import Run

__all__ = ["BoundTest", "CIResult", "CITest", "warn_of_stopped"]


@dataclass(frozen=True, kw_only=True)
class CIResult:
    """The answer to one question: is x independent of y given z?

    Attributes
    ----------
    statistic : float
        Finite; larger means more dependent. Its unit is the test's own (knn-cmi: nats).
    p_value : float
        In [0, 1].
    independent : bool
        The decision.
    n : int
        Rows used.
    decided_by : str
        What the decision rests on, such as ``permutations``, ``screen`` or ``normal``.
    permutations : int
        Permutations made; 0 for a test that needs none.
    p_value_bounds : (float, float), optional
        Where the p-value of the whole test would lie, if it stopped before the end.
    anytime_p_value : float, optional
        Of a test that bets as it goes on, as with ``stop=sequential``: a p-value that is valid whenever it stopped.
    log_p_value : float, optional
        Natural logarithm of the p-value, where it is known beyond the range of a double.
    redundant : tuple of str
        Columns of z that add nothing to the others and were not counted.
    level : float, optional
        What the p-value had to be below, where that was not the test's own alpha.
    doubts : tuple of str
        What the table shows that speaks against this answer, and what to do, in the words of the warnings. Only
        `pyknnmi.ci_test` and `pyknnmi.bind` fill it in; `learn` has ``findings`` about all its tests.
    """

    statistic: float
    p_value: float
    independent: bool
    n: int
    decided_by: str
    permutations: int = 0
    p_value_bounds: tuple[float, float] | None = None
    anytime_p_value: float | None = None
    log_p_value: float | None = None
    redundant: tuple[str, ...] = ()
    level: float | None = None
    doubts: tuple[str, ...] = ()

    @property
    def monte_carlo_interval(self) -> tuple[float, float] | None:
        """Where the p-value of infinitely many permutations lies with a confidence of 95 % (Wilson's score interval).

        None for a test that needs no permutations, and where the p-value is a bound.
        """
        if not self.permutations or self.p_value_is_bound:
            return None
        exceedances = self.p_value * (self.permutations + 1) - 1
        return wilson_interval(min(max(exceedances, 0.0), float(self.permutations)), self.permutations)

    @property
    def says_alpha_only(self) -> bool:
        """Whether a rule for one level stopped the test early: then p_value says whether it is below, and no more."""
        return self.p_value_bounds is not None and self.anytime_p_value is not None

    @property
    def p_value_is_bound(self) -> bool:
        """Whether p_value is the upper one of p_value_bounds: right at every level, and seldom the whole test's own."""
        lowest, highest = self.p_value_bounds or (1.0, 1.0)
        return lowest < self.p_value == highest < 1

    @classmethod
    def of_constant(cls, n: int) -> CIResult:
        """Return the answer about a column that is constant on all n rows: it is independent of everything."""
        return cls(statistic=0.0, p_value=1.0, independent=True, n=n, decided_by="constant column")


class BoundTest(ABC):
    """A CI test bound to data: it answers questions about columns, given by their numbers.

    Ranking and testing are two questions. `associations` only ranks; `test` decides. A learner must not rank by
    p-values: strong candidates tie at the smallest one.
    """

    @abstractmethod
    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""

    def test_at(self, x: int, y: int, z: tuple[int, ...], level: float) -> CIResult:
        """Return the answer where dependence needs a p-value below `level`, which is at most the test's own alpha.

        Of the p-value it is only asked on which side of the level it is. This version compares the p-value of `test`.
        Override it where a small p-value takes more work, such as more permutations, or a decision less. At alpha
        itself it is asked of a test that says ``decides_early``, and of no other.
        """
        answer = self.test(x, y, z)
        return replace(answer, independent=bool(answer.independent) or not answer.p_value < level)

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> NDArray[np.float64]:
        """Return one number for each candidate: how strongly it goes with x given z, larger is stronger.

        This version takes the statistic of one `test` after another. Override it where work can be shared, or
        where the statistic alone is cheaper.
        """
        return np.array([self.test(x, y, z).statistic for y in candidates])

    def for_threads(self) -> BoundTest | None:
        """Return this test for use from several threads at a time, each call on one thread; None if it cannot be.

        Worth overriding where the work is done without Python's global lock. Then the columns of a data set are worked
        on side by side, which keeps cores busier than sharing out a single small test.
        """
        return None


class CITest(Component):
    """Base of CI tests: parameters that can be bound to data.

    A subclass is a frozen, keyword-only dataclass with a `name`, and returns a `BoundTest` from `bind`. The framework
    drops constant columns, puts the others in their natural order by name, orders x, y and z, remembers answers
    and checks what comes back.
    """

    kind: ClassVar[str] = "test"

    symmetric: ClassVar[bool] = True
    """Whether x and y may be exchanged. If so, x always comes before y."""

    needs_seed: ClassVar[bool] = False
    """Whether the answer depends on the seed of the run."""

    takes_groups: ClassVar[bool] = False
    """Whether the bound test also takes tuples of columns as x and y: groups of columns, each as one variable."""

    takes_blocks: ClassVar[bool] = False
    """Whether it heeds `Dataset.groups`: rows that belong together, such as those of one subject."""

    @property
    def decides_early(self) -> bool:
        """Whether it takes less work to say if p < alpha than to give p.

        Then a search that asks for no more gets its answers from ``test_at``, at the test's own alpha. They are kept
        apart from those of ``test``, so that no answer depends on what was asked before.
        """
        return False

    def allows_for(self, finding: AuditFinding, findings: Sequence[AuditFinding], n: int) -> bool:
        """Return whether the test is right in spite of what an audit found, such as ``serial-dependence``.

        `findings` are all that the audit found, of n rows.
        """
        return False

    def warn_of_coarse(self, made: int, what: str, alpha: float) -> None:
        """Warn if the smallest p-value of so many permutations, or whatever is made, is not below alpha."""
        if 1 / (made + 1) >= alpha:
            warn(f"{self.name}: with {made} {what} no p-value is below alpha = {alpha}: give at least {int(1 / alpha)}")

    @abstractmethod
    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data. Take randomness only from ``run.stream`` or ``run.generator``."""


def warn_of_stopped(where: str, answers: Collection[CIResult], too_large: Collection[CIResult]) -> None:
    """Warn of p-values that are no more exact than one level needed, where they are compared with others.

    Parameters
    ----------
    where : str
        What compares them, for the message.
    answers : collection of CIResult
        All answers whose p-values count.
    too_large : collection of CIResult
        Those of them whose p-values did not pass.
    """
    rough = [answer for answer in answers if answer.says_alpha_only]
    if rough:
        way_out = "take stop=never, or a resolution"
        warn(f"{where}: p-values of tests that stopped early say only whether p < alpha: {way_out}")
    if any(answer.p_value_is_bound for answer in too_large):
        warn(
            f"{where}: p-values that did not pass are upper bounds, as tests stopped early: take a smaller resolution, "
            "or stop_early=false"
        )
