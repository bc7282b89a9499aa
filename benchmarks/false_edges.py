"""False and missed edges where a strong common cause, or a strong chain, makes columns look dependent that are not.

    python benchmarks/false_edges.py --rows 250 500 1000 --graphs 12
    python benchmarks/false_edges.py --specs iamb+knn-cmi functional-anova

Prints one row a network, number of rows and spec, as Markdown: means a graph, with the standard error of the first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

import pyknnmi

Table = NDArray[np.float64]

NAMES = [f"X{j}" for j in range(1, 8)]
STAR = pyknnmi.Graph(NAMES, [(NAMES[0], name) for name in NAMES[1:]])
CHAIN = pyknnmi.Graph(NAMES, pairwise(NAMES))

SPECS = ["iamb+residual-dependence", "iamb(adjust=candidates)+residual-dependence"]
FUNCTIONS: tuple[Callable[[Table], Table], ...] = (
    np.sin,
    np.square,
    np.tanh,
    np.abs,
    lambda cause: cause,
    lambda cause: np.cos(2 * cause),
)


def star(n: int, random: np.random.Generator) -> tuple[Table, pyknnmi.Graph]:
    """Six columns are one cause and noise of three tenths of its size."""
    cause = random.standard_normal(n)
    return np.column_stack([cause, *(cause + 0.3 * random.standard_normal(n) for _ in range(6))]), STAR


def curved_star(n: int, random: np.random.Generator) -> tuple[Table, pyknnmi.Graph]:
    """Six columns are different functions of one cause, and noise of a third of their size."""
    x = random.standard_normal((n, 7))
    for j, function in enumerate(FUNCTIONS, start=1):
        x[:, j] = 1.5 * function(x[:, 0]) + 0.5 * x[:, j]
    return x, STAR


def chain(n: int, random: np.random.Generator) -> tuple[Table, pyknnmi.Graph]:
    """Each column is a strong function of the one before."""
    x = random.standard_normal((n, 7))
    for j in range(1, 7):
        x[:, j] = 1.5 * np.sin(1.5 * x[:, j - 1]) + 0.5 * x[:, j]
    return x, CHAIN


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[250, 500, 1000])
    parser.add_argument("--graphs", type=int, default=12)
    parser.add_argument("--specs", nargs="+", default=SPECS)
    arguments = parser.parse_args()
    print("| network | n | spec | false (SE) | missed |\n|---|--:|---|--:|--:|")
    for make in (star, curved_star, chain):
        for n in arguments.rows:
            tables = [make(n, np.random.default_rng([5, seed, n])) for seed in range(arguments.graphs)]
            for spec in arguments.specs:
                false, missed = [], []
                for seed, (table, truth) in enumerate(tables):
                    graph = pyknnmi.learn(table, spec, seed=seed, threads=1).graph
                    false.append(graph.false_positives(truth))
                    missed.append(graph.false_negatives(truth))
                error = np.std(false, ddof=1) / np.sqrt(len(false)) if len(false) > 1 else np.nan
                means = f"{np.mean(false):.2f} ({error:.2f}) | {np.mean(missed):.2f}"
                print(f"| {make.__name__.replace('_', ' ')} | {n} | `{spec}` | {means} |", flush=True)


if __name__ == "__main__":
    main()
