"""How the time of `learn` grows with rows, columns and conditioning: exponents with standard errors.

Run ``python benchmarks/scaling.py``; it takes about a minute on one core. Data are random Gaussian graphs of two edges
a column. Times are user CPU seconds of one thread; each round measures every size once, in turn. An exponent is the
slope of log time against log size over all rounds.
"""

from __future__ import annotations

import resource

import numpy as np

import pyknnmi
from pyknnmi.simulate import random_gaussian

ROUNDS = 3
SWEEPS = {
    "iamb+fisher-z": {"columns": (500, (40, 80, 160)), "rows": (30, (500, 2000, 8000))},
    "iamb(adjust=candidates)+fisher-z": {"columns": (500, (40, 80, 160, 320))},
    "iamb+knn-cmi(stop=never)": {"columns": (150, (8, 16, 32)), "rows": (6, (200, 400, 800))},
}


def seconds(spec, n, p, seed):
    data, _ = random_gaussian(n, p, edge_probability=min(1.0, 4 / (p - 1)), seed=seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    tests = pyknnmi.learn(data, spec, threads=1).counts["tests"]
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before, tests


def slope(sizes, values):
    """Return the slope of log values against log sizes, and its standard error."""
    x, y = np.log(sizes), np.log(values)
    x = x - x.mean()
    b = (x @ (y - y.mean())) / (x @ x)
    residuals = y - y.mean() - b * x
    return b, float(np.sqrt(residuals @ residuals / max(1, len(x) - 2) / (x @ x)))


def main():
    for spec, sweeps in SWEEPS.items():
        for what, (fixed, sizes) in sweeps.items():
            found = []
            for seed in range(ROUNDS):
                for size in sizes:
                    n, p = (fixed, size) if what == "columns" else (size, fixed)
                    found.append((size, *seconds(spec, n, p, seed)))
            at, times, tests = (np.array(values, dtype=float) for values in zip(*found, strict=True))
            (b, error), (c, c_error) = slope(at, times), slope(at, tests)
            last = np.median(times[at == sizes[-1]])
            print(
                f"{spec:<34} {what:<8} {sizes[0]}-{sizes[-1]}: time^{b:.2f} ({error:.2f}), tests^{c:.2f} "
                f"({c_error:.2f}), {last:.2f} s at {sizes[-1]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
