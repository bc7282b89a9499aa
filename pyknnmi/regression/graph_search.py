"""The graph of highest evidence, by local search.

The score of a graph is the sum, over all columns, of the gain of the column's regression on its neighbours, less a
penalty for each edge. Both regressions of an edge count, so that one informative direction is enough. Moves add an
edge, remove one, or let one go from i - j to i - k for a neighbour k of j: without the last the search keeps a column
that stands in for its neighbour.

The gain of a move is first guessed from the fits as they are, by single blocks, and computed in full for the best
guesses only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pyknnmi.regression.priors import PAIR_COST
from pyknnmi.regression.smooth import ColumnFit, SmoothRegressions

__all__ = ["Allowed", "GraphSearch"]

Edge = tuple[int, int]

LEAST_EXACT_MOVES = 28
"""As many additions as there are columns are computed in full, and at least so many: all of those of up to 8 columns.
Among fewer a column that stands in for its neighbour may come first, and stay."""
SCREENED = 25
"""Candidates of the regression of one column on all others."""
_LEAST_PAIR_PRICE = 9.0
"""Nats that a pair block costs there at least, beside `PAIR_COST`. For less, three columns may explain each other by
chance."""
_SWAPS = 64
_MARGIN = 4.0
"""A guess may be so many nats too low, and its move is still computed in full."""
_ROUNDING = 1e-7


@dataclass(frozen=True)
class Allowed:
    """The pairs that may be joined, as a symmetric matrix, and those that must be."""

    free: NDArray[np.bool_]
    required: frozenset[Edge] = frozenset()

    def candidates(self, column: int) -> list[int]:
        """Return the columns that a column may be joined to."""
        found: list[int] = np.flatnonzero(self.free[column]).tolist()
        return found


@dataclass
class _State:
    """A graph, its fits, what each further main block would add to each fit, and what each neighbour has added."""

    neighbors: list[set[int]]
    fits: list[ColumnFit]
    guesses: NDArray[np.float64]
    pair_guesses: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    losses: dict[int, dict[int, float]] = field(default_factory=dict)


class GraphSearch:
    """A search for the graph of highest score.

    Parameters
    ----------
    regressions : SmoothRegressions
    allowed : Allowed
    penalty : float
        Nats that an edge costs.
    report : callable
        Called with (columns done, columns) as the regressions on all columns go on.
    """

    def __init__(
        self,
        regressions: SmoothRegressions,
        allowed: Allowed,
        penalty: float,
        report: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self._regressions = regressions
        self._allowed = allowed
        self._penalty = penalty
        self._report = report
        self._known: dict[tuple[int, frozenset[int]], ColumnFit] = {}

    def best(self) -> list[set[int]]:
        """Return the neighbours of each column in the best graph found.

        There are two searches: from the required edges alone, and from those of each column's regression on all others.
        """
        empty = self._start(self._allowed.required)
        full = self._start({*self._allowed.required, *self._edges_of_full_fits(empty.guesses)})
        scores = [self._climb(state) for state in (empty, full)]
        return (empty, full)[int(np.argmax(scores))].neighbors

    def fits(self, questions: Sequence[tuple[int, Collection[int], ColumnFit | None]]) -> list[ColumnFit]:
        """Return, for each (column, others, where to start), the fit as the search has it or would find it."""
        self._fit(questions)
        return [self._known[column, frozenset(others)] for column, others, _ in questions]

    def _start(self, edges: Iterable[Edge]) -> _State:
        p = self._regressions.p
        neighbors: list[set[int]] = [set() for _ in range(p)]
        for i, j in edges:
            neighbors[i].add(j)
            neighbors[j].add(i)
        guesses = np.where(self._allowed.free, self._regressions.gains_alone, 0.0)
        state = _State(neighbors, [self._regressions.empty(i) for i in range(p)], guesses)
        changed = [i for i in range(p) if neighbors[i]]
        self._fit([(i, neighbors[i], None) for i in changed])
        self._settle(state, changed)
        return state

    def _edges_of_full_fits(self, guesses: NDArray[np.float64]) -> set[Edge]:
        """Return i - j where the regression of i on its best candidates, at the price of edges, uses j."""
        edges = set()
        at_a_time = 32
        p = self._regressions.p
        for begin in range(0, p, at_a_time):
            self._report(begin, p)
            searches = []
            for i in range(begin, min(begin + at_a_time, p)):
                candidates = self._allowed.candidates(i)
                candidates.sort(key=lambda j, i=i: (-max(guesses[i, j], guesses[j, i]), j))  # type: ignore[misc]
                searches.append((i, candidates[:SCREENED], None))
            for fit in self._regressions.fits(
                searches, self._penalty, max(self._penalty, _LEAST_PAIR_PRICE) + PAIR_COST
            ):
                edges |= {(min(fit.column, j), max(fit.column, j)) for j in fit.columns()}
        return edges

    def _fit(self, searches: Iterable[tuple[int, Collection[int], ColumnFit | None]]) -> None:
        """Make the fits of these columns on these neighbours known."""
        new = {}
        for column, others, start in searches:
            key = column, frozenset(others)
            if key not in self._known:
                new[key] = start
        found = self._regressions.fits([(column, others, start) for (column, others), start in new.items()])
        self._known.update(zip(new, found, strict=True))

    def _gain(self, column: int, others: Iterable[int]) -> float:
        return self._known[column, frozenset(others)].gain

    def _settle(self, state: _State, changed: Sequence[int]) -> None:
        """Take over the fits of columns whose neighbours changed."""
        for i in changed:
            state.fits[i] = (
                self._known[i, frozenset(state.neighbors[i])] if state.neighbors[i] else self._regressions.empty(i)
            )
            state.pair_guesses.pop(i, None)
            state.losses.pop(i, None)
        self._guess(state, changed)

    def _guess(self, state: _State, columns: Sequence[int]) -> None:
        candidates = [[j for j in self._allowed.candidates(i) if j not in state.neighbors[i]] for i in columns]
        gains = self._regressions.main_gains([state.fits[i] for i in columns], candidates)
        for i, others, gain in zip(columns, candidates, gains, strict=True):
            state.guesses[i] = 0.0
            state.guesses[i, others] = gain

    def _climb(self, state: _State) -> float:
        """Move while a move gains; return the score."""
        for i in range(self._regressions.p):
            self._known.setdefault((i, frozenset(state.neighbors[i])), state.fits[i])
        while self._add(state) or self._remove(state) or self._add_by_pairs(state) or self._swap(state):
            pass
        edges = sum(map(len, state.neighbors)) / 2
        return sum(fit.gain for fit in state.fits) - self._penalty * edges

    def _add(self, state: _State) -> bool:
        """Add the edge that gains most, of those with the best guesses."""
        return self._add_best_of(state, state.guesses, self._penalty)

    def _add_by_pairs(self, state: _State) -> bool:
        """Add the edge that gains most, counting what a column may do together with a neighbour."""
        missing = [i for i in range(self._regressions.p) if i not in state.pair_guesses]
        candidates = [[j for j in self._allowed.candidates(i) if j not in state.neighbors[i]] for i in missing]
        scores = self._regressions.pair_scores(
            [state.fits[i] for i in missing], candidates, [sorted(state.neighbors[i]) for i in missing]
        )
        for i, others, score in zip(missing, candidates, scores, strict=True):
            guess = np.zeros(self._regressions.p)
            guess[others] = np.maximum(score / 2 - 4.0, 0.0)
            state.pair_guesses[i] = guess
        pairs = np.array([state.pair_guesses[i] for i in range(self._regressions.p)])
        return self._add_best_of(state, state.guesses + pairs, self._penalty - _MARGIN)

    def _add_best_of(self, state: _State, guesses: NDArray[np.float64], least: float) -> bool:
        both = guesses + guesses.T
        i_of, j_of = np.nonzero(np.triu(self._allowed.free, 1) & (both > least))
        pairs = [(i, j) for i, j in zip(i_of.tolist(), j_of.tolist(), strict=True) if j not in state.neighbors[i]]
        pairs.sort(key=lambda pair: (-both[pair], pair))
        most = max(LEAST_EXACT_MOVES, self._regressions.p)
        return self._apply_best(state, [({pair}, set()) for pair in pairs[:most]])

    def _remove(self, state: _State) -> bool:
        """Remove the edge whose loss is least, if it is less than the penalty."""
        edges = [edge for edge in self._edges(state) if edge not in self._allowed.required]
        losses = self._losses(state)
        guesses = {edge: losses[edge] + losses[edge[::-1]] - self._penalty for edge in edges}
        # What other blocks make up for is not in the guess.
        promising = sorted((edge for edge in edges if guesses[edge] < 3 * _MARGIN), key=lambda edge: guesses[edge])
        return self._apply_best(state, [(set(), {edge}) for edge in promising])

    def _losses(self, state: _State) -> dict[Edge, float]:
        """Return for (i, j), both ways round, what the fit of i loses with the blocks of j."""
        missing = [i for i in range(self._regressions.p) if i not in state.losses]
        directions = [(i, j) for i in missing for j in sorted(state.neighbors[i])]
        left = self._regressions.without([state.fits[i] for i, _ in directions], [j for _, j in directions])
        state.losses |= {i: {} for i in missing}
        for (i, j), gain in zip(directions, left.tolist(), strict=True):
            state.losses[i][j] = state.fits[i].gain - gain
        return {(i, j): loss for i, losses in state.losses.items() for j, loss in losses.items()}

    def _swap(self, state: _State) -> bool:
        """Let an edge i - j go to i - k, for a neighbour k of j, where that gains most."""
        edges = [edge for edge in self._edges(state) if edge not in self._allowed.required]
        losses = self._losses(state)
        directions = [direction for i, j in edges for direction in ((i, j), (j, i))]
        chosen = []
        for i, j in directions:
            others = [k for k in sorted(state.neighbors[j]) if k != i and self._allowed.free[i, k]]
            chosen.append([k for k in others if k not in state.neighbors[i]])
        bare = [self._bare(state.fits[i], j) for i, j in directions]
        gains = self._regressions.main_gains(bare, chosen)
        moves = []
        for (i, j), others, gain in zip(directions, chosen, gains, strict=True):
            for k, new in zip(others, gain.tolist(), strict=True):
                guess = new - losses[i, j] - losses[j, i] + state.guesses[k, i]
                if guess > -3 * _MARGIN:
                    moves.append((-guess, i, j, k))
        moves.sort()
        return self._apply_best(state, [({_edge(i, k)}, {_edge(i, j)}) for _, i, j, k in moves[:_SWAPS]])

    @staticmethod
    def _bare(fit: ColumnFit, column: int) -> ColumnFit:
        terms = tuple(tuple(term for term in part if column not in term[:2]) for part in fit.terms)
        return ColumnFit(fit.column, terms, 0.0)

    def _apply_best(self, state: _State, moves: Sequence[tuple[set[Edge], set[Edge]]]) -> bool:
        """Make the move (edges to add, edges to remove) that gains most, if one gains."""
        changes = [self._changed(state, *move) for move in moves]
        self._fit([(i, others, state.fits[i]) for change in changes for i, others in change.items()])
        best, gain = -1, _ROUNDING
        for place, ((added, removed), change) in enumerate(zip(moves, changes, strict=True)):
            difference = sum(self._gain(i, others) - state.fits[i].gain for i, others in change.items())
            difference -= self._penalty * (len(added) - len(removed))
            if difference > gain:
                best, gain = place, difference
        if best < 0:
            return False
        for i, others in changes[best].items():
            state.neighbors[i] = set(others)
        self._settle(state, sorted(changes[best]))
        return True

    @staticmethod
    def _changed(state: _State, added: Iterable[Edge], removed: Iterable[Edge]) -> dict[int, set[int]]:
        """Return the neighbours of each column that a move changes."""
        change: dict[int, set[int]] = {}
        for edges, into in ((added, set.add), (removed, set.discard)):
            for i, j in edges:
                into(change.setdefault(i, set(state.neighbors[i])), j)
                into(change.setdefault(j, set(state.neighbors[j])), i)
        return change

    @staticmethod
    def _edges(state: _State) -> list[Edge]:
        return [(i, j) for i, others in enumerate(state.neighbors) for j in sorted(others) if i < j]


def _edge(i: int, j: int) -> Edge:
    return (i, j) if i < j else (j, i)
