"""Any test's statistic among those of synthetic nulls."""

from __future__ import annotations

import numpy as np
import pytest

from pyknnmi import Pipeline, PyknnmiWarning, Run, SpecError, ci_test, learn, parse_test, simulate
from pyknnmi.builtin.calibrated import Calibrated
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.knn_cmi import KnnCMI
from pyknnmi.calibration import SyntheticNull
from pyknnmi.components import Dataset


def effect_of_three(seed, n=100):
    random = np.random.default_rng(seed)
    z = random.standard_normal((n, 3))
    x, y = z.sum(axis=1) + 0.5 * random.standard_normal((2, n))
    return np.column_stack([x, y, z])


def test_makes_knn_cmi_keep_its_level():
    # Of 20 tables a test at level .05 rejects more than 5 with probability .0003; knn-cmi rejects most of them.
    spec = "calibrated(test=knn-cmi(screen=none))"
    rejected = [
        not ci_test(effect_of_three(seed, 80), 0, 1, [2, 3, 4], spec, seed=seed).independent for seed in range(20)
    ]
    assert sum(rejected) <= 5


def test_sees_dependence():
    table = effect_of_three(0)
    table[:, 1] += table[:, 0] - table[:, 2:].sum(axis=1)
    assert ci_test(table, 0, 1, [2, 3, 4], "calibrated(draws=39)").p_value == 1 / 40


def test_the_p_value_counts_draws_that_reach_the_statistic():
    data = Dataset.of(effect_of_three(1, n=50), names=["x", "y", "z1", "z2", "z3"])
    found = Calibrated(test=FisherZ(), draws=20).bind(data, Run(seed=5)).test(0, 1, (2, 3, 4))
    random = Run(seed=5).generator("x", "y", ["z1", "z2", "z3"])
    null = SyntheticNull(data.select([0, 2, 3, 4, 1]), [1, 2, 3], random)

    def correlation(y):
        table = np.column_stack([data.values[:, 0], y, data.values[:, 2:]])
        inverse = np.linalg.inv(np.corrcoef(table.T))
        return abs(inverse[0, 1]) / np.sqrt(inverse[0, 0] * inverse[1, 1])

    observed = correlation(data.values[:, 1])
    count = sum(correlation(null.draw(4, random)) >= observed for _ in range(20))
    assert found.p_value == (count + 1) / 21
    assert found.statistic == pytest.approx(observed)


def test_a_component_is_a_value():
    test = parse_test("calibrated(test=knn-cmi(k=5),draws=19)")
    assert test == Calibrated(test=KnnCMI(k=5), draws=19)
    assert parse_test(str(test)) == test
    assert parse_test("calibrated(test=fisher-z)").test == FisherZ()
    assert str(Pipeline.parse("iamb+calibrated(test=fisher-z)")).endswith(
        "+calibrated(test=fisher-z(alpha=0.05,correlation=pearson),draws=99,alpha=0.05,resolution=none)"
    )


@pytest.mark.parametrize(
    ("spec", "problem", "place"),
    [
        ("iamb+calibrated(test=knn-cmi(j=5))", "knn-cmi has no parameter 'j'", "j=5"),
        ("iamb+calibrated(test=knn-cm)", "there is no component 'knn-cm'", "test="),
        ("iamb+calibrated(test=iamb(rule=or))", "test takes a test, and 'iamb' is a learner", "iamb(rule"),
        ("iamb+calibrated(test=3)", "must be a component, a test", "test="),
        ("iamb+knn-cmi(k=fisher-z(alpha=0.1))", "k = fisher-z(alpha=0.1) must be a whole number", "k="),
        ("iamb+calibrated(test=knn-cmi(k=5)", "expected ',' or ')'", ""),
    ],
)
def test_errors_mark_the_place(spec, problem, place):
    with pytest.raises(SpecError) as caught:
        Pipeline.parse(spec)
    assert problem in caught.value.problem
    assert caught.value.position == (spec.index(place) if place else len(spec))


def test_more_draws_for_a_smaller_level():
    data, _ = simulate.small_network(60, seed=1)
    bound = Calibrated(test=FisherZ(), draws=39).bind(Dataset.of(data), Run())
    assert bound.test_at(4, 5, (), 0.01).permutations == 200


def test_too_few_draws_are_reported():
    data, _ = simulate.small_network(50, seed=1)
    with pytest.warns(PyknnmiWarning, match="with 9 draws no p-value is below alpha"):
        learn(data, "pairwise+calibrated(test=fisher-z,draws=9)", targets=None)


def test_the_test_on_synthetic_columns_does_not_warn_again():
    random = np.random.default_rng(0)
    table = np.where(random.uniform(size=(60, 3)) < 0.7, 0, random.standard_normal((60, 3)))
    with pytest.warns(PyknnmiWarning, match="many rows share a value"):
        result = learn(table, "pairwise+calibrated(draws=20)")
    (warning,) = result.warnings
    assert all(f"'{name}'" in warning for name in ("X1", "X2", "X3"))


def test_resolution_draws_until_enough_reached_the_statistic():
    """The draws are the first of those that a fixed number makes, and the p-value counts them."""
    data, _ = simulate.small_network(60, seed=1)
    for pair, most in (((4, 5), 1999), ((0, 6), 500)):
        found = Calibrated(test=FisherZ(), resolution=1 / 2000).bind(data, Run()).test(*pair, ())
        fixed = Calibrated(test=FisherZ(), draws=found.permutations).bind(data, Run()).test(*pair, ())
        assert found.p_value == fixed.p_value
        assert found.permutations <= most
        assert found.permutations == 1999 or found.p_value * (found.permutations + 1) > 25
