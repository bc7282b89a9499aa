"""CPU time of a question to a bound test, by names, as a ratio to that of the call that `learn` makes for it.

Each question is new to both at first, and remembered by both afterwards.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from itertools import combinations

import pyknnmi

ROUNDS = 9


def main(rows: int = 300) -> None:
    """Print the median of several rounds, taken in turn, and the smallest and largest."""
    data, _ = pyknnmi.simulate.small_network(rows, seed=2)
    by_number = [
        (x, y, given)
        for x, y in combinations(range(data.p), 2)
        for given in combinations([i for i in range(data.p) if i not in (x, y)], 2)
    ]
    by_name = [(data.names[x], data.names[y], [data.names[i] for i in given]) for x, y, given in by_number]
    for test in ("fisher-z", "knn-cmi(permutations=99)"):
        new, remembered = [], []
        for _ in range(ROUNDS):
            table, other = (pyknnmi.bind(data, test, threads=1) for _ in range(2))
            inner = other._tester.test
            new.append(_time(table.test, by_name) / _time(inner, by_number))
            remembered.append(_time(table.test, by_name * 20) / _time(inner, by_number * 20))
        for name, ratios in (("new", new), ("remembered", remembered)):
            print(f"{test}, {name}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def _time(test: Callable[..., object], questions: Sequence[tuple[object, ...]]) -> float:
    start = time.process_time()
    for question in questions:
        test(*question)
    return time.process_time() - start


if __name__ == "__main__":
    main()
