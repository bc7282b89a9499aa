"""What is measured: each part yields rows of results."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import data
import libraries
import numpy as np
from measure import Timing, in_turn
from scipy.stats import cauchy, norm, rankdata

import pyknnmi

OURS = "pyknnmi"
Kinds = dict[str, Callable[[np.ndarray], np.ndarray]]


@dataclass(frozen=True)
class Row:
    """One figure. `ratio` is the time of `library` over that of pyknnmi in the same round.

    `machine` is the machine, the commit and the build that it is from.
    """

    part: str
    n: int
    conditions: int
    columns: int
    library: str
    value: float
    unit: str
    ratio: float | None = None
    machine: str = ""

    @classmethod
    def from_text(cls, record: dict[str, str]) -> Row:
        """Return the row that was written as this record of a CSV file."""
        numbers = {key: int(record[key]) for key in ("n", "conditions", "columns")}
        ratio = float(record["ratio"]) if record["ratio"] else None
        return cls(
            record["part"],
            **numbers,
            library=record["library"],
            value=float(record["value"]),
            unit=record["unit"],
            ratio=ratio,
            machine=record["machine"],
        )


def rows_of(part: str, n: int, conditions: int, columns: int, timing: Timing) -> Iterator[Row]:
    for library in timing.seconds:
        ratio = None if library == OURS else timing.ratio(library, OURS)
        yield Row(part, n, conditions, columns, library, timing.median(library), "s", ratio)


def peers(*names: str) -> list[str]:
    return [OURS, *(name for name in names if libraries.available(name))]


def estimate(quick: bool) -> Iterator[Row]:
    for n in (500, 2000) if quick else (500, 2000, 20000):
        for conditions in (0, 1, 3, 10):
            table = data.gaussian(n, conditions)
            chosen = peers("npeet_plus", "ennemi", "tigramite") if n <= 2000 else peers("npeet_plus")
            calls = {name: libraries.estimate(name, *table) for name in chosen}
            yield from rows_of("estimate", n, conditions, 1, in_turn(calls, rounds=5))


def permutations(quick: bool) -> Iterator[Row]:
    for n in (500,) if quick else (500, 1000, 2000):
        for conditions in (0, 1, 3, 10):
            table = data.gaussian(n, conditions)
            chosen = peers("npeet_plus", "tigramite") if n <= 500 else peers("npeet_plus")
            calls = {name: libraries.permutations(name, *table, 200) for name in chosen}
            yield from rows_of("permutations", n, conditions, 1, in_turn(calls, rounds=3))


def candidates(quick: bool) -> Iterator[Row]:
    for n in (500,) if quick else (500, 2000):
        for conditions in (0, 1, 3, 10):
            table = data.candidates(n, conditions, 24)
            calls = {name: libraries.candidates(name, *table) for name in peers("npeet_plus")}
            yield from rows_of("candidates", n, conditions, 24, in_turn(calls, rounds=5))


def graphs(part: str, sizes: tuple[int, ...], test: str) -> Iterator[Row]:
    for n in sizes:
        table, _ = pyknnmi.simulate.small_network(n, seed=0)
        calls = {OURS: partial(pyknnmi.learn, table, f"iamb+{test}", threads=1)}
        if libraries.available("npeet_plus"):
            calls["npeet_plus"] = partial(pyknnmi.learn, table, "iamb+npeet", threads=1)
        yield from rows_of(part, n, 0, 7, in_turn(calls, rounds=2))


def graph(quick: bool) -> Iterator[Row]:
    yield from graphs("graph", (250,) if quick else (500, 1000), "knn-cmi(stop=never)")


def graph_sequential(quick: bool) -> Iterator[Row]:
    yield from graphs("graph_sequential", (250,) if quick else (1000,), "knn-cmi(stop=sequential)")


def tables(quick: bool) -> Iterator[Row]:
    """Learn the network of real tables, most of which have ties, with all permutations and with the sequential rule."""
    for name, whole in data.real_tables().items():
        table = whole.rows(np.arange(150)) if quick else whole
        tests = {"all permutations": "knn-cmi(stop=never)", "stop=sequential": "knn-cmi(stop=sequential)"}
        calls = {how: partial(pyknnmi.learn, table, f"iamb+{test}", threads=1) for how, test in tests.items()}
        timing = in_turn(calls, rounds=1)
        for how in calls:
            ratio = timing.ratio(how, "all permutations")
            yield Row("tables", table.n, 0, table.p, f"{name}, {how}", timing.median(how), "s", ratio)


def kernel(quick: bool) -> Iterator[Row]:
    """Answer one question by RCIT of pyknnmi-kernel and by permutations, each bound to the table anew."""
    if not libraries.available("pyknnmi_kernel"):
        return
    for n in (500,) if quick else (1000, 2000):
        for conditions in (1, 3):
            table = pyknnmi.Dataset.of(np.hstack(data.gaussian(n, conditions)))
            tests = {OURS: "knn-cmi(screen=none)", "sequential": "knn-cmi(screen=none,stop=sequential)", "rcit": "rcit"}
            given = range(2, 2 + conditions)
            calls = {
                name: partial(pyknnmi.ci_test, table, 0, 1, given, test, threads=1) for name, test in tests.items()
            }
            yield from rows_of("kernel", n, conditions, 1, in_turn(calls, rounds=7))


def beside_ranks(
    part: str, kinds: Kinds, sizes: Sequence[int], conditions: Sequence[int], categories: bool = False
) -> Iterator[Row]:
    """Time a permutation test, T = 200, of columns made from ranks in (0, 1), beside one of the ranks themselves."""
    for n in sizes:
        for d in conditions:
            blocks = [rankdata(block, axis=0) - 0.5 for block in data.gaussian(n, d)]
            calls = {}
            for name, kind in {"ranks": lambda u: u, **kinds}.items():
                x, y, z = (kind(block / n) for block in blocks)
                flags = [categories and name != "ranks"] * (2 + d)
                calls[name] = partial(
                    pyknnmi.numbers.permutation_test, x, y, z, 3, threads=1, categories=flags, permutations=200
                )
            timing = in_turn(calls, rounds=9)
            for name in calls:
                yield Row(part, n, d, 1, name, timing.median(name), "s", timing.ratio(name, "ranks"))


def tied_questions(quick: bool) -> tuple[Sequence[int], Sequence[int]]:
    """Return numbers of rows and of conditioning columns."""
    return ((1000,), (0, 1)) if quick else ((200, 1000, 2000), (0, 1, 3, 5))


def tied(quick: bool) -> Iterator[Row]:
    kinds: Kinds = {
        "Gaussian": norm.ppf,  # what one digit is kept of in the next
        "one digit": lambda u: np.round(norm.ppf(u), 1),
        "30 % censored": lambda u: np.maximum(u, 0.3),
        "ten values": lambda u: np.floor(10 * u),
        "half constant": lambda u: np.maximum(u, 0.5),
    }
    yield from beside_ranks("tied", kinds, *tied_questions(quick))


def categorical(quick: bool) -> Iterator[Row]:
    kinds: Kinds = {f"{count} categories": partial(_categories, count=count) for count in (2, 5)}
    yield from beside_ranks("categorical", kinds, *tied_questions(quick), categories=True)


def _categories(u: np.ndarray, count: int) -> np.ndarray:
    return np.floor(count * u)


def heavy_tailed(quick: bool) -> Iterator[Row]:
    kinds: Kinds = {
        "normal": norm.ppf,
        "Cauchy": cauchy.ppf,
        "lognormal, sigma = 2": lambda u: np.exp(2 * norm.ppf(u)),
        "one value of 1e9": lambda u: np.where(u == u.max(initial=0.0), 1e9, u),
    }
    yield from beside_ranks("heavy_tailed", kinds, (1000,) if quick else (1000, 4000), (0, 1, 3))


def rows(quick: bool) -> Iterator[Row]:
    for n in (500, 2000, 10000) if quick else (500, 2000, 10000, 30000, 100000):
        table = data.gaussian(n, 3)
        calls = {
            "estimate": libraries.estimate(OURS, *table),
            "test, T = 20": libraries.permutations(OURS, *table, 20),
        }
        timing = in_turn(calls, rounds=3)
        for name in calls:
            yield Row("rows", n, 3, 1, name, timing.median(name), "s")


def conditions(quick: bool) -> Iterator[Row]:
    n = 1000
    for count in (0, 3, 10) if quick else range(11):
        calls = {OURS: libraries.permutations(OURS, *data.gaussian(n, count), 200)}
        yield from rows_of("conditions", n, count, 1, in_turn(calls, rounds=3))


def columns(quick: bool) -> Iterator[Row]:
    n = 500
    for p in (7, 20) if quick else (7, 20, 50, 100, 200):
        table = data.sparse_network(n, p)
        start = time.process_time()
        pyknnmi.learn(table, "iamb+knn-cmi(stop=never)", threads=1)
        yield Row("columns", n, 0, p, OURS, time.process_time() - start, "s")


def threads(quick: bool) -> Iterator[Row]:
    """One test, whose points are shared out, and a whole graph, whose columns are."""
    network, _ = pyknnmi.simulate.small_network(1000, seed=0)
    works = {("graph", 1000, 7): partial(pyknnmi.learn, network, "iamb+knn-cmi(stop=never)")}
    for n in (1000,) if quick else (1000, 4000, 20000):
        works["test", n, 1] = partial(pyknnmi.numbers.permutation_test, *data.gaussian(n, 3), 3)
    for (what, n, columns), work in works.items():
        calls = {f"{what}, {count} threads": partial(work, threads=count) for count in (1, 2)}
        timing = in_turn(calls, rounds=9, clock=time.perf_counter)
        for name in calls:
            yield Row("threads", n, 3, columns, name, timing.median(name), "s", timing.ratio(name, list(calls)[1]))


def memory(quick: bool) -> Iterator[Row]:
    n = 20000 if quick else 100000
    script = f"import parts; print(parts.peak_memory({n}))"
    path = [str(p) for p in sys.path if p]
    code = f"import sys; sys.path[:0] = {path!r}; {script}"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    yield Row("memory", n, 3, 1, OURS, float(found.stdout), "MB")


def peak_memory(n: int) -> float:
    """Return how many MB a test with T = 20 needs above what the process had with the data in memory."""
    x, y, z = (np.ascontiguousarray(part) for part in data.gaussian(n, 3))
    pyknnmi.conditional_mutual_information(x[:100], y[:100], z[:100])
    before = high_water_mark()
    pyknnmi.numbers.permutation_test(x, y, z, 3, permutations=20)
    return high_water_mark() - before


def high_water_mark() -> float:
    """Return the most memory that this process has held, in MB; getrusage would count its parent's too."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


PARTS = {
    function.__name__: function
    for function in (
        estimate,
        permutations,
        candidates,
        graph,
        graph_sequential,
        tables,
        kernel,
        tied,
        categorical,
        heavy_tailed,
        rows,
        conditions,
        columns,
        threads,
        memory,
    )
}
