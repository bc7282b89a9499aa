"""Runs all methods on all kinds of data: the paper's experiments and further ones, into all_methods.csv.

    python all_methods.py --methods fast,knn --data 'star*,chain' --sizes 500 --repetitions 10 --seconds 400

It adds what the file lacks, repetition by repetition, and stops after so many seconds; the same command goes on from
there. all_methods_page.py makes the page and the figures. Needs the plugins experiments, gaussian and kernel.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from functional_anova import chain, independent, nonlinear, star, timed
from pyknnmi_experiments import EXPERIMENTS

from pyknnmi import Dataset, Graph
from pyknnmi.simulate import random_gaussian, small_network

HERE = Path(__file__).parent
FILE = HERE / "all_methods.csv"
FIELDS = ("data", "n", "repetition", "method", "seconds", "true_edges", "false", "missed")
REPETITIONS = 25
FIRST_SEED = 90_000
"""Of the further kinds of data; no choice was made on these seeds."""
PAPERS_SEED = 123456

METHODS = {
    "functional-anova": "functional-anova",
    "knn": "iamb+knn-cmi(stop=never)",
    "residual": "iamb(adjust=candidates,rule=combined)+residual-dependence",
    "kci": "iamb+kci",
    "rcit": "iamb+rcit",
    "fisher-z": "iamb+fisher-z",
    "fast": "nonparanormal+iamb(adjust=candidates)+fisher-z",
    "neighbourhood": "nonparanormal+neighbourhood(select=stars,rule=or)",
    "glasso": "nonparanormal+glasso(select=stars)",
}
NUMBERS_ONLY = {"kci", "rcit", "fisher-z", "fast", "neighbourhood", "glasso"}


@dataclass(frozen=True)
class Kind:
    """A kind of data whose true graph is known.

    ``draw(n, repetition)`` returns n rows and the graph.
    """

    name: str
    title: str
    p: int
    sizes: tuple[int, ...]
    draw: Callable[[int, int], tuple[Dataset, Graph]]
    categories: bool = False


def named(values: np.ndarray, edges: Sequence[tuple[int, int]], discrete: Sequence[int] = ()) -> tuple[Dataset, Graph]:
    names = tuple(f"X{j + 1}" for j in range(values.shape[1]))
    kinds = tuple("discrete" if j in discrete else "continuous" for j in range(values.shape[1]))
    return Dataset(values, names, kinds), Graph(names, [(names[i], names[j]) for i, j in edges])


def seeded(make: Callable[..., tuple[Dataset, Graph]], n: int, repetition: int) -> tuple[Dataset, Graph]:
    return make(n, np.random.default_rng(FIRST_SEED + repetition))


def columns(
    make: Callable[..., tuple[np.ndarray, list[tuple[int, int]]]], p: int
) -> Callable[[int, int], tuple[Dataset, Graph]]:
    """Return what draws p columns of a kind of data of functional_anova.py."""
    return partial(seeded, lambda n, random: named(*make(n, p, random)))


def steps(n: int, random: np.random.Generator) -> tuple[Dataset, Graph]:
    """One cause of six others, which jump where it has certain values, some at the same."""
    x = random.standard_normal((n, 7))
    functions = (np.sign, np.floor, lambda v: 1.5 * (v > 1), lambda v: np.sign(v) + v, lambda v: v > -0.5, np.ceil)
    for j, function in enumerate(functions, start=1):
        x[:, j] = 1.5 * function(x[:, 0]) + 0.5 * x[:, j]
    return named(x, [(0, j) for j in range(1, 7)])


def as_it_is(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return values


def censored(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return np.maximum(values, np.quantile(values, 0.4))


def rounded(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return np.round(1.5 * values)


def counted(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return random.poisson(np.exp(np.minimum(values, 4.0))).astype(float)


def levels(values: np.ndarray, random: np.random.Generator, count: int = 3) -> np.ndarray:
    return np.searchsorted(np.quantile(values, np.arange(1, count) / count), values).astype(float)


def heavy(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return np.sinh(2 * values)


two, four = partial(levels, count=2), partial(levels, count=4)
FUNCTIONS = (lambda v: v, lambda v: -v, np.abs, lambda v: np.sin(2 * v))


def tree(
    observe: Sequence[Callable[[np.ndarray, np.random.Generator], np.ndarray]],
    discrete: Sequence[int],
    n: int,
    random: np.random.Generator,
) -> tuple[Dataset, Graph]:
    """Each column depends on one before it, as observed: on the values after they were rounded, censored and so on."""
    p = len(observe)
    x, edges = np.empty((n, p)), []
    for j in range(p):
        latent = random.standard_normal(n)
        if j:
            parent = int(random.integers(j))
            edges.append((parent, j))
            cause = x[:, parent]
            found = np.unique(cause)
            if len(found) <= 4:  # each level has a mean of its own
                means = random.permutation(np.linspace(-1.2, 1.2, len(found)))
                effect = means[np.searchsorted(found, cause)]
            else:
                cause = np.arcsinh(cause - np.median(cause))
                effect = FUNCTIONS[int(random.integers(len(FUNCTIONS)))]((cause - cause.mean()) / cause.std())
                effect = effect / effect.std()
            latent = effect + 0.6 * latent
        x[:, j] = observe[j](latent, random)
    return named(x, edges, discrete)


def repeated(n: int, random: np.random.Generator) -> tuple[Dataset, Graph]:
    """Half of the rows are copies of others."""
    data, truth = small_network(n // 2, seed=int(random.integers(2**31)))
    again = np.concatenate([np.arange(n // 2), random.integers(n // 2, size=n - n // 2)])
    return Dataset(data.values[random.permutation(again)], data.names), truth


def wide_gaussian(n: int, random: np.random.Generator) -> tuple[Dataset, Graph]:
    return random_gaussian(n, seed=int(random.integers(2**31)), p=60)


def paper(name: str, n: int, repetition: int) -> tuple[Dataset, Graph]:
    data, truth = EXPERIMENTS[name].draw(PAPERS_SEED, repetition)
    return Dataset(data.values[:n], data.names), truth


def kinds() -> Iterator[Kind]:
    number, sizes = as_it_is, (250, 500, 1000)
    yield Kind("independent", "independent columns", 7, sizes, columns(independent, 7))
    yield Kind("chain", "chain of waves", 7, sizes, columns(chain, 7))
    yield Kind("star", "one cause of six, smooth", 7, sizes, columns(star, 7))
    yield Kind("star-steps", "one cause of six, with jumps", 7, (500,), partial(seeded, steps))
    mixed = [number, two, number, levels, number, censored, number, counted, rounded, four]
    trees = {
        "mixture-numbers": ("two, few, censored, counted values beside numbers", mixed, ()),
        "mixture-categories": ("categories beside numbers", mixed, (1, 3, 9)),
        "categories": ("categories only", [two, levels, four] * 2, range(6)),
        "counts": ("counts", [counted] * 7, ()),
        "rounded": ("rounded to whole numbers", [rounded] * 7, ()),
        "censored": ("40 % at the lowest value", [censored] * 7, ()),
        "heavy-tails": ("heavy tails", [heavy] * 7, ()),
    }
    for name, (title, observe, discrete) in trees.items():
        draw = partial(seeded, partial(tree, observe, discrete))
        yield Kind(name, title, len(observe), (250, 500), draw, bool(discrete))
    yield Kind("repeated-rows", "half of the rows are copies", 7, (500,), partial(seeded, repeated))
    yield Kind("wide-nonlinear", "nonlinear, 60 columns", 60, (500,), columns(nonlinear, 60))
    yield Kind("wide-gaussian", "Gaussian, 60 columns", 60, (500,), partial(seeded, wide_gaussian))
    for name, found in EXPERIMENTS.items():
        yield Kind(name, found.title, found.p, (125, 250, 500, 1000, 2000), partial(paper, name))


KINDS = {kind.name: kind for kind in kinds()}


def learned(kind: Kind, n: int, repetition: int, method: str) -> dict[str, object]:
    data, truth = kind.draw(n, repetition)
    seed = (PAPERS_SEED if kind.name in EXPERIMENTS else FIRST_SEED) + repetition
    found, seconds = timed(data, METHODS[method], seed)

    def pairs(edges: set[tuple[str, str]]) -> str:
        return " ".join(f"{a}-{b}" for a, b in sorted(edges))

    false, missed = set(found.edges) - set(truth.edges), set(truth.edges) - set(found.edges)
    cells = (kind.name, n, repetition, method, f"{seconds:.3f}", len(truth.edges), pairs(false), pairs(missed))
    return dict(zip(FIELDS, cells, strict=True))


def run(methods: Sequence[str], names: Sequence[str], sizes: Sequence[int], repetitions: int, seconds: float) -> None:
    begin = time.monotonic()
    done = set()
    if FILE.exists():
        with FILE.open(newline="", encoding="utf-8") as stream:
            done = {
                (row["data"], int(row["n"]), int(row["repetition"]), row["method"]) for row in csv.DictReader(stream)
            }
    tasks = [
        (kind, n, repetition, method)
        for repetition in range(repetitions)
        for kind in KINDS.values()
        for n in kind.sizes
        for method in methods
        if any(fnmatch.fnmatch(kind.name, name) for name in names)
        and n in sizes
        and not (kind.categories and method in NUMBERS_ONLY)
        and (kind.name, n, repetition, method) not in done
    ]
    with FILE.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for i, task in enumerate(tasks):
            if time.monotonic() - begin > seconds:
                raise SystemExit(f"{len(tasks) - i} of {len(tasks)} runs are left: give the same command again")
            writer.writerow(learned(*task))
            stream.flush()


def main() -> None:
    def parts(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", type=parts, default=list(METHODS))
    parser.add_argument("--data", type=parts, default=["*"], help="kinds of data; * stands for any characters")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in parts(text)], default=[125, 250, 500, 1000, 2000])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--seconds", type=float, default=np.inf)
    given = parser.parse_args()
    run(given.methods, given.data, given.sizes, given.repetitions, given.seconds)


if __name__ == "__main__":
    main()
