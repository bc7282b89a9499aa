"""Where the nodes of a network are drawn, and in which order the rows of a matrix."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pyknnmi.graphs.graph import Graph
from pyknnmi.run import check_memory

__all__ = ["clustered_order", "node_positions"]

_MOST_ROUNDS = 300
_WORK = 20_000_000  # nodes squared times rounds: about a second
_GAP = 1.0  # between components; an edge has the length 1
_WIDE = 1.6  # width of a drawing in which components are packed, for a height of 1


def node_positions(graph: Graph, seed: int = 0) -> dict[str, tuple[float, float]]:
    """Return where to draw each node, so that distances in the drawing are like distances in the graph.

    Depends on the names, the edges and the seed alone: another order of the columns gives the same drawing, and so does
    another run. Each component is laid out by itself by stress majorization, in units of an edge's length. The
    components are then packed from left to right and from top to bottom, the largest first.

    Parameters
    ----------
    graph : Graph
    seed : int
        Another seed gives another drawing of the same graph.

    Returns
    -------
    dict of str to (float, float)
        In the order of the graph's names; y points up.

    References
    ----------
    Gansner, Koren and North (2004), "Graph drawing by stress majorization", GD, doi:10.1007/978-3-540-31843-9_25.
    """
    names = sorted(graph.names)
    place = {name: i for i, name in enumerate(names)}
    joined = np.zeros((len(names), len(names)), dtype=bool)
    for a, b in graph.edges:
        joined[place[a], place[b]] = joined[place[b], place[a]] = True
    start = np.array([_point_of(name, seed) for name in names]).reshape(-1, 2)
    drawings = [
        (members, _upright(_component_layout(joined[np.ix_(members, members)], start[members])))
        for members in _components(joined)
    ]
    points = _packed(drawings, len(names))
    return {name: (float(points[place[name], 0]), float(points[place[name], 1])) for name in graph.names}


def clustered_order(graph: Graph, strengths: NDArray[np.float64]) -> list[int]:
    """Return an order of the nodes in which those that go with each other stand together.

    One component follows the other, the largest first. Within one, nodes are in the order of the Fiedler vector of
    the strengths, which puts strongly joined nodes close to each other.

    Parameters
    ----------
    graph : Graph
    strengths : array of shape (p, p)
        Symmetric, at least 0, in the order of the graph's names.

    References
    ----------
    Atkins, Boman and Hendrickson (1998), "A spectral algorithm for seriation and the consecutive ones problem", SIAM
    Journal on Computing 28, 297-310, doi:10.1137/S0097539795285771.
    """
    by_name = sorted(range(len(graph.names)), key=lambda i: graph.names[i])
    joined = graph.adjacency().astype(bool)[np.ix_(by_name, by_name)]
    weights = strengths[np.ix_(by_name, by_name)] + 1e-6  # so that no node is cut off within its component
    order: list[int] = []
    for members in _components(joined):
        inner = np.where(joined, weights, 0.0)[np.ix_(members, members)]
        laplacian = np.diag(inner.sum(axis=1)) - inner
        if len(members) > 2:
            vector = np.linalg.eigh(laplacian)[1][:, 1]
            vector *= -1 if vector[np.argmax(np.abs(vector))] < 0 else 1
            along = np.argsort(np.round(vector, 9), kind="stable")
        else:
            along = np.arange(len(members))
        order += [by_name[members[i]] for i in along]
    return order


def _point_of(name: str, seed: int) -> tuple[float, float]:
    """Return a point of the unit square that a name and a seed stand for."""
    digest = hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest()
    return tuple(int.from_bytes(digest[i : i + 8]) / 2**64 for i in (0, 8))  # type: ignore[return-value]


def _components(joined: NDArray[np.bool_]) -> list[list[int]]:
    """Return the members of each component, the largest component first."""
    left = set(range(len(joined)))
    found = []
    while left:
        front = [min(left)]
        members = set(front)
        while front:
            new = set(np.flatnonzero(joined[front.pop()]).tolist()) - members
            members |= new
            front.extend(new)
        left -= members
        found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members))


def _component_layout(joined: NDArray[np.bool_], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points of a connected graph that lower the stress: the error of distances d, weighted by 1 / d²."""
    count = len(joined)
    if count == 1:
        return np.zeros((1, 2))
    check_memory(64.0 * count**2, f"a drawing of {count} nodes that hang together", "draw a part of the graph")
    distances = _distances(joined)
    off = ~np.eye(count, dtype=bool)
    weights = np.zeros_like(distances)
    weights[off] = distances[off] ** -2
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1 / count) - 1 / count  # the pseudoinverse, for a connected graph
    points = _scaled_start(distances, start)
    for _ in range(min(_MOST_ROUNDS, max(10, _WORK // count**2))):
        drawn = np.linalg.norm(points[:, None] - points[None], axis=2)
        ratio = np.zeros_like(drawn)
        np.divide(weights * distances, drawn, out=ratio, where=drawn > 1e-12)
        moved = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ points
        if np.abs(moved - points).max() < 1e-5:
            break
        points = moved
    return points


def _scaled_start(distances: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the start turned towards the plane of classical scaling, by a few rounds of orthogonal iteration."""
    squares = distances**2
    centered = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    points = start - start.mean(axis=0)
    if len(points) < 3:
        return np.asarray(points)
    for _ in range(30):
        points = np.linalg.qr(centered @ points + 1e-9 * points)[0]
    return np.asarray(points * np.sqrt(distances.max() * len(points) / 4) + 0.05 * (start - start.mean(axis=0)))


def _distances(joined: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the numbers of edges on the shortest paths of a connected graph."""
    count = len(joined)
    distances = np.zeros((count, count))
    reached = np.eye(count, dtype=bool)
    step = 0
    front = reached
    neighbors = joined.astype(np.float64)
    while not reached.all():
        step += 1
        front = (front.astype(np.float64) @ neighbors > 0) & ~reached
        distances[front] = step
        reached = reached | front
    return distances


def _upright(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points with their longest direction from left to right, as names need width."""
    points = points - points.mean(axis=0)
    if len(points) == 1:
        return points
    directions = np.linalg.svd(points, full_matrices=False)[2]
    turned: NDArray[np.float64] = points @ directions.T
    lean = turned[np.argmax(np.abs(turned), axis=0), [0, 1]]
    return turned * np.where(lean < 0, -1.0, 1.0)


def _packed(drawings: Sequence[tuple[list[int], NDArray[np.float64]]], count: int) -> NDArray[np.float64]:
    """Return all points, with the components side by side in rows."""
    sizes = [np.ptp(points, axis=0) + _GAP for _, points in drawings]
    area = sum(width * height for width, height in sizes)
    limit = max([np.sqrt(_WIDE * area), *(width for width, _ in sizes)])
    placed = np.zeros((count, 2))
    left, top, height = 0.0, 0.0, 0.0
    for (members, points), size in zip(drawings, sizes, strict=True):
        if left and left + size[0] > limit * 1.001:
            left, top, height = 0.0, top - height, 0.0
        placed[members] = points - [points[:, 0].min(), points[:, 1].max()] + [left, top]
        left += size[0]
        height = max(height, size[1])
    return placed
