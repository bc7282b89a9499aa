"""The compiled core: k-nearest-neighbour estimates and the permutation test, in nats and the max norm.

Points are arrays of float64 of shape (n, d), in any layout, read-only or not; they are neither copied nor cast. An
array of another type is a TypeError, one of another shape a ValueError, as are values that are not finite and
1 <= k < n not holding. `z` may have no columns. Arrays must not change during a call, which does not hold the GIL.

`engine`, `threads` and `poll` never change an answer. `poll` is called a few times a second from the calling thread;
what it raises ends the call, as Ctrl-C does. With several columns in x or y, any engine is the tree.

`categories` says of each column of x, y and z, in this order, whether it is a category: whole numbers that are 0 apart
where equal and 1 where not. Empty means none. The estimator "mixed" is that of Mesner and Shalizi (2019);
"cells" counts equal rows.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Engine = Literal["auto", "tree", "single", "batch"]
Estimator = Literal["ksg", "mixed", "cells"]
Stop = Literal["never", "certain", "sequential", "reached"]
Points = NDArray[np.float64]
Poll = Callable[[], object] | None
Categories = Sequence[bool]

def entropy(x: Points, k: int, threads: int = 0, poll: Poll = None) -> float:
    """Return the entropy of `x` (Kraskov et al. 2004, Eq. 20); minus infinity when a point coincides with k others."""

def conditional_mutual_information(
    x: Points,
    y: Points,
    z: Points,
    k: int,
    estimator: Estimator = "ksg",
    engine: Engine = "auto",
    threads: int = 0,
    poll: Poll = None,
    categories: Categories = ...,
) -> float:
    """Return I(x; y | z)."""

def conditional_mutual_informations(
    x: Points,
    candidates: Points,
    z: Points,
    k: int,
    estimator: Estimator = "ksg",
    engine: Engine = "auto",
    threads: int = 0,
    poll: Poll = None,
    categories: Categories = ...,
) -> Points:
    """Return I(x; y | z), shape (m,), for each of the m columns of `candidates` as y."""

def neighbor_counts(
    x: Points,
    y: Points,
    z: Points,
    k: int,
    engine: Engine = "auto",
    threads: int = 0,
    poll: Poll = None,
    categories: Categories = ...,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return how many other points are nearer than the k-th joint neighbour in (x, z), (y, z) and z, shape (n,) each.

    Nearer means by more than a relative 1e-10. When the k-th neighbour is at distance 0, coincident points count.
    """

def estimate_of_counts(xz: NDArray[np.uint32], yz: NDArray[np.uint32], z: NDArray[np.uint32], k: int) -> float:
    """Return the estimate that `conditional_mutual_information` gives, from the counts of points."""

def permutation_test(
    x: Points,
    y: Points,
    z: Points,
    k: int,
    permutations: int = 200,
    seed: int = 0,
    stream: int = 0,
    neighbors: int = 0,
    groups: NDArray[np.uint32] = ...,
    whole_groups: bool = False,
    block_length: int = 0,
    season: int = 1,
    stop: Stop = "never",
    alpha: float = 0.05,
    estimator: Estimator = "ksg",
    engine: Engine = "auto",
    threads: int = 0,
    poll: Poll = None,
    categories: Categories = ...,
) -> tuple[float, int, int, float]:
    """Return the observed I(x; y | z), how many permuted ones are at least as large, and how many were made.

    Ties count, and are exact. `neighbors` of 0 permutes y over all rows; m >= 1 gives each row the y of one of the m
    nearest rows in z, itself included (Runge 2018). `groups` holds a label for each row, or none: rows are permuted
    within the groups of one label, or whole groups if `whole_groups` is true. `block_length` of 1 or more permutes
    stretches of so many rows, which begin every `season` rows. The test may end at a few looks: with "certain" once
    those left cannot change whether p < alpha, with "sequential" also once the evidence for that is strong, at a level
    of alpha at most, with "reached" once 25 are at least as large. Last comes a p-value that is valid whenever a test
    is stopped.
    """

