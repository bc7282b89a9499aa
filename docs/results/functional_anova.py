"""Measures functional-anova where the paper's experiments do not: false edges, wide tables, real tables.

    python functional_anova.py false-edges [--graphs 30]
    python functional_anova.py stars, or chains [--graphs 10]
    python functional_anova.py wide [--columns 60] [--rows 500] [--graphs 5] [--specs "functional-anova;fast"]
    python functional_anova.py oracle [--columns 60] [--rows 500] [--graphs 12]
    python functional_anova.py hard [--graphs 10]
    python functional_anova.py level [--graphs 4]
    python functional_anova.py times [--graphs 5]
    python functional_anova.py real

Each prints rows of a Markdown table. Seconds are user CPU time on one thread. `real` needs scikit-learn. The
seeds are those of no run that a constant was chosen by.
"""

from __future__ import annotations

import argparse
import itertools
import resource

import numpy as np

import pyknnmi
from pyknnmi import Dataset, Graph

FIRST_SEED = 40_000


def independent(n, p, rng):
    return rng.standard_normal((n, p)), []


def chain(n, p, rng):
    """Each column a strong function of the one before."""
    x = rng.standard_normal((n, p))
    for j in range(1, p):
        x[:, j] = 1.5 * np.sin(1.5 * x[:, j - 1]) + 0.5 * x[:, j]
    return x, [(j - 1, j) for j in range(1, p)]


def star(n, p, rng):
    """One cause of all other columns, by different functions."""
    x = rng.standard_normal((n, p))
    functions = (np.sin, np.square, np.tanh, np.abs, lambda v: v, lambda v: np.cos(2 * v))
    for j in range(1, p):
        x[:, j] = 1.5 * functions[(j - 1) % len(functions)](x[:, 0]) + 0.5 * x[:, j]
    return x, [(0, j) for j in range(1, p)]


def star_of(cause, noise, functions):
    """One cause of as many columns as there are functions."""

    def made(n, p, rng):
        z = cause(rng, n)
        return np.column_stack([z, *[1.5 * f(z) + 0.5 * noise(rng, n) for f in functions]]), [
            (0, j + 1) for j in range(len(functions))
        ]

    return made


def normal(rng, n):
    return rng.standard_normal(n)


def heavy(rng, n):
    return rng.standard_t(3, n)


def flat(rng, n):
    return rng.uniform(-1.73, 1.73, n)


def right(rng, n):
    return rng.exponential(size=n)


def saw(x):
    return 2 * (x - np.floor(x)) - 1


STARS = {
    "fast waves": star_of(
        normal, normal, [lambda z: np.sin(3 * z), lambda z: np.cos(3 * z), lambda z: z * np.sin(2 * z)] * 2
    ),
    "steps": star_of(normal, normal, [np.sign, np.floor, lambda z: 1.5 * (z > 1), lambda z: np.sign(z) + z] * 2),
    "saw-teeth": star_of(
        normal, normal, [saw, lambda z: saw(z / 2), np.floor, lambda z: np.abs(z) < 0.7, lambda z: np.maximum(z, -1)]
    ),
    "polynomials": star_of(normal, flat, [lambda z: z**3 / 2, np.square, lambda z: z**3 - 2 * z, np.exp] * 2),
    "heavy cause": star_of(heavy, normal, [np.sin, np.tanh, np.abs, lambda z: np.cos(2 * z)] * 2),
    "heavy noise": star_of(normal, heavy, [np.sin, np.square, np.tanh, lambda z: np.cos(2 * z)] * 2),
    "flat cause": star_of(flat, heavy, [np.sin, np.square, lambda z: np.sin(3 * z), np.abs] * 2),
    "skewed cause": star_of(right, normal, [np.log, np.sqrt, lambda z: np.sin(2 * z), lambda z: 1 / (1 + z)] * 2),
}
for name, maker in STARS.items():
    maker.__name__ = f"star, {name}"


