"""Timing in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Seconds of each library in each round, library by library in turn."""

    seconds: Mapping[str, list[float]]

    def median(self, library: str) -> float:
        return statistics.median(self.seconds[library])

    def ratio(self, library: str, to: str) -> float:
        """How many times longer than `to`: the median over the rounds, each round compared with itself."""
        pairs = zip(self.seconds[library], self.seconds[to], strict=True)
        return statistics.median(a / b for a, b in pairs)


def in_turn(
    calls: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.process_time,
    least: float = 0.1,
) -> Timing:
    """Time the calls one after another, `rounds` times.

    A short call is repeated until it takes `least` seconds, for it is slow after a pause.
    """
    repeats = {}
    for name, call in calls.items():
        start = clock()
        call()  # the first call also warms caches and compilers
        repeats[name] = 1
        once = clock() - start
        if once < least:
            start = clock()
            call()
            repeats[name] = max(1, int(least / max(clock() - start, 1e-6)))
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = clock()
            for _ in range(repeats[name]):
                call()
            seconds[name].append((clock() - start) / repeats[name])
    return Timing(seconds)
