"""IAMB-FDR: IAMB that controls the false discovery rate."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from pyknnmi.components import BlanketLearner, CIResult, Tester, warn, warn_of_stopped


@dataclass(frozen=True, kw_only=True)
class IAMBFDR(BlanketLearner):
    """Incremental association with a controlled false discovery rate in each blanket.

    In each round every one of the m candidates is tested given the blanket without it. The i-th smallest p-value passes
    if it is at most i fdr / (m h), where h = 1 + 1/2 + ... + 1/m (Benjamini and Yekutieli). The most doubtful member
    that does not pass leaves; if all pass, the strongest candidate that does joins; the search ends when neither
    happens, or a blanket comes up a second time. The test's own alpha is not used. Estimates the moral graph; with
    a perfect test both rules give the true Markov network of a distribution that is faithful to a graph.

    This needs small p-values: the only member of a blanket must reach fdr / (m h), and a permutation test cannot give
    less than 1 / (permutations + 1). There is a warning if that is too large.

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

    def blanket(self, target: int, candidates: tuple[int, ...], tester: Tester) -> Iterable[int]:
        """Return the Markov blanket of `target`."""
        blanket: set[int] = set()
        seen: list[set[int]] = []
        while blanket not in seen:
            seen.append(blanket)
            answers = {other: tester.test(target, other, sorted(blanket - {other})) for other in candidates}
            self._warn_of_coarse(answers.values())
            ranking = sorted(candidates, key=lambda other: (answers[other].p_value, -answers[other].statistic))
            discoveries = self._discoveries([answers[other].p_value for other in ranking])
            judged = list(zip(ranking, discoveries, strict=True))
            missed = [answers[other] for other, discovery in judged if not discovery]
            warn_of_stopped("iamb-fdr", answers.values(), missed)
            leaving = [other for other, discovery in judged if other in blanket and not discovery]
            joining = [other for other, discovery in judged if other not in blanket and discovery]
            if leaving:
                blanket = blanket - {leaving[-1]}
            elif joining:
                blanket = blanket | {joining[0]}
        return blanket

    def _discoveries(self, p_values: list[float]) -> list[bool]:
        """Return which of the sorted p-values are small enough for their rank; equal ones share the last rank."""
        unit = self._unit(len(p_values))
        return [p <= bisect_right(p_values, p) * unit for p in p_values]

    def _unit(self, m: int) -> float:
        """Return what the smallest of m p-values must not exceed."""
        return self.fdr / (m * sum(1 / i for i in range(1, m + 1)))

    def _warn_of_coarse(self, answers: Collection[CIResult]) -> None:
        """Warn of p-values that are as small as their permutations allow, and too large."""
        unit = self._unit(len(answers))
        at_least = [answer.permutations for answer in answers if answer.p_value <= 1 / (answer.permutations + 1)]
        permutations = max(at_least, default=0)
        if permutations and 1 / (permutations + 1) > unit:
            warn(
                f"iamb-fdr: with {permutations} permutations a blanket of one of {len(answers)} candidates cannot be "
                f"found at fdr = {self.fdr}: give at least {math.ceil(1 / unit) - 1}"
            )