def permuted_statistics(
    x: Points,
    y: Points,
    z: Points,
    k: int,
    permutations: int = 200,
    seed: int = 0,
    stream: int = 0,
    neighbors: int = 0,
    groups: NDArray[np.uint32] = ...,
    whole_groups: bool = False,
    block_length: int = 0,
    season: int = 1,
    estimator: Estimator = "ksg",
    engine: Engine = "auto",
    threads: int = 0,
    poll: Poll = None,
    categories: Categories = ...,
) -> tuple[float, Points]:
    """Return the observed I(x; y | z), and those with y permuted as in `permutation_test`, shape (permutations,)."""

def permuted_rows(
    z: Points,
    permutations: int = 200,
    seed: int = 0,
    stream: int = 0,
    neighbors: int = 0,
    groups: NDArray[np.uint32] = ...,
    whole_groups: bool = False,
    block_length: int = 0,
    season: int = 1,
    first: int = 0,
    threads: int = 0,
    poll: Poll = None,
    categories: Categories = ...,
) -> NDArray[np.uint32]:
    """Return these permutations from number `first` on, shape (permutations, n): row i is given the y of row [t, i]."""

def swapped_rows(
    z: Points,
    permutations: int = 200,
    seed: int = 0,
    stream: int = 0,
    neighbors: int = 10,
    first: int = 0,
    threads: int = 0,
    poll: Poll = None,
) -> NDArray[np.uint32]:
    """Return permutations by two rounds of swaps between neighbors, shape (permutations, n)."""

def build_info() -> dict[str, str]:
    """Return the nanoflann version and where it was found, the compiler, the OpenMP version and the instruction set."""

Feature = tuple[int, int]
Terms = list[tuple[int, int, int]]
Fitted = list[tuple[Feature, Terms]]

class BlockRegression:
    """Bayesian regressions on blocks of 16 features, chosen by evidence; see cpp/include/knnmi/block_regression.hpp.

    A feature is (column, slot), a term (first column, second column or -1, number of its prior). `threads` and `poll`
    never change an answer.
    """

    def __init__(
        self,
        features: Points,
        kinds: Sequence[int],
        main_priors: Sequence[Points],
        pair_priors: Points,
        pair_features: tuple[int, int, int, int],
        threads: int = 0,
        poll: Poll = None,
    ) -> None:
        """Copy the features, shape (columns, rows, 16), each centred and of variance 1, or zero."""

    def fits(
        self,
        searches: Sequence[tuple[Feature, Sequence[int], Terms]],
        main_cost: float,
        pair_cost: float,
        most: int,
        passes: int,
        threads: int = 0,
        poll: Poll = None,
    ) -> list[tuple[Terms, float]]:
        """Return the terms and the gain of the best fit of each (target, columns, where to start)."""

    def main_gains(
        self,
        fits: Fitted,
        candidates: Sequence[Sequence[int]],
        main_cost: float,
        threads: int = 0,
        poll: Poll = None,
    ) -> list[list[float]]:
        """Return what the main block of each candidate adds to the gain of each fit."""

    def pair_scores(
        self,
        fits: Fitted,
        candidates: Sequence[Sequence[int]],
        with_: Sequence[Sequence[int]],
        threads: int = 0,
        poll: Poll = None,
    ) -> list[list[float]]:
        """Return n times the largest squared correlation of each residual with a product of a candidate's features."""

    def without(
        self,
        fits: Fitted,
        columns: Sequence[int],
        main_cost: float,
        pair_cost: float,
        threads: int = 0,
        poll: Poll = None,
    ) -> list[float]:
        """Return the gain of each fit without the terms of a column."""

    def coefficients(self, target: Feature, terms: Terms) -> list[float]:
        """Return the posterior means of the coefficients, 16 for each term."""

    def residual(self, target: Feature, terms: Terms) -> list[float]:
        """Return what a fit leaves of its target."""

    def products(
        self,
        responses: Fitted,
        sources: Sequence[Fitted],
        given: Sequence[Sequence[int]],
        mixtures: Sequence[Sequence[float]],
        bin_rows: int,
        threads: int = 0,
        poll: Poll = None,
    ) -> list[list[tuple[int, float, tuple[float, float, float]]]]:
        """Return groups of products of residuals: (column given or -1 to -3; weighted sum of squares; three traces)."""