def chain_of(noise, function):
    def made(n, p, rng):
        x = np.column_stack([noise(rng, n) for _ in range(p)])
        for j in range(1, p):
            x[:, j] = 1.5 * function(x[:, j - 1]) + 0.5 * x[:, j]
        return x, [(j - 1, j) for j in range(1, p)]

    return made


CHAINS = {
    "hats": chain_of(normal, lambda x: 1 - np.abs(x)),
    "waves": chain_of(normal, lambda x: np.cos(2 * x)),
    "heavy": chain_of(heavy, np.tanh),
    "stairs": chain_of(normal, np.floor),
    "saw-teeth": chain_of(normal, lambda x: saw(x / 2)),
}
for name, maker in CHAINS.items():
    maker.__name__ = f"chain, {name}"


MORE = {"stars": STARS, "chains": CHAINS}


def gaussian(n, p, rng):
    """A random sparse precision matrix with 1.3 edges a column."""
    joined = np.triu(rng.random((p, p)) < 2.6 / p, 1)
    precision = 0.3 * (joined | joined.T)
    precision += np.eye(p) * (0.3 - np.linalg.eigvalsh(precision)[0])
    lower = np.linalg.cholesky(np.linalg.inv(precision))
    x = rng.standard_normal((n, p)) @ lower.T
    return x / x.std(axis=0), [(int(i), int(j)) for i, j in np.argwhere(joined)]


def cubed(n, p, rng):
    x, edges = gaussian(n, p, rng)
    return x**3, edges


def nonlinear(n, p, rng):
    """As many of the paper's nonlinear networks of seven columns as there is room for, and columns of noise."""
    columns, edges = [], []
    for first in range(0, p - 6, 7):
        data, truth = pyknnmi.simulate.small_network(n, seed=int(rng.integers(2**31)))
        columns.append(data.values)
        edges += [(first + data.column(a), first + data.column(b)) for a, b in truth.edges]
    rest = p - 7 * len(columns)
    return np.hstack([*columns, rng.standard_normal((n, rest))]), edges


def hub(n, p, rng):
    """The first column is a cause of the next twenty; the others are independent."""
    x = rng.standard_normal((n, p))
    x[:, 1:21] += 0.6 * x[:, :1]
    return x, [(0, j) for j in range(1, 21)]


def linear_chain(n, p, rng):
    x = rng.standard_normal((n, p))
    for j in range(1, p):
        x[:, j] = 0.8 * x[:, j - 1] + 0.6 * x[:, j]
    return x, [(j - 1, j) for j in range(1, p)]


def censored(n, p, rng):
    """The lowest 40 % of each column have one value."""
    x, edges = linear_chain(n, p, rng)
    return np.maximum(x, np.quantile(x, 0.4, axis=0)), edges


def rounded(n, p, rng):
    x, edges = linear_chain(n, p, rng)
    return np.round(x), edges


def heavy_tails(n, p, rng):
    x = rng.standard_t(2, (n, p))
    for j in range(1, p):
        x[:, j] += 0.7 * x[:, j - 1]
    return x, [(j - 1, j) for j in range(1, p)]


def counts(n, p, rng):
    x = rng.poisson(2.0, (n, p)).astype(float)
    for j in range(1, p):
        x[:, j] = rng.poisson(0.5 + 0.8 * x[:, j - 1])
    return x, [(j - 1, j) for j in range(1, p)]


HARD = [
    (hub, 40, 500),
    (hub, 40, 2000),
    (gaussian, 60, 50),
    (heavy_tails, 7, 500),
    (linear_chain, 5, 400),
    (censored, 5, 400),
    (rounded, 5, 400),
    (counts, 5, 400),
]


def table(make, n, p, seed):
    values, edges = make(n, p, np.random.default_rng(seed))
    names = tuple(f"X{j + 1}" for j in range(values.shape[1]))
    return Dataset(values, names), Graph(names, [(names[i], names[j]) for i, j in edges])


