"""Tables as people have them: level, and power beside the better of the fixed estimators.

The bound of a level is three standard errors above 0.05. All estimators see the same tables, so what `auto` may find
less is three standard errors of a difference in which a tenth of the decisions differ.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from pyknnmi import Dataset, PyknnmiWarning, ci_test, learn

KINDS = {
    "continuous": lambda u, random: u,
    "a detection limit at 45 %": lambda u, random: np.maximum(u, np.quantile(u, 0.45)),
    "clipped at both ends": lambda u, random: np.clip(u, np.quantile(u, 0.3), np.quantile(u, 0.7)),
    "a filler outside": lambda u, random: np.where(random.random(len(u)) < 0.3, 4.0, u),
    "zero or lognormal": lambda u, random: np.where(u < np.quantile(u, 0.5), 0, np.exp(1.5 * u)),
    "counts": lambda u, random: random.poisson(np.exp(0.5 + 0.6 * u)).astype(float),
    "heaped": lambda u, random: np.where(
        random.random(len(u)) < 0.6, 10 * np.round(3.5 + 1.4 * u), np.round(35 + 14 * u)
    ),
    "one digit": lambda u, random: np.round(u, 1),
    "two digits": lambda u, random: np.round(u, 2),
}


def table(kinds, effect, seed, rows):
    """x and y depend on the sum of all z, and y on x; each column is then made of its kind."""
    random = np.random.default_rng([seed, rows, len(kinds)])
    x, y, *z = random.standard_normal((len(kinds), rows))
    common = 0.4 * sum(z) / math.sqrt(len(z)) if z else 0.0
    y = effect * x + math.sqrt(1 - effect**2) * y
    return np.column_stack(
        [KINDS[kind](u, random) for kind, u in zip(kinds, [x + common, y + common, *z], strict=True)]
    )


def found(kinds, effect, draws, rows, estimator="auto"):
    test = f"knn-cmi(permutations=39,estimator={estimator})"
    return sum(
        not ci_test(
            table(kinds, effect, seed, rows), 0, 1, range(2, len(kinds)), test, seed=seed, threads=1
        ).independent
        for seed in range(draws)
    )


def check(kinds, draws, rows):
    assert found(kinds, 0.0, draws, rows) <= 0.05 * draws + 3.1 * math.sqrt(0.0475 * draws)
    best = max(found(kinds, 0.5, draws, rows, estimator) for estimator in ("ksg", "mixed"))
    assert found(kinds, 0.5, draws, rows) >= best - 3 * math.sqrt(0.1 * draws)
    assert best >= draws / 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "kinds",
    [
        ("a detection limit at 45 %", "a detection limit at 45 %"),
        ("counts", "continuous", "heaped"),
        ("continuous", "continuous", "a filler outside"),
        ("one digit", "zero or lognormal", "continuous"),
    ],
)
def test_mixtures_of_kinds(kinds):
    check(kinds, 30, 120)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_given_one_of_it(kind):
    check((kind,) * 3, 40, 200)


@pytest.mark.parametrize(("effect", "least", "most"), [(0.0, 0, 6), (0.9, 36, 40)])
def test_numbers_given_a_number_and_a_category(effect, least, most):
    """The category shifts x and y by up to three deviations."""
    count = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        label, z, (x, y) = random.integers(0, 4, 200), random.standard_normal(200), random.standard_normal((2, 200))
        common = label - 1.5 + 0.5 * z
        values = np.column_stack([x + common, y + effect * x + common, label, z])
        data = Dataset(values, ("x", "y", "label", "z"), ("continuous", "continuous", "discrete", "continuous"))
        count += not ci_test(data, 0, 1, [2, 3], "knn-cmi(permutations=39)", seed=seed, threads=1).independent
    assert least <= count <= most


def test_ties_are_warned_of_once_where_questions_have_other_rows():
    values = np.random.default_rng(1).standard_normal((60, 3))
    values[:, 0] = np.where(np.arange(60) < 50, np.arange(60) % 6, np.arange(60))
    values[:7, 1] = np.nan  # some questions have 60 rows, some 53
    spec = "iamb+knn-cmi(permutations=20)"
    with pytest.warns(PyknnmiWarning) as caught:
        learn(values, spec, missing="drop-per-test")
    assert ["share a value" in str(found.message) for found in caught].count(True) == 1


def test_ties_of_a_column_are_warned_of_once_by_all_processes():
    random = np.random.default_rng(0)
    values = random.poisson(0.7, (60, 4)).astype(float)
    values[random.random(values.shape) < 0.03] = np.nan  # so that each question has rows of its own
    with pytest.warns(PyknnmiWarning) as caught:
        result = learn(values, "iamb+knn-cmi(permutations=20)", missing="drop-per-test", jobs=2, threads=2)
    told = [str(found.message) for found in caught if "share a value" in str(found.message)]
    named = [set(re.findall(r"'(X\d)'", text)) for text in told]
    assert set().union(*named) == {"X1", "X2", "X3", "X4"}
    assert all(names - set().union(*named[:at]) for at, names in enumerate(named))  # each says something new
    assert set(told) <= set(result.warnings)


def test_ties_of_a_column_are_warned_of_once_whatever_it_is_with():
    values = np.random.default_rng(1).standard_normal((60, 5))
    values[:, :4] = np.round(values[:, :4])
    values[:7, 4] = np.nan
    with pytest.warns(PyknnmiWarning) as caught:
        learn(values, "pairwise+knn-cmi(permutations=20)", missing="drop-per-test", threads=1)
    told = [str(found.message) for found in caught if "share a value" in str(found.message)]
    assert sorted(name for text in told for name in re.findall(r"'(X\d)'", text)) == ["X1", "X2", "X3", "X4"]
