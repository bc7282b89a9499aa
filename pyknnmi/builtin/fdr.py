"""A bound on the share of false edges."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pyknnmi.components import Dataset, Inner, Learned, ParameterError, Run, Wrapper, warn, warn_of_stopped


@dataclass(frozen=True, kw_only=True)
class FDR(Wrapper):
    """Benjamini and Hochberg's procedure over the pairs: drop edges whose p-values are too large for their number.

    The pipeline learns a graph. Of m pairs of columns, let p_(1) <= p_(2) <= ... be the p-values of its edges, each
    that of the test that decided. The largest i with p_(i) <= i level / (m h) is found, and the first i edges stay. h
    is 1, or with ``by`` 1 + 1/2 + ... + 1/m, which is right however the tests depend on each other. Pairs without an
    edge count as p = 1.

    The p-values come from a search that has looked for small ones. With the rule AND each is the larger of two, which
    helps; ``fdr+iamb(adjust=candidates)+fisher-z`` adjusts the search too.

    A permutation test cannot give less than 1 / (permutations + 1). There is a warning where that is too large;
    ``fdr+iamb+knn-cmi(resolution=1e-5)`` makes more permutations where they are needed.

    Parameters
    ----------
    level : float, in (0, 1)
        The expected share of false edges, at most.
    method : bh, by
        Benjamini and Hochberg, or Benjamini and Yekutieli.

    References
    ----------
    Benjamini and Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x; Benjamini and Yekutieli (2001),
    doi:10.1214/aos/1013699998.
    """

    name: ClassVar[str] = "fdr"

    level: float = 0.05
    method: Literal["bh", "by"] = "bh"

    def check(self) -> None:
        """Check the range."""
        self.require(0 < self.level < 1, "level", "between 0 and 1")

    def learn(self, inner: Inner, dataset: Dataset, run: Run) -> Learned:
        """Return the graph without the edges that do not pass."""
        learned = inner.learn(dataset, run)
        evidence = learned.graph.evidence or {}
        answers = {pair: evidence[pair].answer for pair in learned.graph.edges if pair in evidence}
        if set(learned.graph.edges) - answers.keys():
            raise ParameterError("fdr needs a p-value for each edge: take a learner that uses a test")
        fixed = {pair for pair, answer in answers.items() if answer.decided_by == "required"}
        tested = sorted((answer.p_value, pair) for pair, answer in answers.items() if pair not in fixed)
        m = math.comb(dataset.p, 2)
        unit = self.level / (m * (sum(1 / i for i in range(1, m + 1)) if self.method == "by" else 1))
        passing = max((i for i, (p, _) in enumerate(tested, start=1) if p <= i * unit), default=0)
        made = max((answers[pair].permutations for _, pair in tested), default=0)
        if tested and made and 1 / (made + 1) > len(tested) * unit:
            warn(
                f"fdr: with {made} permutations none of {len(tested)} edges between {dataset.p} columns can pass at "
                f"level = {self.level}: give at least {math.ceil(1 / (len(tested) * unit))}, or a resolution where "
                "the test takes one"
            )
        in_order = [answers[pair] for _, pair in tested]
        warn_of_stopped("fdr", in_order, in_order[passing:])
        edges = [*fixed, *(pair for _, pair in tested[:passing])]
        return replace(learned, graph=replace(learned.graph, edges=frozenset(edges)))