def timed(data, spec, seed=1):
    """The graph that a spec learns on one thread, and its user CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    found = pyknnmi.learn(data, spec, seed=seed, threads=1).graph
    return found, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before


def measured(spec, make, n, p, graphs):
    """False edges, missed edges and seconds of each graph, shape (graphs, 3)."""
    rows = []
    for seed in range(FIRST_SEED, FIRST_SEED + graphs):
        data, truth = table(make, n, p, seed)
        found, seconds = timed(data, spec)
        false, missed = set(found.edges) - set(truth.edges), set(truth.edges) - set(found.edges)
        rows.append((len(false), len(missed), seconds))
    return np.array(rows)


def likelihood_ratios(values, edges):
    """The log likelihood ratio of each pair of Gaussian columns, given the true neighbours of one of the two.

    Of both ways the one that says less, shape (p, p).
    """
    n, p = values.shape
    correlation = np.corrcoef(values.T)
    neighbors = [{k for edge in edges for k in edge if i in edge and k != i} for i in range(p)]
    ratios = np.zeros((p, p))
    for i, j in itertools.permutations(range(p), 2):
        columns = [i, j, *sorted(neighbors[i] - {j})]
        precision = np.linalg.inv(correlation[np.ix_(columns, columns)])
        ratios[i, j] = -n / 2 * np.log(1 - precision[0, 1] ** 2 / (precision[0, 0] * precision[1, 1]))
    return np.minimum(ratios, ratios.T)


def oracle(graphs, p, n):
    """Wrong pairs of functional-anova on Gaussian tables, and of who knows all other neighbours and the best bound."""
    row("data", "p", "n", "`functional-anova`", "`fast`", "oracle", "its bound, nats")
    row(*["---"] * 7)
    bounds = np.arange(3.0, 12.1, 0.5)
    wrong = []
    for seed in range(FIRST_SEED, FIRST_SEED + graphs):
        values, edges = gaussian(n, p, np.random.default_rng(seed))
        joined = np.zeros((p, p), dtype=bool)
        joined[tuple(np.transpose(edges))] = True
        seen = likelihood_ratios(values, edges)[..., None] > bounds
        of_oracle = (seen != joined[..., None])[np.triu_indices(p, 1)].sum(axis=0)
        data, truth = table(gaussian, n, p, seed)
        found = [timed(data, spec)[0].hamming(truth) for spec in ("functional-anova", "fast")]
        wrong.append([*found, *of_oracle])
    wrong = np.array(wrong)
    best = 2 + int(np.argmin(wrong[:, 2:].mean(axis=0)))
    row("gaussian", p, n, *[with_error(wrong[:, k]) for k in (0, 1, best)], bounds[best - 2])


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def level(graphs):
    """Shares of small p-values of smooth-gcm for pairs of effects, given their only cause."""
    row("cause and effects", "n", "p-values", "p < .05", "p < .01", "p < .001")
    row(*["---"] * 6)
    for make in (star, *STARS.values()):
        for n in (250, 500, 2000):
            p_values = []
            for seed in range(FIRST_SEED, FIRST_SEED + graphs):
                data, _ = table(make, n, 7, seed)
                test = pyknnmi.bind(data, "smooth-gcm")
                pairs = itertools.combinations(range(1, data.p), 2)
                p_values += [test.test(i, j, [0]).p_value for i, j in pairs]
            shares = [f"{np.mean(np.array(p_values) < bound):.3f}" for bound in (0.05, 0.01, 0.001)]
            row(make.__name__, n, len(p_values), *shares)


def with_error(values):
    return f"{values.mean():.2f} ({values.std() / np.sqrt(len(values)):.2f})"


def report(specs, cases, graphs):
    row("data", "p", "n", "spec", "false edges (SE)", "missed (SE)", "seconds")
    row(*["---"] * 7)
    for make, p, n in cases:
        for spec in specs:
            found = measured(spec, make, n, p, graphs)
            row(
                make.__name__,
                table(make, n, p, FIRST_SEED)[0].p,
                n,
                f"`{spec}`",
                with_error(found[:, 0]),
                with_error(found[:, 1]),
                f"{found[:, 2].mean():.2f}",
            )


def times(specs, graphs):
    """User CPU seconds of the specs, in turn on the same tables, and their ratio to the last spec's."""
    row("data", "p", "n", *[f"`{spec}`" for spec in specs], f"ratio to `{specs[-1]}` (smallest to largest)")
    row(*["---"] * (4 + len(specs)))
    for make, p, n in [(nonlinear, 7, 250), (nonlinear, 7, 1000), (gaussian, 7, 1000), (nonlinear, 14, 500)]:
        seconds = []
        for seed in range(FIRST_SEED - 1, FIRST_SEED + graphs):
            data, _ = table(make, n, p, seed)
            seconds.append([timed(data, spec)[1] for spec in specs])
        measured = np.array(seconds[1:])  # the first of all is slower
        ratios = measured[:, 0] / measured[:, -1]
        cells = [f"{mean:.2f}" for mean in measured.mean(axis=0)]
        row(make.__name__, p, n, *cells, f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})")


