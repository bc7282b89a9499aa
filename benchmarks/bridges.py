"""CPU time of one graph of 7 columns by other packages with our tests, as a ratio to pc-stable with the same test.

And that of our IAMB with the tests of other packages, as a ratio to IAMB with fisher-z. Packages that are not installed
are left out: ``make bridges`` makes environments that have them.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import pyknnmi

DATA, _ = pyknnmi.simulate.small_network(300, seed=4)
ROUNDS = 3

Search = Callable[[], object]


def searches(test: str) -> Iterator[tuple[str, Search]]:
    """Yield the searches of other packages with a test of ours."""
    if _has("sklearn"):
        from pyknnmi.sklearn import MarkovNetwork

        yield "MarkovNetwork for scikit-learn", lambda: MarkovNetwork(f"pc-stable+{test}", threads=1).fit(DATA.values)
    if _has("causallearn"):
        from pyknnmi.bridges import causal_learn

        yield "PC of causal-learn", lambda: causal_learn.pc(DATA, test, threads=1)
        yield "FCI of causal-learn", lambda: causal_learn.fci(DATA, test, threads=1)
    if _has("pgmpy"):
        from pyknnmi.bridges import pgmpy

        yield "PC of pgmpy", lambda: pgmpy.pc(DATA, test, threads=1)
    if _has("dowhy"):
        import networkx as nx
        import pandas as pd

        from pyknnmi.bridges import dowhy

        frame = pd.DataFrame(DATA.values, columns=DATA.names)
        chain = nx.DiGraph([*zip(DATA.names, DATA.names[1:], strict=False)])
        yield (
            "falsify_graph of DoWhy, 20 permutations",
            lambda: dowhy.falsify_graph(chain, frame, test, n_permutations=20, n_jobs=1),
        )
    if _has("tigramite"):
        from pyknnmi_tigramite import TigramiteTest
        from tigramite.data_processing import DataFrame
        from tigramite.pcmci import PCMCI

        series = DataFrame(DATA.values)
        yield (
            "PCMCI of tigramite, tau_max=1",
            lambda: PCMCI(series, TigramiteTest(test, threads=1)).run_pcmci(tau_max=1, pc_alpha=0.05),
        )


def main() -> None:
    """Print a ratio a line."""
    warnings.simplefilter("ignore")
    for test in ("fisher-z", "knn-cmi"):
        for name, search in searches(test):
            print(f"{name} with {test}: {ratio(search, partial(_learn, f'pc-stable+{test}')):.1f}")
    for package, test in (
        ("causallearn", "causal-learn(test=fisherz)"),
        ("pgmpy", "pgmpy(test=pearsonr)"),
        ("dowhy", "dowhy(test=regression)"),
        ("pyknnmi_tigramite", "tigramite(test=parcorr)"),
    ):
        if _has(package):
            print(f"iamb+{test}: {ratio(partial(_learn, f'iamb+{test}'), partial(_learn, 'iamb+fisher-z')):.1f}")


def ratio(search: Search, reference: Search) -> float:
    """Return the median ratio of CPU times, taken in turn; what comes before the first round is not counted."""
    return statistics.median([_time(search) / _time(reference) for _ in range(ROUNDS + 1)][1:])


def _time(search: Search) -> float:
    start = time.process_time()
    search()
    return time.process_time() - start


def _learn(spec: str) -> object:
    return pyknnmi.learn(DATA, spec, threads=1)


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


if __name__ == "__main__":
    main()
