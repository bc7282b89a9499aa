"""Regressions of columns on smooth functions of others, chosen by their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyknnmi import _core
from pyknnmi.data.dataset import Dataset
from pyknnmi.regression.features import CATEGORIES, NUMBERS, PRODUCT_SLOTS, WIDTH, blocks_of, put_steps
from pyknnmi.regression.jumps import places_of_jumps
from pyknnmi.regression.priors import (
    CATEGORY_PRIORS,
    MAIN_COST,
    MOST_BLOCKS,
    MOST_BLOCKS_OF_CHECK,
    NUMBER_PRIORS,
    PAIR_COST,
    PAIR_PRIORS,
    PASSES,
    PASSES_OF_CHECK,
    STEP_PRIORS,
)

__all__ = ["ColumnFit", "SmoothRegressions", "Term"]

Values = NDArray[np.float64]
Term = tuple[int, int, int]
"""A block of a fit: its column, its second column or -1 for a main block, and the number of its prior."""

_PRIORS = [NUMBER_PRIORS, CATEGORY_PRIORS, *STEP_PRIORS]
_FIRST_STEPS = 2  # the priors of a column with one step
_WORTH_STEPS = 10.0
"""Nats of evidence that an effect needs, for its jumps to be looked for."""


@dataclass(frozen=True)
class ColumnFit:
    """The regression of a column on others.

    Attributes
    ----------
    column : int
        The column that is explained.
    terms : tuple of tuple of (int, int, int)
        For each feature of the column that is a target, the blocks that explain it.
    gain : float
        Log evidence, relative to a regression on nothing, less the costs of the blocks, in nats; at least 0.
    """

    column: int
    terms: tuple[tuple[Term, ...], ...]
    gain: float

    def columns(self) -> frozenset[int]:
        """Return the columns of all blocks."""
        return frozenset(j for terms in self.terms for first, second, _ in terms for j in (first, second) if j >= 0)


class SmoothRegressions:
    """The features of a table, and regressions on them.

    Parameters
    ----------
    dataset : Dataset
        Complete; no column is constant.
    threads : int
        Threads to use; the answers do not depend on it.
    poll : callable, optional
        Called a few times a second; what it raises ends the work.

    Attributes
    ----------
    steps : list of int
        For each column how many steps are among its features, the last ones.
    gains_alone : ndarray, shape (p, p)
        The gain of the regression of each column (row) on the main block of one other (column), in nats.
    """

    def __init__(self, dataset: Dataset, threads: int = 1, poll: Callable[[], object] | None = None) -> None:
        self.blocks = blocks_of(dataset)
        self.names = dataset.names
        self.n, self.p = dataset.n, dataset.p
        self._threads, self._poll = threads, poll
        self._spread = np.abs(self.blocks).max(axis=1) > 0
        kinds = [CATEGORIES if kind == "discrete" else NUMBERS for kind in dataset.kinds]
        self.targets = tuple(
            tuple(slot for slot in range(16) if self._spread[j, slot]) if kind == CATEGORIES else (0,)
            for j, kind in enumerate(kinds)
        )
        self._kinds = kinds
        self.steps = [0] * self.p
        self._core = self._new_core()
        self.gains_alone = self._gains_alone(range(self.p))
        self._put_steps(dataset)

    def _new_core(self) -> _core.BlockRegression:
        return _core.BlockRegression(
            self.blocks,
            [_FIRST_STEPS + steps - 1 if steps else kind for kind, steps in zip(self._kinds, self.steps, strict=True)],
            _PRIORS,
            PAIR_PRIORS,
            PRODUCT_SLOTS,
            threads=self._threads,
            poll=self._poll,
        )

    def _gains_alone(self, sources: Sequence[int]) -> Values:
        """Return the gain of each column's regression on one of these alone, without pairs, shape (p, sources)."""
        nothing = [self.empty(i) for i in range(self.p)]
        gains = np.array(self.main_gains(nothing, [sources] * self.p)).reshape(self.p, len(sources))
        gains[np.arange(self.p)[:, None] == np.array(sources)] = 0.0
        return gains

    def _put_steps(self, dataset: Dataset) -> None:
        """Put steps into the blocks of columns whose effects jump."""
        worth = self.gains_alone >= _WORTH_STEPS
        worth[:, [self.is_category(j) for j in range(self.p)]] = False
        looks = int(worth.sum())
        places = {}
        for j in np.flatnonzero(worth.any(axis=0)).tolist():
            if self._poll:
                self._poll()
            effects = [(i, slot) for i in np.flatnonzero(worth[:, j]).tolist() for slot in self.targets[i]]
            gains = self._core.main_gains(
                [(effect, []) for effect in effects], [[j]] * len(effects), MAIN_COST, threads=self._threads
            )
            places[j] = places_of_jumps(
                dataset.values[:, j],
                self.blocks[j],
                np.array([self.blocks[i][:, slot] for i, slot in effects]),
                np.array(gains)[:, 0] + MAIN_COST,
                looks,
            )
        changed = [j for j, found in places.items() if len(found)]
        for j in changed:
            put_steps(self.blocks[j], dataset.values[:, j], places[j])
            self.steps[j] = len(places[j])
        if changed:
            self._core = self._new_core()
            self.gains_alone[:, changed] = self._gains_alone(changed)

    def empty(self, column: int) -> ColumnFit:
        """Return the regression of a column on nothing."""
        return ColumnFit(column, ((),) * len(self.targets[column]), 0.0)

    def fits(
        self,
        searches: Sequence[tuple[int, Iterable[int], ColumnFit | None]],
        main_cost: float = MAIN_COST,
        pair_cost: float = PAIR_COST,
    ) -> list[ColumnFit]:
        """Return, for each (column, others, where to start), the fit of highest gain that the search finds."""
        questions = [
            ((column, slot), sorted(others), list(start.terms[place]) if start else [])
            for column, others, start in searches
            for place, slot in enumerate(self.targets[column])
        ]
        found = iter(
            self._core.fits(
                questions, main_cost, pair_cost, MOST_BLOCKS, PASSES, threads=self._threads, poll=self._poll
            )
        )
        return [self._joined(column, found) for column, _, _ in searches]

    def _joined(self, column: int, found: Iterator[tuple[list[Term], float]]) -> ColumnFit:
        parts = [part for _, part in zip(self.targets[column], found, strict=False)]
        return ColumnFit(column, tuple(tuple(terms) for terms, _ in parts), sum(gain for _, gain in parts))

    def feature_fits(self, searches: Sequence[tuple[int, int, Iterable[int]]]) -> list[tuple[Term, ...]]:
        """Return, for each (column, slot, others), the blocks of a fit of one feature, found by a shorter search."""
        nothing: list[Term] = []
        questions = [((column, slot), sorted(others), nothing) for column, slot, others in searches]
        found = self._core.fits(
            questions,
            MAIN_COST,
            PAIR_COST,
            MOST_BLOCKS_OF_CHECK,
            PASSES_OF_CHECK,
            threads=self._threads,
            poll=self._poll,
        )
        return [tuple(terms) for terms, _ in found]

    def main_gains(self, fits: Sequence[ColumnFit], candidates: Sequence[Sequence[int]]) -> list[Values]:
        """Return, for each fit and each of its candidates, what the candidate's main block adds to the gain."""
        questions, others = self._fitted(fits, candidates)
        return self._summed(
            fits, self._core.main_gains(questions, others, MAIN_COST, threads=self._threads, poll=self._poll)
        )

    def pair_scores(
        self, fits: Sequence[ColumnFit], candidates: Sequence[Sequence[int]], partners: Sequence[Sequence[int]]
    ) -> list[Values]:
        """Return, for each fit and candidate, n times the largest squared correlation of residual and pair product."""
        questions, others = self._fitted(fits, candidates)
        _, partners = self._fitted(fits, partners)
        return self._summed(
            fits, self._core.pair_scores(questions, others, partners, threads=self._threads, poll=self._poll)
        )

    def without(self, fits: Sequence[ColumnFit], columns: Sequence[int]) -> Values:
        """Return the gain of each fit when the blocks of a column are taken out and nothing else is changed."""
        questions, others = self._fitted(fits, [[column] for column in columns])
        found = self._core.without(
            questions, [other for (other,) in others], MAIN_COST, PAIR_COST, threads=self._threads, poll=self._poll
        )
        return np.array([float(part) for part in self._summed(fits, found)])

    def _fitted(
        self, fits: Sequence[ColumnFit], each: Sequence[Sequence[int]]
    ) -> tuple[list[tuple[tuple[int, int], list[Term]]], list[list[int]]]:
        questions = [
            ((fit.column, slot), list(terms))
            for fit in fits
            for slot, terms in zip(self.targets[fit.column], fit.terms, strict=True)
        ]
        return questions, [list(part) for fit, part in zip(fits, each, strict=True) for _ in fit.terms]

    def _summed(self, fits: Sequence[ColumnFit], found: Iterable[object]) -> list[Values]:
        parts = iter(found)
        return [np.sum([np.asarray(next(parts)) for _ in fit.terms], axis=0) for fit in fits]

    def coefficients(self, column: int, slot: int, terms: Sequence[Term]) -> Values:
        """Return the posterior means of the coefficients of a fit, shape (terms, 16)."""
        return np.asarray(self._core.coefficients((column, slot), list(terms))).reshape(len(terms), WIDTH)

    def residual(self, column: int, slot: int, terms: Sequence[Term]) -> Values:
        """Return what a fit leaves of its target, shape (n,)."""
        return np.asarray(self._core.residual((column, slot), list(terms)))

    def products(
        self,
        responses: Sequence[tuple[tuple[int, int], Sequence[Term]]],
        sources: Sequence[Sequence[tuple[tuple[int, int], Sequence[Term]]]],
        given: Sequence[Sequence[int]],
        mixtures: Sequence[Sequence[float]],
        bin_rows: int,
    ) -> list[list[tuple[int, float, tuple[float, float, float]]]]:
        """Return the groups of products of residuals that `check` turns into p-values."""
        found: list[list[tuple[int, float, tuple[float, float, float]]]] = self._core.products(
            [(target, list(terms)) for target, terms in responses],
            [[(target, list(terms)) for target, terms in each] for each in sources],
            [sorted(each) for each in given],
            [list(each) for each in mixtures],
            bin_rows,
            threads=self._threads,
            poll=self._poll,
        )
        return found

    def has_spread(self, column: int, slot: int) -> bool:
        """Return whether this feature of a column is not zero."""
        return bool(self._spread[column, slot])

    def is_category(self, column: int) -> bool:
        """Return whether a column holds categories."""
        return self._kinds[column] == CATEGORIES