def stepwise(x, y, names):
    """Columns of a linear regression chosen by single steps forward and back, by the BIC."""

    def bic(columns):
        design = np.column_stack([np.ones(len(y)), x[:, sorted(columns)]])
        left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        return len(y) * np.log(left @ left / len(y)) + len(columns) * np.log(len(y))

    chosen = frozenset()
    while True:
        best = min([chosen ^ {j} for j in range(x.shape[1])], key=bic)
        if bic(best) >= bic(chosen):
            return [names[j] for j in sorted(chosen)]
        chosen = best


def real(specs):
    from sklearn import datasets
    from sklearn.linear_model import LassoCV

    row("table", "spec", "edges", "neighbours of `target`", "seconds")
    row(*["---"] * 5)
    for name in ("diabetes", "wine", "breast_cancer"):
        frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
        for spec in specs:
            graph, seconds = timed(frame, spec)
            neighbors = ", ".join(graph.neighbors("target"))
            row(f"{name} ({len(frame)} x {frame.shape[1]})", f"`{spec}`", len(graph.edges), neighbors, f"{seconds:.1f}")
        names = [column for column in frame if column != "target"]
        x, y = frame[names].to_numpy(float), frame["target"].to_numpy(float)
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        lasso = LassoCV(cv=10).fit(x, y).coef_
        row(name, "lasso, 10 folds", "", ", ".join(np.array(names)[lasso != 0]), "")
        row(name, "stepwise by BIC", "", ", ".join(stepwise(x, y, names)), "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("false-edges", *MORE, "wide", "oracle", "hard", "level", "times", "real"))
    parser.add_argument("--graphs", type=int, default=30)
    parser.add_argument("--columns", type=int, default=60)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--specs")
    given = parser.parse_args()
    specs = (given.specs or "functional-anova").split(";")
    if given.what == "real":
        real(specs)
    elif given.what == "wide":
        report(specs, [(make, given.columns, given.rows) for make in (gaussian, cubed, nonlinear)], given.graphs)
    elif given.what == "oracle":
        oracle(given.graphs, given.columns, given.rows)
    elif given.what == "level":
        level(given.graphs)
    elif given.what == "times":
        times((given.specs or "functional-anova;iamb+knn-cmi(stop=never)").split(";"), given.graphs)
    elif given.what == "hard":
        report(specs, HARD, given.graphs)
    elif given.what in MORE:
        report(specs, [(make, 7, n) for make in MORE[given.what].values() for n in (250, 500, 1000)], given.graphs)
    else:
        sizes = (250, 500, 1000)
        report(
            specs,
            [(make, 7, n) for make in (independent, chain, star) for n in sizes] + [(independent, 20, 500)],
            given.graphs,
        )


if __name__ == "__main__":
    main()
