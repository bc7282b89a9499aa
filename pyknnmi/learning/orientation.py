"""From a learned graph to directions: collider sets, v-structures and Meek's rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import combinations

from pyknnmi.protocols.learned_graph import Pair, pair_of
from pyknnmi.search.learners import Learner
from pyknnmi.search.tester import Tester

__all__ = ["orient"]

Neighbors = list[set[int]]
Separators = dict[Pair, list[set[int]]]
Finder = Callable[[Pair, Neighbors, Tester, int], list[set[int]]]


def orient(learner: Learner, edges: Collection[Pair], tester: Tester) -> tuple[set[Pair], set[Pair]]:
    """Return the directed and the undirected edges of a learned graph, given as column numbers.

    Suppose the test is perfect, and the distribution is faithful to a directed acyclic graph. Then these are the edges
    of its completed partially directed graph: an edge has a direction if it has the same one in every graph with the
    same independences.

    1. A moral graph also joins the parents of a common child. These edges are found by collider sets (Pellet and
       Elisseeff): an edge x - y is removed if x and y become independent when some of their common neighbours are left
       out of the conditioning set. In a skeleton every pair that is not joined is separated by the smallest subsets of
       the neighbours of x or of y.
    2. Let z be a common neighbour of x and y, which are not joined. If no separating set of x and y holds z, the edges
       become x -> z <- y.
    3. Meek's four rules give further directions.

    Nothing depends on the order of columns or tests. What contradicts itself is left open. A common neighbour that is
    in some of the separating sets and not in others counts neither as a collider nor as the opposite. An edge that two
    reasons direct both ways stays undirected. So do edges that would lie on a directed cycle.

    Parameters
    ----------
    learner : Learner
        Says which graph `edges` estimate, and the largest conditioning set.
    edges : collection of (int, int)
    tester : Tester
        Tests further questions: in the worst case exponentially many in the number of neighbours.

    Returns
    -------
    directed, undirected : set of (int, int)

    References
    ----------
    Pellet and Elisseeff (2008), "Using Markov blankets for causal structure learning", JMLR 9, 1295-1342;
    Meek (1995), "Causal inference and causal explanation with background knowledge", UAI. Leaving open what
    contradicts itself: Ramsey, Zhang and Spirtes (2006), "Adjacency-faithfulness and conservative causal inference",
    UAI; Colombo and Maathuis (2014), "Order-independent constraint-based causal structure learning", JMLR 15.
    """
    neighbors: Neighbors = [set[int]() for _ in tester.names]
    for x, y in edges:
        neighbors[x].add(y)
        neighbors[y].add(x)
    limit = len(tester.names) if learner.max_conditioning is None else learner.max_conditioning
    resolve = _resolve_moral_graph if learner.estimates == "moral graph" else _resolve_skeleton
    return _directed(*resolve(neighbors, tester, limit))


Triples = set[tuple[Pair, int]]
"""x and y (x < y), not joined, and a common neighbour."""


def _resolve_moral_graph(moral: Neighbors, tester: Tester, limit: int) -> tuple[Neighbors, Triples, Triples]:
    """Return the skeleton, the colliders and the other triples."""
    separators = _separators(_collider_sets, moral, tester, limit, joined=True)
    skeleton = [{y for y in moral[x] if pair_of(x, y) not in separators} for x in range(len(moral))]
    colliders, others = _classified(skeleton, separators)
    # Nodes that are not joined in a moral graph have no common child. A forbidden pair was never tested, so nothing is
    # known about it.
    apart = [(x, y) for x, y in _pairs(moral) if y not in moral[x] and (x, y) not in tester.constrained]
    others |= {((x, y), middle) for x, y in apart for middle in skeleton[x] & skeleton[y]}
    return skeleton, colliders, others


def _resolve_skeleton(skeleton: Neighbors, tester: Tester, limit: int) -> tuple[Neighbors, Triples, Triples]:
    """Return the skeleton as it is, the colliders and the other triples."""
    separators = _separators(_smallest_separators, skeleton, tester, limit, joined=False)
    return skeleton, *_classified(skeleton, separators)


def _separators(find: Finder, neighbors: Neighbors, tester: Tester, limit: int, *, joined: bool) -> Separators:
    """Return the separating sets of pairs with a common neighbour, where there are any."""
    work = partial(_separators_of, find, neighbors, limit, joined)
    return {pair: sets for search in tester.each(work, range(len(neighbors))) for pair, sets in search.found.items()}


def _separators_of(find: Finder, neighbors: Neighbors, limit: int, joined: bool, x: int, tester: Tester) -> Separators:
    """Return the separating sets of x and later columns, those joined to it or the others."""
    later = (y for y in range(x + 1, len(neighbors)) if (y in neighbors[x]) is joined and neighbors[x] & neighbors[y])
    pairs = [(x, y) for y in later if (x, y) not in tester.constrained]
    return {pair: sets for pair in pairs if (sets := find(pair, neighbors, tester, limit))}


def _collider_sets(pair: Pair, neighbors: Neighbors, tester: Tester, limit: int) -> list[set[int]]:
    """Return the sets that separate two joined nodes and leave out the fewest of their common neighbours.

    With a collider its descendants must be left out too. So the nodes of the boundary that it reaches are tried as
    well.
    """
    x, y = pair
    common = neighbors[x] & neighbors[y]
    boundary = min(neighbors[x] - common - {y}, neighbors[y] - common - {x}, key=len)
    for size in range(1, len(common) + 1):
        for fewer in range(len(boundary) + 1):
            found = []
            for colliders in map(set, combinations(sorted(common), size)):
                descendants = sorted(boundary & _reachable(colliders, neighbors, {x, y}))
                for left_out in combinations(descendants, fewer):
                    z = (common - colliders) | boundary.difference(left_out)
                    if len(z) <= limit and tester.independent(x, y, sorted(z)):
                        found.append(z)
            if found:
                return found
    return []


def _reachable(start: Iterable[int], neighbors: Neighbors, avoided: set[int]) -> set[int]:
    seen = set(start)
    front = list(seen)
    while front:
        new = neighbors[front.pop()] - seen - avoided
        seen |= new
        front.extend(new)
    return seen


def _smallest_separators(pair: Pair, neighbors: Neighbors, tester: Tester, limit: int) -> list[set[int]]:
    x, y = pair
    for size in range(min(limit, max(len(neighbors[x]), len(neighbors[y]))) + 1):
        sets = {z for end in pair for z in combinations(sorted(neighbors[end]), size)}
        found = [set(z) for z in sorted(sets) if tester.independent(x, y, z)]
        if found:
            return found
    return []


def _classified(skeleton: Neighbors, separators: Separators) -> tuple[Triples, Triples]:
    """Return the triples whose middle is in none of the separating sets, and those where it is in all."""
    colliders, others = set(), set()
    for (x, y), sets in separators.items():
        for middle in skeleton[x] & skeleton[y]:
            inside = [middle in z for z in sets]
            if inside and not any(inside):
                colliders.add(((x, y), middle))
            elif inside and all(inside):
                others.add(((x, y), middle))
    return colliders, others


def _directed(skeleton: Neighbors, colliders: Triples, others: Triples) -> tuple[set[Pair], set[Pair]]:
    """Direct the edges of colliders and those that Meek's rules imply, and return directed and undirected edges."""
    arrows: set[Pair] = set()
    contested: set[Pair] = set()
    implied = {(end, middle) for pair, middle in colliders for end in pair}
    while implied:
        contested |= {(a, b) for a, b in implied if (b, a) in implied}
        arrows |= implied - contested
        settled = arrows | {(b, a) for a, b in arrows} | contested
        implied = {
            (a, b)
            for a in range(len(skeleton))
            for b in skeleton[a]
            if (a, b) not in settled and _implied(a, b, skeleton, arrows, others)
        }
    arrows = {(a, b) for a, b in arrows if not _leads(b, a, arrows)}
    joined = {pair for pair in _pairs(skeleton) if pair[1] in skeleton[pair[0]]}
    return arrows, {(a, b) for a, b in joined if (a, b) not in arrows and (b, a) not in arrows}


