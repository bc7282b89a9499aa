# ruff: noqa: T201 - what it measures it prints
"""Time each step against R's huge, in turn, on the same data.

Needs Rscript with the packages huge and jsonlite (Debian: r-cran-huge, r-cran-jsonlite).
Prints the median seconds of each step and how many times as long huge takes.

Usage: python against_huge.py [--rows 2000] [--columns 20] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pyknnmi_gaussian import (
    ebic_scores,
    graphical_lasso,
    graphical_lasso_path,
    log_likelihood,
    neighbourhood_graphs,
    neighbourhood_path,
    pearson_correlation,
    penalty_path,
    precision_graphs,
    random_rotations,
    rotation_penalty,
    standardize,
    stars,
)


def gaussian_data(rows: int, columns: int) -> np.ndarray:
    """Return data of a random graph with three neighbours a node, as huge.generator makes them."""
    rng = np.random.default_rng(1)
    edges = np.triu(rng.random((columns, columns)) < 3 / columns, k=1)
    precision = 0.3 * (edges + edges.T)
    precision += (0.2 - np.linalg.eigvalsh(precision)[0]) * np.eye(columns)
    return rng.multivariate_normal(np.zeros(columns), np.linalg.inv(precision), size=rows)


def seconds(call: Callable[[], object]) -> float:
    """Return the mean over as many calls as take a fifth of a second."""
    started = time.perf_counter()
    calls = 0
    while (taken := time.perf_counter() - started) < 0.2:
        call()
        calls += 1
    return taken / calls


def steps(data: np.ndarray) -> dict[str, float]:
    """Return the seconds of each step."""
    n, p = data.shape
    penalties = penalty_path(pearson_correlation(data))
    precisions = graphical_lasso_path(pearson_correlation(data), penalties)

    def glasso(rows: np.ndarray) -> np.ndarray:
        return precision_graphs(graphical_lasso_path(pearson_correlation(rows), penalties))

    def neighbourhood(rows: np.ndarray) -> np.ndarray:
        return neighbourhood_graphs(neighbourhood_path(pearson_correlation(rows), penalties), "or")

    def ric() -> None:
        penalty = rotation_penalty(standardize(data), random_rotations(n))
        graphical_lasso(pearson_correlation(data), penalty)

    def glasso_path() -> None:
        # huge returns the log-likelihoods with the path.
        correlation = pearson_correlation(data)
        log_likelihood(correlation, graphical_lasso_path(correlation, penalty_path(correlation)))

    def mb_path() -> None:
        penalty_path(pearson_correlation(data))
        neighbourhood(data)

    likelihoods = log_likelihood(pearson_correlation(data), precisions)
    edges = precision_graphs(precisions).sum(axis=(1, 2)) // 2

    def ebic() -> None:
        ebic_scores(likelihoods, edges, n=n, p=p).argmin()

    return {
        "glasso_path": seconds(glasso_path),
        "neighbourhood_path": seconds(mb_path),
        "glasso_stars": seconds(lambda: stars(data, glasso)),
        "neighbourhood_stars": seconds(lambda: stars(data, neighbourhood)),
        "ric": seconds(ric),
        "ebic": seconds(ebic),
    }


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    data = gaussian_data(arguments.rows, arguments.columns)
    script = Path(__file__).with_name("huge.R")
    runs: dict[str, list[dict[str, float]]] = {"pyknnmi": [], "huge": [], "huge_no_gc": []}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.csv"
        np.savetxt(file, data, delimiter=",")
        for _ in range(arguments.rounds):
            runs["pyknnmi"].append(steps(data))
            printed = subprocess.run(["Rscript", script, file], check=True, capture_output=True, text=True).stdout
            for program, taken in json.loads(printed).items():
                runs[program].append(taken)
    medians = {
        program: {step: statistics.median(run[step] for run in rounds) for step in rounds[0]}
        for program, rounds in runs.items()
    }
    print(f"n = {arguments.rows}, p = {arguments.columns}; medians of {arguments.rounds} rounds, seconds")
    print(f"{'step':20}{'pyknnmi':>10}{'huge':>10}{'no gc':>10}{'huge/ours':>12}{'no gc/ours':>12}")
    for step, ours in medians["pyknnmi"].items():
        huge, no_gc = medians["huge"][step], medians["huge_no_gc"][step]
        print(f"{step:20}{ours:10.4f}{huge:10.4f}{no_gc:10.4f}{huge / ours:12.1f}{no_gc / ours:12.2f}")


if __name__ == "__main__":
    main()
