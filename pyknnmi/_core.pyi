"""The compiled core: k-nearest-neighbour estimates and the permutation test, in nats and the max norm.

Points are arrays of float64 of shape (n, d), in any layout, read-only or not; they are neither copied nor cast. An
array of another type is a TypeError, one of another shape a ValueError, as are values that are not finite and
1 <= k < n not holding. `z` may have no columns. Arrays must not change during a call, which does not hold the GIL.

`engine`, `threads` and `poll` never change an answer. `poll` is called a few times a second from the calling thread;
what it raises ends the call, as Ctrl-C does. The estimator "mixed" (Mesner and Shalizi 2019) and x and y of several
columns are for the engines "auto" and "tree" only.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Engine = Literal["auto", "tree", "single", "batch"]
Estimator = Literal["ksg", "mixed"]
Points = NDArray[np.float64]
Poll = Callable[[], object] | None

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
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return how many other points are nearer than the k-th joint neighbour in (x, z), (y, z) and z, shape (n,) each.

    Nearer means by more than a relative 1e-10. When the k-th neighbour is at distance 0, coincident points count.
    """

def permutation_test(
    x: Points,
    y: Points,
    z: Points,
    k: int,
    permutations: int = 200,
    seed: int = 0,
    stream: int = 0,
    neighbors: int = 0,
    stop_at_alpha: float = 0.0,
    estimator: Estimator = "ksg",
    engine: Engine = "auto",
    threads: int = 0,
    poll: Poll = None,
) -> tuple[float, int, int]:
    """Return the observed I(x; y | z), how many permuted ones are at least as large, and how many were made.

    Ties count, and are exact. `neighbors` of 0 permutes y over all rows; m >= 1 gives each row the y of one of the m
    nearest rows in z, itself included (Runge 2018). `stop_at_alpha` above 0 ends the test, after 32, 64, ...
    permutations, once those left cannot change whether p < alpha; p of those made is then on the same side of alpha.
    """

def permutation(n: int, seed: int, stream: int, index: int) -> NDArray[np.uint32]:
    """Return permutation number `index` of a test with `neighbors=0`: row i is given the y of row permutation[i]."""

def thread_count(threads: int = 0) -> int:
    """Return the most threads that a call will use; 1 in a forked process, where OpenMP would hang."""

def build_info() -> dict[str, str]:
    """Return the nanoflann version and where it was found, the compiler, the OpenMP version and the instruction set."""
