"""IAMB-FDR: IAMB that controls the false discovery rate."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from pyknnmi import BlanketLearner, CIResult, PyknnmiWarning, Tester


@dataclass(frozen=True, kw_only=True)
class IAMBFDR(BlanketLearner):
    """Incremental association with a controlled false discovery rate in each blanket.

    In each round every column is tested given the blanket without it, and the p-values are corrected for their number
    by Benjamini and Yekutieli. The most doubtful member that does not pass leaves; if all pass, the strongest column
    that does joins; the search ends when neither happens, or a blanket comes up a second time. The test's own alpha
    is not used. Estimates the moral graph; with a perfect test both rules give the true Markov network of a
    distribution that is faithful to a graph.

    The correction needs small p-values: with m = p - 1 candidates, the only member of a blanket must reach fdr / (m h),
    where h = 1 + 1/2 + ... + 1/m. A permutation test cannot give less than 1 / (permutations + 1); there is a
    warning if that is too large.

    Parameters
    ----------
    rule : and, or
        An edge where each of two columns is in the other's blanket, or where either is.
    fdr : float, in (0, 1)
        The expected share of false members in a blanket, at most.

    References
    ----------
    Peña (2008), "Learning Gaussian graphical models of gene networks with false discovery rate control", EvoBIO,
    doi:10.1007/978-3-540-78757-0_15; Benjamini and Yekutieli (2001), "The control of the false discovery rate in
    multiple testing under dependency", Theorem 1.3, doi:10.1214/aos/1013699998.
    """

    name: ClassVar[str] = "iamb-fdr"

    rule: Literal["and", "or"] = "and"
    fdr: float = 0.05

    def check(self) -> None:
        """Check the ranges."""
        self.require(0 < self.fdr < 1, "fdr", "between 0 and 1")

    def blanket(self, target: int, candidates: tuple[int, ...], test: Tester) -> Iterable[int]:
        """Return the Markov blanket of `target`."""
        blanket: set[int] = set()
        seen: list[set[int]] = []
        while blanket not in seen:
            seen.append(blanket)
            answers = {other: test.test(target, other, sorted(blanket - {other})) for other in candidates}
            self._warn_of_coarse(answers.values())
            order = sorted(candidates, key=lambda other: (answers[other].p_value, -answers[other].statistic))
            passed = self._passed([answers[other].p_value for other in order])
            leaving = [other for other in order[passed:] if other in blanket]
            joining = [other for other in order[:passed] if other not in blanket]
            if leaving:
                blanket = blanket - {leaving[-1]}
            elif joining:
                blanket = blanket | {joining[0]}
        return blanket

    def _passed(self, p_values: list[float]) -> int:
        """Return how many of the sorted p-values are discoveries: up to the last p_i <= i fdr / (m h)."""
        unit = self._unit(len(p_values))
        return max((i for i, p in enumerate(p_values, start=1) if p <= i * unit), default=0)

    def _unit(self, m: int) -> float:
        return self.fdr / (m * sum(1 / i for i in range(1, m + 1)))

    def _warn_of_coarse(self, answers: Collection[CIResult]) -> None:
        unit = self._unit(len(answers))
        permutations = max(answer.permutations for answer in answers)
        if permutations and 1 / (permutations + 1) > unit:
            warnings.warn(
                f"iamb-fdr: with {permutations} permutations a blanket of one of {len(answers)} candidates cannot be "
                f"found at fdr = {self.fdr}: give at least {math.ceil(1 / unit) - 1}",
                PyknnmiWarning,
                stacklevel=2,
            )
