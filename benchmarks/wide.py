"""Wide tables: one target among many columns, how blankets grow, and tests that stop early.

    python benchmarks/wide.py targets --columns 4000 20000    # CPU seconds and memory of a process each
    python benchmarks/wide.py adjust --columns 20 60 120      # false and missed edges of each rule
    python benchmarks/wide.py adjust --columns 60 --tables 3 --specs iamb+knn-cmi "iamb+knn-cmi(k=10,alpha=0.01)"
    python benchmarks/wide.py bounds                          # false and missed edges with bounded conditioning sets
    python benchmarks/wide.py stopping                        # whole graphs, with all permutations and without

Times are user CPU seconds of one thread; what is compared takes turns. A number in brackets is a standard error.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

import numpy as np

import pyknnmi
from pyknnmi.simulate import random_gaussian, small_network
from pyknnmi.simulate.structural_equations import _network

EDGES = 1.3  # a column
BLANKETS = ("iamb", "iamb(max_conditioning=3)", "iamb(adjust=candidates)", "iamb(rule=or,adjust=candidates)")
STOPS = ("never", "sequential")


def learned(data, spec, **options):
    """Return a result, and the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    result = pyknnmi.learn(data, spec, threads=1, **options)
    return result, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before


def mean(values):
    """Return the mean in words, with its standard error."""
    return f"{np.mean(values):.2f} ({np.std(values, ddof=1) / np.sqrt(len(values)):.2f})"


def one_target(spec, rows, columns):
    """Print what one target among many columns takes; for a process of its own."""
    values = np.random.default_rng(1).standard_normal((rows, columns))
    values[:, 1] += 2 * values[:, 0]
    result, seconds = learned(values, spec, targets="X1")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{spec:<36} {columns:>6} columns: {result.counts['tests']} tests, {seconds:.1f} s, {memory:.0f} MB")


def targets(options):
    """One target: each size in a process of its own, since the memory of a process never shrinks."""
    for spec in ("iamb+fisher-z", "iamb(adjust=candidates)+fisher-z", "iamb+knn-cmi"):
        for columns in options.columns:
            call = f"import wide; wide.one_target({spec!r}, 200, {columns})"
            subprocess.run([sys.executable, "-c", call], check=True, cwd=sys.path[0])


def adjust(options):
    """False and missed edges of Gaussian tables, and false ones of independent columns."""
    for columns in options.columns:
        for spec in options.specs:
            rows = []
            for seed in range(1, options.tables + 1):
                probability = 2 * EDGES / (columns - 1)
                data, truth = random_gaussian(options.rows, columns, edge_probability=probability, seed=seed)
                result, seconds = learned(data, spec)
                graph = result.graph
                rows.append((graph.false_positives(truth), graph.false_negatives(truth), seconds))
            false, missed, times = np.array(rows).T
            print(f"p = {columns:<4} {spec:<42} false {mean(false)}, missed {mean(missed)}, {np.mean(times):.2f} s")


def bounds(options):
    """False and missed edges with bounded sets: of networks of seven columns side by side, and of Gaussian tables."""
    tables = (
        *(("nonlinear", 42, 300, 1), ("linear", 42, 300, 1), ("gaussian", 40, 300, 1), ("nonlinear", 42, 500, 2)),
        *(("nonlinear", 63, 300, 3), ("gaussian", 60, 300, 3)),
    )
    for kind, columns, rows, seed in tables:
        if kind == "gaussian":
            data, truth = random_gaussian(rows, columns, seed=seed)
        else:
            data, truth = _network(columns // 7, rows, "gaussian", kind == "linear", seed)
        for bound in (3, 4, 6, "none"):
            result, seconds = learned(data, f"iamb(max_conditioning={bound})+knn-cmi(stop=certain)", seed=1)
            false, missed = result.graph.false_positives(truth), result.graph.false_negatives(truth)
            print(f"{kind} {columns} columns, {rows} rows: {bound} gives {false} + {missed}, {seconds:.1f} s")


def stopping(options):
    """Whole graphs of the small networks: time and errors of a fixed number of permutations over those of fewer."""
    for rows in (125, 250, 500, 1000):
        ratios, worse, differ = [], [], 0
        for seed in range(1, options.tables + 1):
            noise = ("gaussian", "t", "uniform")[seed % 3]
            data, truth = small_network(rows, noise=noise, linear=seed % 2 == 0, seed=seed)
            found = [learned(data, f"iamb+knn-cmi(stop={stop})", seed=seed) for stop in STOPS]
            (fixed, all_of_them), (early, fewer) = found
            ratios.append(all_of_them / fewer)
            worse.append(early.graph.hamming(truth) - fixed.graph.hamming(truth))
            differ += early.graph != fixed.graph
        print(f"n = {rows:<5} time {mean(ratios)}, errors {mean(worse)} more, {differ} of {len(ratios)} graphs differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("targets", "adjust", "bounds", "stopping"))
    parser.add_argument("--columns", type=int, nargs="+", default=[20, 60])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--specs", nargs="+", default=[f"{blanket}+fisher-z" for blanket in BLANKETS])
    options = parser.parse_args()
    {"targets": targets, "adjust": adjust, "bounds": bounds, "stopping": stopping}[options.part](options)


if __name__ == "__main__":
    main()
