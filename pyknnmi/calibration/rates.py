"""How often a CI test rejects independence that is there, in data like the user's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pyknnmi.calibration.synthetic import SyntheticNull
from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import DataError, ParameterError, without_warnings
from pyknnmi.numbers.intervals import wilson_interval
from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.protocols.learned_graph import LeveledQuestion, Question
from pyknnmi.run import Progress, Run
from pyknnmi.search.contract import CheckedTest

__all__ = ["DRAWS", "CalibratedQuestion", "CalibratedSize", "Calibration", "calibrate_questions"]

Verdict = Literal["holds", "rejects too often", "rejects too seldom"]

DRAWS = 25
"""Synthetic data sets for a question."""

_POOL = 12  # questions drawn for each size, from which the strongest are taken
_STRONGEST, _OTHERS = 2, 2
_DOUBT = 0.005  # probability that a test that holds its level is judged not to

_UNSEEN = (
    "The synthetic columns follow smooth regressions on the conditioning set. What these miss, such as many thresholds "
    "or fast waves, is missing from the synthetic data too, and so are the errors that it causes. Where R2 is far "
    "below what the noise of the columns allows, believe 'independent' sooner than 'dependent'."
)


@dataclass(frozen=True)
class CalibratedQuestion:
    """The rejections of one question in synthetic data.

    Attributes
    ----------
    x, y : str
        The columns.
    given : tuple of str
        The conditioning set.
    r_squared : (float, float)
        How much of x and of y the conditioning set predicts in rows left out.
    draws, rejections : int
        Synthetic data sets, and in how many of them the test found dependence.
    """

    x: str
    y: str
    given: tuple[str, ...]
    r_squared: tuple[float, float]
    draws: int
    rejections: int


@dataclass(frozen=True)
class CalibratedSize:
    """The rejections for conditioning sets of one size.

    Attributes
    ----------
    size : int
        Columns in the conditioning set.
    questions : int
        How many such questions the search put.
    draws, rejections : int
        Synthetic data sets, and in how many of them the test found dependence.
    rate, low, high : float
        The share of rejections, with its 95 % interval (Wilson).
    r_squared : float
        The largest, over the questions tried, of the smaller R2 of the two columns: how strong conditioning was.
    verdict : {"holds", "rejects too often", "rejects too seldom"}
        ``holds`` unless the rejections would be improbable, below .005, of a test that rejects with probability alpha.
    """

    size: int
    questions: int
    draws: int
    rejections: int
    rate: float
    low: float
    high: float
    r_squared: float
    verdict: Verdict


@dataclass(frozen=True)
class Calibration:
    """Whether a CI test keeps its level in data like the user's.

    Attributes
    ----------
    test : str
        The test with every parameter.
    alpha : float
        Its level.
    sizes : tuple of CalibratedSize
        For each size of the conditioning sets.
    questions : tuple of CalibratedQuestion
        Those that were tried.
    advice : str
        What to do.
    unseen : str
        What this cannot see.
    """

    test: str
    alpha: float
    sizes: tuple[CalibratedSize, ...]
    questions: tuple[CalibratedQuestion, ...]
    advice: str
    unseen: str = _UNSEEN

    @property
    def holds(self) -> bool:
        """Whether no size has a verdict against the test."""
        return all(size.verdict == "holds" for size in self.sizes)

    def __str__(self) -> str:
        lines = [f"{self.test} on synthetic independence, at alpha = {self.alpha:g}:"]
        lines.append("size  questions   R2   rejections  rate   95 % interval  verdict")
        for row in self.sizes:
            share = f"{row.rejections}/{row.draws}"
            lines.append(
                f"{row.size:>4}  {row.questions:>9}  {row.r_squared:>4.2f}  {share:>10}  {row.rate:.3f}  "
                f"[{row.low:.3f}, {row.high:.3f}]  {row.verdict}"
            )
        return "\n".join([*lines, self.advice, self.unseen])


def calibrate_questions(
    test: CITest, dataset: Dataset, questions: Iterable[LeveledQuestion], run: Run, draws: int
) -> Calibration:
    """Return how often a test rejects in synthetic data that are independent, for some of the questions of a run.

    Of each size of the conditioning set up to four questions are tried: of a random dozen the two in which z predicts x
    and y best, and two others. For each, `draws` data sets are made by `SyntheticNull`.

    Raises
    ------
    ParameterError
        A test without a level.
    """
    alpha = getattr(test, "alpha", None)
    if not isinstance(alpha, float):
        raise ParameterError(f"the test '{test.name}' has no alpha, so there is no level that it could keep")
    if dataset.groups is not None:
        raise ParameterError(
            "synthetic rows are observations of their own, and these belong together in blocks: leave calibrate or the "
            "blocks out",
            "blocks",
        )
    by_size: dict[int, list[Question]] = {}
    for x, y, z in sorted({question[:3] for question in questions}):
        by_size.setdefault(len(z), []).append((x, y, z))
    sizes, tried = [], []
    for size, alike in sorted(by_size.items()):
        chosen = _chosen(dataset, alike, run)
        rows = []
        for place, (question, null) in enumerate(chosen):
            run.report(Progress(place, len(chosen), 0))
            rows.append(_tried(test, dataset, question, null, run, draws))
        tried += rows
        sizes.append(_summed(size, len(alike), rows, alpha))
    return Calibration(str(test), alpha, tuple(sizes), tuple(tried), _advice(test, sizes))


def _chosen(dataset: Dataset, questions: list[Question], run: Run) -> list[tuple[Question, SyntheticNull]]:
    """Return the strongest of some questions, and others."""
    random = run.generator("calibrate", str(len(questions[0][2])), [])
    pool = [questions[i] for i in sorted(random.permutation(len(questions))[:_POOL])]
    nulls = [_null(dataset, question, run) for question in pool]
    order = np.argsort([-min(null.r_squared(0), null.r_squared(1)) for null in nulls], kind="stable")
    taken = [*order[:_STRONGEST], *order[_STRONGEST:][:_OTHERS]]
    return [(pool[i], nulls[i]) for i in taken]


def _null(dataset: Dataset, question: Question, run: Run) -> SyntheticNull:
    x, y, z = question
    rows = dataset.complete_rows((x, y, *z)) if dataset.has_missing else dataset.select((x, y, *z))
    constant = [rows.names[i] for i in rows.constant_columns()]
    if constant:
        raise DataError(f"column '{constant[0]}' is constant where {', '.join(rows.names)} have values")
    return SyntheticNull(rows, range(2, rows.p), run.generator(rows.names[0], rows.names[1], rows.names[2:]))


def _tried(
    test: CITest, dataset: Dataset, question: Question, null: SyntheticNull, run: Run, draws: int
) -> CalibratedQuestion:
    rows = null.dataset
    random = run.generator(f"draws {rows.names[0]}", rows.names[1], rows.names[2:])
    rejections = 0
    CheckedTest(test, rows, run)  # warns of the user's own columns
    for draw in range(draws):
        run.poll()
        values = rows.values.copy()
        values[:, 0], values[:, 1] = null.draw(0, random), null.draw(1, random)
        synthetic = Dataset(values, rows.names, rows.kinds)
        if not set(synthetic.constant_columns()) & {0, 1}:
            with without_warnings():
                bound = CheckedTest(test, synthetic, Run(draw, run.threads))
                rejections += not bound.test(0, 1, tuple(range(2, rows.p))).independent
    x, y, z = question
    names = tuple(dataset.names[i] for i in z)
    r_squared = (null.r_squared(0), null.r_squared(1))
    return CalibratedQuestion(dataset.names[x], dataset.names[y], names, r_squared, draws, rejections)


def _summed(size: int, questions: int, rows: Sequence[CalibratedQuestion], alpha: float) -> CalibratedSize:
    draws, rejections = sum(row.draws for row in rows), sum(row.rejections for row in rows)
    low, high = wilson_interval(rejections, draws)
    too_often = min(_upper_tail(row.rejections, row.draws, alpha) * len(rows) for row in rows)
    verdict: Verdict = "holds"
    if min(too_often, _upper_tail(rejections, draws, alpha)) < _DOUBT:
        verdict = "rejects too often"
    elif 1 - _upper_tail(rejections + 1, draws, alpha) < _DOUBT:
        verdict = "rejects too seldom"
    strength = max(min(row.r_squared) for row in rows)
    return CalibratedSize(size, questions, draws, rejections, rejections / draws, low, high, strength, verdict)


def _advice(test: CITest, sizes: Sequence[CalibratedSize]) -> str:
    wrong = [size.size for size in sizes if size.verdict == "rejects too often"]
    if wrong:
        other = "residual-dependence" if test.name != "residual-dependence" else "a smaller alpha"
        return (
            f"With {_listed(wrong)} columns in the conditioning set the test finds dependence where there is none: "
            f"doubt edges that rest on such sets, and learn with {other} too."
        )
    if any(size.verdict == "rejects too seldom" for size in sizes):
        return "Where the test rejects too seldom it also misses weak dependence; its edges can be believed."
    return "Nothing speaks against the level of the test in these data."


def _listed(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} or {last}" if first else last


def _upper_tail(count: int, total: int, probability: float) -> float:
    """Return the probability of at least `count` of `total`."""
    rest = range(count)
    below = sum(math.comb(total, k) * probability**k * (1 - probability) ** (total - k) for k in rest)
    return max(1.0 - below, 0.0)