def _implied(a: int, b: int, skeleton: Neighbors, arrows: set[Pair], others: Triples) -> bool:
    """Return whether one of Meek's rules directs a - b as a -> b."""

    def no_collider(x: int, middle: int, y: int) -> bool:
        return (pair_of(x, y), middle) in others

    into_a = [c for c in skeleton[a] if (c, a) in arrows]
    open_at_a = [c for c in skeleton[a] if (c, a) not in arrows and (a, c) not in arrows]
    into_b = [c for c in skeleton[b] if (c, b) in arrows]
    return (
        any(no_collider(c, a, b) for c in into_a)
        or any((a, c) in arrows for c in into_b)
        or any(no_collider(c, a, d) for c, d in combinations([c for c in into_b if c in open_at_a], 2))
        or any((c, d) in arrows and d in skeleton[a] and no_collider(c, a, b) for c in open_at_a for d in into_b)
    )


def _leads(start: int, end: int, arrows: set[Pair]) -> bool:
    seen, front = {start}, [start]
    while front:
        node = front.pop()
        new = {b for a, b in arrows if a == node} - seen
        seen |= new
        front.extend(new)
    return end in seen


def _pairs(neighbors: Neighbors) -> Iterable[Pair]:
    return combinations(range(len(neighbors)), 2)
