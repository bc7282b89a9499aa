"""The product against values that other programs computed; ``data/README.md`` says which and how."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import ClassVar

import numpy as np
import pytest
import reference
from code_of_2018 import BoundKnnCMI2018, KnnCMI2018

from pyknnmi import Dataset, ci_test, conditional_mutual_information, entropy, learn, register_ci_test
from pyknnmi.builtin.nonparanormal import Nonparanormal
from pyknnmi.numbers import PartialCorrelations, fisher_z, permutation_test

CMI = reference.load("golden_cmi.json")
FISHER = reference.load("golden_fisherz.json")["tests"]
BLANKETS_2018 = reference.load("golden_iamb_fisher.json")
BLANKETS_BNLEARN = reference.load("golden_bnlearn_mb.json")
KNN_2018 = reference.load("golden_iamb_knn.json")
PERMUTATION = reference.load("golden_perm_bias.json")["permutation"]


def test_the_files_are_as_they_were_computed():
    """The sums are those of the originals, uncompressed."""
    sums = (reference.FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    expected = {name: digest for digest, name in (line.split("  ") for line in sums)}
    files = [file for file in reference.FOLDER.rglob("*") if ".json" in file.name or ".csv" in file.name]
    found = {
        file.relative_to(reference.FOLDER).as_posix().removesuffix(".gz"): sha256(reference.contents(file)).hexdigest()
        for file in files
    }
    assert found == expected


@pytest.mark.parametrize("case", CMI["cmi"], ids=lambda case: f"{case['file'][:-7]}-dz{case['dz']}-k{case['k']}")
def test_conditional_mutual_information(case):
    x, y, *z = reference.table(f"cmi/{case['file']}").values.T
    z = np.array(z[: case["dz"]]).T if case["dz"] else None
    found = conditional_mutual_information(x, y, z, case["k"], estimator="ksg")  # the formula of the originals, by name
    assert found == pytest.approx(case["orig"], abs=1e-12)


@pytest.mark.parametrize(
    "case", CMI["entropy"], ids=lambda case: f"{case['file'][:-7]}-columns{case['cols']}-k{case['k']}"
)
def test_entropy(case):
    points = reference.table(f"cmi/{case['file']}").values[:, case["cols"]]
    assert entropy(points, case["k"]) == pytest.approx(float(case["orig"]), abs=1e-12)


def chance_of_at_most(count, trials, p):
    """P(K <= count), K binomial."""
    return sum(math.comb(trials, i) * p**i * (1 - p) ** (trials - i) for i in range(count + 1))


@pytest.mark.parametrize(
    "case", PERMUTATION, ids=lambda case: f"{case['file']}-dz{case['dz']}-k{case['k']}-local{case['k_perm']}"
)
def test_permutation_test(case):
    x, y, *z = reference.table(f"cmi/{case['file']}.csv").values.T
    z = np.array(z[: case["dz"]]).T.reshape(len(x), -1)
    found = permutation_test(
        x[:, None], y[:, None], z, case["k"], permutations=2000, seed=1, neighbors=case["k_perm"] or 0
    )
    assert found.statistic == pytest.approx(case["est"], abs=1e-12)
    # the p-value there is of 200 other permutations: binomial
    count = round(case["p"] * 201) - 1
    assert chance_of_at_most(count, 200, found.p_value) > 1e-3
    assert chance_of_at_most(count - 1, 200, found.p_value) < 1 - 1e-3


def fisher_table(case):
    name = case["data"]
    return reference.table(f"cmi/{name[4:]}.csv" if name.startswith("cmi_") else f"inputs/{name}.csv")


@pytest.mark.parametrize("case", FISHER, ids=lambda case: f"{case['data']}-{case['x']}-{case['y']}-given-{case['z']}")
def test_fisher_z(case):
    data = fisher_table(case)
    found = ci_test(data, case["x"], case["y"], case["z"], "fisher-z")
    assert found.p_value == pytest.approx(case["p_fisherz_arctanh"], rel=1e-10, abs=1e-300)
    assert found.log_p_value == pytest.approx(case["log_p_fisherz"], rel=1e-10)
    assert found.statistic == pytest.approx(abs(case["z_stat"]), rel=1e-10)
    r = PartialCorrelations.of(data.values).between(case["x"], case["y"], case["z"]).r
    assert r == pytest.approx(case["r_ols_residuals"], abs=1e-12)
    assert fisher_z(r, case["n"] - len(case["z"]) - 3).p_value == pytest.approx(
        case["p_causallearn_fisherz"], abs=1e-10
    )


def numbered(result):
    """Blankets and edges by column numbers."""
    place = {name: i for i, name in enumerate(result.graph.names)}
    blankets = [[place[member] for member in result.blankets[name]] for name in result.graph.names]
    return blankets, [[place[a], place[b]] for a, b in result.graph.edges]


def input_table(name, variant=""):
    data = reference.table(f"inputs/{name}")
    return data.values**3 if variant.endswith("_cubed") else data.values


FISHER_RUNS = [
    (file, key) for file, runs in BLANKETS_2018.items() for key in runs if key.startswith("arctanh") and "|IAMB|" in key
]


@pytest.mark.parametrize("rule", ["and", "or"])
@pytest.mark.parametrize(("file", "key"), FISHER_RUNS)
def test_blankets_of_the_2018_learner_with_fisher_z(file, key, rule):
    expected = BLANKETS_2018[file][key]
    exhaustive = "true" if "|UG" in key else "false"
    result = learn(input_table(file, key), f"iamb(rule={rule},exhaustive={exhaustive})+fisher-z")
    blankets, edges = numbered(result)
    assert blankets == expected["MB"]
    assert edges == expected[rule.upper()]
    if key.startswith("arctanh_sf"):
        assert result.counts["tests"] == expected["n_tests"]
    else:
        # p-values of 2 (1 - cdf) are zero for strong candidates; those tie there, and the first is not the best
        assert result.counts["tests"] <= expected["n_tests"]


@pytest.mark.parametrize("file", BLANKETS_BNLEARN)
def test_blankets_of_bnlearn(file):
    blankets, _ = numbered(learn(input_table(file), "iamb+fisher-z"))
    assert blankets == BLANKETS_BNLEARN[file]["iamb"]


@pytest.mark.parametrize("key", KNN_2018)
def test_knn_tests_of_the_2018_learner(registry, key):
    """With its answers we put its questions in its order, and our own answers could have been the same."""
    file, rows, k, scheme, _, mode = key.split("|")
    stored = iter(KNN_2018[key]["tests"])

    class BoundFollower(BoundKnnCMI2018):
        def decide(self, x, y, z):
            answer, expected = super().decide(x, y, z), next(stored)
            assert ({x, y}, set(z)) == (set(expected["xy"]), set(expected["z"]))
            assert answer.statistic == pytest.approx(expected["est"], abs=1e-12)
            if answer.decided_by == "correlation":
                assert answer.independent == expected["indep"]
            assert could_be(answer.p_value, expected["indep"]), expected
            return replace(answer, independent=expected["indep"])

    @register_ci_test
    @dataclass(frozen=True, kw_only=True)
    class Follower(KnnCMI2018):
        name: ClassVar[str] = "follower"

        def bind(self, dataset, run):
            return BoundFollower(self, dataset, run)

    neighbors = 5 if scheme == "local5" else 0
    exhaustive = "true" if mode == "UG" else "false"
    test = f"follower(k={k[1:]},permutations={PERMUTATIONS},neighbors={neighbors})"
    result = learn(input_table(file)[: int(rows[1:])], f"iamb(exhaustive={exhaustive})+{test}")
    blankets, edges = numbered(result)
    assert (blankets, edges) == (KNN_2018[key]["MB"], KNN_2018[key]["AND"])
    assert not list(stored)


PERMUTATIONS = 2000


def could_be(p_value, independent):
    """Whether a test of 200 permutations could decide so, where ten times as many gave this p-value."""
    error = 3 * math.sqrt(p_value * (1 - p_value) / PERMUTATIONS)
    if independent:
        return 1 - chance_of_at_most(9, 200, min(1.0, p_value + error)) > 1e-2
    return chance_of_at_most(9, 200, max(0.0, p_value - error)) > 1e-2  # (9 + 1) / 201 < 0.05


@pytest.mark.parametrize("method", ["shrunken", "truncated"])
@pytest.mark.parametrize(
    "name",
    [
        "nonlin_t",
        "nonlin_gaussian",
        "nonlin_uniform",
        "lin_gaussian",
        "lin_t",
        "huge_random_d20",
        "huge_random_d20_cubed",
        "gwg_mixture_p8",
    ],
)
def test_nonparanormal_of_huge(name, method):
    word = {"shrunken": "shrinkage", "truncated": "truncation"}[method]
    values = input_table(f"{name.removesuffix('_cubed')}_n500.csv", name)
    found = Nonparanormal(method=method).apply(Dataset.of(values))
    expected = reference.table(f"huge/{name}_npn_{word}.csv")
    assert found.names == expected.names
    assert np.abs(found.values - expected.values).max() < 1e-9  # written with ten digits
