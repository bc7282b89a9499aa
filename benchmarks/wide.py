"""Wide tables: one target among many columns, how blankets grow, and tests that stop early.

    python benchmarks/wide.py targets --columns 4000 20000    # CPU seconds and memory of a process each
    python benchmarks/wide.py adjust --columns 20 60 120      # false and missed edges of each rule
    python benchmarks/wide.py adjust --columns 60 --kinds independent nonlinear --specs iamb+knn-cmi fdr+iamb+fisher-z
    python benchmarks/wide.py bounds                          # false and missed edges with bounded conditioning sets
    python benchmarks/wide.py stopping                        # whole graphs, with all permutations and without
    python benchmarks/wide.py stopping --pair iamb+residual-dependence paper            # or by any two specs
    python benchmarks/wide.py paper --tables 25 --seed 123456 # the same for the paper's experiments

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
STOPS = ("iamb+knn-cmi(stop=never)", "iamb+knn-cmi(stop=auto)")


def learned(data, spec, **options):
    """Return a result, and the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    result = pyknnmi.learn(data, spec, threads=1, **options)
    return result, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before


def mean(values, digits=2):
    """Return the mean in words, with its standard error."""
    return f"{np.mean(values):.{digits}f} ({np.std(values, ddof=1) / np.sqrt(len(values)):.{digits}f})"


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


def independent(rows, columns, seed):
    """Return columns without an edge."""
    values = np.random.default_rng(seed).standard_normal((rows, columns))
    return values, pyknnmi.Graph([f"X{j}" for j in range(1, columns + 1)], [])


def hubs(rows, columns, seed):
    """Return columns of which each tenth is correlated, by .6, with the nine that follow."""
    values, graph = independent(rows, columns, seed)
    edges = [(graph.names[j - j % 10], graph.names[j]) for j in range(columns) if j % 10]
    for j in range(columns):
        if j % 10:
            values[:, j] = 0.6 * values[:, j - j % 10] + 0.8 * values[:, j]
    return values, pyknnmi.Graph(graph.names, edges)


def gaussian(rows, columns, seed):
    """Return a Gaussian table of a random graph."""
    return random_gaussian(rows, columns, edge_probability=2 * EDGES / (columns - 1), seed=seed)


def cubed(rows, columns, seed):
    """Return the cubes of such a table."""
    data, graph = gaussian(rows, columns, seed)
    return data.values**3, pyknnmi.Graph([f"X{j}" for j in range(1, columns + 1)], graph.edges)


def nonlinear(rows, columns, seed):
    """Return small nonlinear networks of seven columns side by side."""
    return _network(round(columns / 7), rows, "gaussian", False, seed)


def linear(rows, columns, seed):
    """Return small linear networks of seven columns side by side."""
    return _network(round(columns / 7), rows, "gaussian", True, seed)


KINDS = {make.__name__: make for make in (gaussian, cubed, independent, nonlinear, linear, hubs)}


def adjust(options):
    """False and missed edges, and the share of the found edges that are false, of tables of each kind."""
    for kind in options.kinds:
        for columns in options.columns:
            tables = [KINDS[kind](options.rows, columns, options.seed + i) for i in range(options.tables)]
            found = {spec: [] for spec in options.specs}
            for seed, (data, truth) in enumerate(tables, start=options.seed):
                for spec in options.specs:
                    result, seconds = learned(data, spec, seed=seed)
                    false = result.graph.false_positives(truth)
                    share = false / max(len(result.graph.edges), 1)
                    found[spec].append((false, result.graph.false_negatives(truth), share, seconds))
            for spec, rows in found.items():
                false, missed, share, times = np.array(rows).T
                print(
                    f"{kind}, p = {columns:<4} {spec:<42} false {mean(false)}, missed {mean(missed)}, "
                    f"share of false edges {mean(share, 3)}, {np.mean(times):.2f} s",
                    flush=True,
                )


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
    """Whole graphs of the small networks: time of the first spec over that of the second, and errors of the second."""
    for rows in options.sizes:
        ratios, worse, differ = [], [], 0
        for seed in range(options.seed, options.seed + options.tables):
            noise = ("gaussian", "t", "uniform")[seed % 3]
            data, truth = small_network(rows, noise=noise, linear=seed % 2 == 0, seed=seed)
            (one, seconds), (other, seconds_of_other) = (learned(data, spec, seed=seed) for spec in options.pair)
            ratios.append(seconds / seconds_of_other)
            worse.append(other.graph.hamming(truth) - one.graph.hamming(truth))
            differ += other.graph != one.graph
        print(
            f"n = {rows:<5} time {mean(ratios)}, errors {mean(worse)} more, {differ} of {len(ratios)} graphs differ",
            flush=True,
        )


def paper(options):
    """Experiments by both specs: errors, edges that differ, and the work of the first over that of the second."""
    from pyknnmi_experiments import find_experiments

    for rows in options.sizes:
        graphs = []
        for experiment in find_experiments(options.experiments):
            first = len(graphs)
            for repetition in range(options.tables):
                data, truth = experiment.draw(options.seed, repetition)
                table = pyknnmi.Dataset(data.values[:rows], data.names)
                graphs.append(both(table, truth, options.pair, options.seed + repetition))
            print(f"n = {rows:<5} {experiment.name:<33} {compared(graphs[first:])}", flush=True)
        print(f"n = {rows:<5} {'all':<33} {compared(graphs)}", flush=True)


def both(table, truth, specs, seed):
    """Return what two specs make of a table: errors of each, edges in one graph only, and permutations and seconds."""
    turn = 1 if seed % 2 else -1
    (one, seconds), (other, seconds_of_other) = [learned(table, spec, seed=seed) for spec in specs[::turn]][::turn]
    differ = len(set(one.graph.edges) ^ set(other.graph.edges))
    permutations = one.counts["permutations"], other.counts["permutations"]
    return (one.graph.hamming(truth), other.graph.hamming(truth), differ, *permutations, seconds, seconds_of_other)


def compared(graphs):
    """Return in words how two specs compare in some graphs."""
    one, other, differ, *effort = np.array(graphs).T
    permutations, permutations_of_other, seconds, seconds_of_other = np.sum(effort, axis=1)
    return (
        f"errors {mean(one)} and {mean(other)}, {mean(other - one, 3)} more, {int(differ.sum())} edges differ in "
        f"{np.count_nonzero(differ)} of {len(graphs)} graphs, permutations {permutations / permutations_of_other:.2f}, "
        f"time {seconds / seconds_of_other:.2f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("targets", "adjust", "bounds", "stopping", "paper"))
    parser.add_argument("--columns", type=int, nargs="+", default=[20, 60])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the first table")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[125, 250, 500, 1000], help="rows, for `stopping` and `paper`"
    )
    parser.add_argument("--pair", nargs=2, default=STOPS, metavar="SPEC", help="for `stopping` and `paper`")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=["gaussian", "independent"])
    parser.add_argument("--specs", nargs="+", default=[f"{blanket}+fisher-z" for blanket in BLANKETS])
    parser.add_argument("--experiments", nargs="+", default=["*"], help="for `paper`: as in `pyknnmi experiment`")
    options = parser.parse_args()
    parts = (targets, adjust, bounds, stopping, paper)
    {part.__name__: part for part in parts}[options.part](options)


if __name__ == "__main__":
    main()
