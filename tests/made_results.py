"""Results for the tests of plots and reports, made by hand or learned in a moment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

import pyknnmi
from pyknnmi import CIResult, Constraints, Graph, LearnResult, PairEvidence
from pyknnmi.learning.result import Side

HOSTILE = (
    "<script>document.title = 'taken'</script>",
    "</script><img src=x onerror=\"document.title = 'taken'\">",
    "\"double\" & 'single'",
    "مرحبا بالعالم",
    "🙂 two words",
    "a" * 300,
    "$x^2$ \\alpha",
    "line\nbreak\tand tab",
)


def hostile_result():
    """A result of a chain of columns with hostile names."""
    values = np.random.default_rng(0).normal(size=(200, len(HOSTILE)))
    for i in range(1, len(HOSTILE)):
        values[:, i] += values[:, i - 1]
    return pyknnmi.learn(pd.DataFrame(values, columns=list(HOSTILE)), "iamb+fisher-z")


def answer(statistic, p_value, decided_by="normal", n=100):
    return CIResult(statistic=statistic, p_value=p_value, independent=p_value >= 0.05, n=n, decided_by=decided_by)


def early_answer(statistic, reached, made=79, permutations=200):
    """The answer of a test that ended after `made` permutations, of which so many reached the statistic."""
    left = permutations - made
    return replace(
        answer(statistic, (reached + 1) / (made + 1), "permutations"),
        permutations=made,
        p_value_bounds=((reached + 1) / (permutations + 1), (reached + left + 1) / (permutations + 1)),
        anytime_p_value=1.0,
    )


def rough_result():
    """A result with an edge and a pair of tests that ended early, and an edge of one that made all permutations."""
    whole = replace(answer(0.02, 4 / 201, "permutations"), permutations=200)
    return made(
        {
            "ab": (True, "c", early_answer(0.5, 0)),
            "ac": (True, "", whole),
            "bc": (False, "", early_answer(0.01, 19)),
        },
        {},
        spec="pairwise+knn-cmi(alpha=0.05)",
        names="abc",
    )


def sides(a, b, blankets, given, found):
    """Return both sides of a pair; a side that kept the other did so by a small p-value."""
    kept = answer(3.0, 0.003)
    if found.decided_by in ("required", "forbidden"):
        return ()
    return tuple(
        Side(target, other, other in blankets[target], given, kept if other in blankets[target] else found)
        for target, other in ((a, b), (b, a))
        if target in blankets
    )


def made(evidence, blankets, spec="iamb(rule=and)+fisher-z(alpha=0.05)", names="abcde", **more):
    """Return a result of pairs, each with (edge, given, answer)."""
    rows = tuple(
        PairEvidence(a, b, edge, tuple(given), found, sides(a, b, blankets, tuple(given), found))
        for (a, b), (edge, given, found) in evidence.items()
    )
    return LearnResult(
        graph=Graph(names, [(row.source, row.target) for row in rows if row.edge]),
        blankets={name: tuple(blanket) for name, blanket in blankets.items()},
        evidence=rows,
        spec=spec,
        seed=1,
        data_sha256="0" * 64,
        shape=(100, len(names)),
        constant_columns=more.pop("constant_columns", ()),
        counts={"tests": 9, "permutations": 0, "scored": 3},
        seconds=0.1,
        versions={"pyknnmi": "0"},
        constraints=more.pop("constraints", Constraints()),
        **more,
    )


def mixed_result():
    """A result with an edge, a pair lost by the AND rule, a required and a forbidden pair, and two plain misses."""
    return made(
        {
            "ab": (True, "", answer(9.0, 1e-9)),
            "ac": (False, "b", answer(1.9, 0.06)),
            "ad": (True, "", answer(0.0, 0.0, "required")),
            "ae": (False, "", answer(0.0, 1.0, "forbidden")),
            "bc": (True, "a", answer(2.1, 0.04)),
            "bd": (False, "ac", answer(0.2, 0.8, "screen")),
        },
        {"a": "bcd", "b": "ac", "c": "b", "d": "a", "e": ""},
        constraints=Constraints(required=(("a", "d"),), forbidden=(("a", "e"),)),
    )
