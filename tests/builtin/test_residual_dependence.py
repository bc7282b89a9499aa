"""The test of dependence between residuals."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from pyknnmi import ci_test, learn, simulate
from pyknnmi.builtin.residual_dependence import ResidualDependence
from pyknnmi.components import DataError, Dataset, PyknnmiWarning, Run
from pyknnmi.numbers import mutual_information, standardized, swapped_rows

NORMAL = NormalDist()


def generator(seed):
    return np.random.default_rng(seed)


def rejections(make, runs, n, spec="residual-dependence(permutations=99)"):
    """How often x and y are called dependent given all other columns."""
    found = 0
    for seed in range(runs):
        columns = make(generator(seed), n)
        table = np.column_stack(columns)
        found += not ci_test(table, 0, 1, range(2, table.shape[1]), spec, seed=seed).independent
    return found


def effect_of_three(random, n):
    z = random.standard_normal((n, 3))
    x, y = z.sum(axis=1) + 0.5 * random.standard_normal((2, n))
    return x, y, z


def effect_of_product(random, n):
    z = random.standard_normal((n, 2))
    x, y = z[:, 0] * z[:, 1] + 0.3 * random.standard_normal((2, n))
    return x, y, z


def cosine_and_square(random, n):
    z = random.standard_normal(n)
    e = 0.3 * random.standard_normal((2, n))
    return np.cos(2 * z) + e[0], z**2 + e[1], z


def shared_scale(random, n):
    z = random.standard_normal(n)
    x, y = z + np.abs(z) * random.standard_normal((2, n))
    return x, y, z


def exponentials(random, n):
    z = random.standard_normal((n, 2))
    x, y = np.exp(z.sum(axis=1) + 0.5 * random.standard_normal((2, n)))
    return x, y, z


def counts(random, n):
    z = random.standard_normal((n, 3))
    x, y = random.poisson(np.exp(0.4 * z.sum(axis=1)), (2, n)).astype(float)
    return x, y, z


def two_values(random, n):
    z = random.standard_normal((n, 3))
    x, y = (random.uniform(size=(2, n)) < 1 / (1 + np.exp(-z.sum(axis=1)))).astype(float)
    return x, y, z


def censored(random, n):
    z = random.standard_normal(n)
    x, y = np.maximum(z + 0.5 * random.standard_normal((2, n)), 0)
    return x, y, z


def strong_effect(random, n):
    z = random.standard_normal(n)
    x, y = 2 * z + random.standard_normal((2, n))
    return x, y, z


def tied_z(random, n):
    z = random.integers(-2, 3, (n, 2))
    x, y = z.sum(axis=1) + 0.5 * random.standard_normal((2, n))
    return x, y, z


# A test at level .05 rejects more than 8 of 40 with probability .0001. Where y alone is permuted, the first rejects
# nearly always with k = 20, and the second with any k; the third rejects every other time among neighbors in z.
@pytest.mark.parametrize(
    ("make", "k"),
    [(strong_effect, 20), (cosine_and_square, 3), (effect_of_three, 3), (tied_z, 5), (two_values, 5)],
)
def test_keeps_its_level(make, k):
    assert rejections(make, 40, 80, f"residual-dependence(permutations=99,k={k})") <= 8


@pytest.mark.slow
@pytest.mark.parametrize("make", [effect_of_product, cosine_and_square, shared_scale, counts, censored])
def test_keeps_its_level_on_more_nulls(make):
    assert rejections(make, 40, 200, "residual-dependence(permutations=99,k=20)") <= 8


# More than 20 of 200 have a probability of .001 at level .05. Without normal scores it is 42.
@pytest.mark.slow
def test_keeps_its_level_where_columns_are_exponentials():
    assert rejections(exponentials, 200, 200, "residual-dependence") <= 20


def test_permuting_y_alone_does_not_keep_the_level():
    assert rejections(effect_of_three, 20, 100, "knn-cmi(permutations=99)") > 10


@pytest.mark.parametrize(
    "effect",
    [
        lambda x, e: x + e,
        lambda x, e: x**2 + e,
        lambda x, e: x * e,
        lambda x, e: np.sign(e) * np.abs(x),
    ],
)
def test_sees_dependence_of_many_forms(effect):
    random = generator(1)
    z, x, e = random.standard_normal((3, 200))
    table = np.column_stack([z + x, z + effect(x, e), z])
    assert ci_test(table, 0, 1, 2, "residual-dependence").p_value < 0.02


def test_sees_dependence_that_changes_with_z():
    random = generator(1)
    z, x, e = random.standard_normal((3, 200))
    assert ci_test(np.column_stack([x, x * z + e, z]), 0, 1, 2, "residual-dependence").p_value < 0.01


def scores(column):
    n = len(column)
    ranks = np.argsort(np.argsort(column))
    return np.array([NORMAL.inv_cdf((rank + 0.5) / n) for rank in ranks])


def features(column):
    u = scores(column)
    return [f - f.mean() for f in (u, u**2 - 1, u**3 - 3 * u)]


def largest_covariance(x, y):
    return max(math.sqrt(len(x)) * abs((f * g).mean()) / (f * g).std() for f in features(x) for g in features(y))


@pytest.fixture
def pair():
    x, e = generator(3).standard_normal((2, 60))
    return np.column_stack([x, 0.3 * x + e])


def permuted(permutations):
    stream = Run(seed=4).stream("x1", "x2", [])
    rows = swapped_rows(np.empty((60, 0)), permutations=permutations, seed=4, stream=stream)
    return np.vstack([np.arange(60), rows])


def test_without_z_the_statistics_are_those_of_the_columns(pair):
    x, y = pair.T
    covariance = ci_test(pair, 0, 1, test="residual-dependence(statistic=covariance)").statistic
    assert covariance == pytest.approx(largest_covariance(x, y), rel=1e-6)
    estimate = ci_test(pair, 0, 1, test="residual-dependence(statistic=cmi)").statistic
    assert estimate == mutual_information(*standardized(pair).T, k=5)


def test_the_p_value_of_both_is_that_of_the_smaller_one(pair):
    values = standardized(pair)
    dataset = Dataset.of(pair, names=["x1", "x2"])
    bound = ResidualDependence(permutations=39).bind(dataset, Run(seed=4))
    orders = permuted(39)
    estimates = [mutual_information(values[:, 0], values[order, 1], k=5) for order in orders]
    covariances = [largest_covariance(pair[:, 0], pair[order, 1]) for order in orders]
    ranks = [sorted(sum(other >= one[t] for other in one) for one in (estimates, covariances)) for t in range(40)]
    assert bound.test(0, 1, ()).p_value == sum(rank <= ranks[0] for rank in ranks) / 40


@pytest.mark.parametrize("statistic", ["cmi", "covariance"])
def test_the_p_value_counts_permutations_that_reach_the_statistic(pair, statistic):
    values = standardized(pair)
    dataset = Dataset.of(pair, names=["x1", "x2"])
    bound = ResidualDependence(permutations=39, statistic=statistic).bind(dataset, Run(seed=4))
    measure = largest_covariance if statistic == "covariance" else lambda x, y: mutual_information(x, y, k=5)
    found = [measure(values[:, 0], values[order, 1]) for order in permuted(39)]
    assert bound.test(0, 1, ()).p_value == sum(value >= found[0] for value in found) / 40


def test_stopping_early_changes_no_decision():
    data, _ = simulate.small_network(120, seed=3)
    dataset = Dataset.of(data)
    early = ResidualDependence().bind(dataset, Run(threads=1))
    full = ResidualDependence(stop_early=False).bind(dataset, Run(threads=1))
    for x in range(6):
        assert early.test(x, x + 1, ()).independent == full.test(x, x + 1, ()).independent
        assert full.test(x, x + 1, ()).permutations == 200


def test_a_p_value_that_rests_on_the_covariances_alone_says_so():
    x, e = generator(0).standard_normal((2, 80))
    dataset = Dataset.of(np.column_stack([x, x + e]), names=["x", "y"])
    early = ResidualDependence().bind(dataset, Run())
    full = ResidualDependence(stop_early=False).bind(dataset, Run())
    for bound, exact in [
        (early.test(0, 1, ()), full.test(0, 1, ())),
        (early.test_at(0, 1, (), 0.008), full.test_at(0, 1, (), 0.008)),
    ]:
        made = exact.permutations
        assert (bound.permutations, exact.p_value) == (made, 1 / (made + 1))
        assert bound.p_value_bounds == (exact.p_value, 2 / (made + 1))
        assert bound.p_value == 2 / (made + 1)
        assert bound.p_value_is_bound
        assert not exact.p_value_is_bound


def test_a_column_that_z_explains_is_independent_of_everything():
    z, e = generator(0).standard_normal((2, 50))
    found = ci_test(np.column_stack([2 * z + 1, z + e, z]), 0, 1, 2, "residual-dependence")
    assert (found.p_value, found.decided_by) == (1.0, "explained by the conditioning set")


def test_a_column_whose_normal_scores_z_explains_is_independent_of_everything():
    # The normal scores of a monotone function of z are z itself where z takes the quantiles of the normal.
    z = generator(0).permutation([NORMAL.inv_cdf((i + 0.5) / 200) for i in range(200)])
    e = generator(1).standard_normal(200)
    found = ci_test(np.column_stack([np.exp(3 * z), z + e, z]), 0, 1, 2, "residual-dependence")
    assert (found.p_value, found.decided_by) == (1.0, "explained by the conditioning set")


def test_too_few_rows_are_reported():
    table = generator(0).standard_normal((12, 8))
    with pytest.warns(PyknnmiWarning, match="12 rows are too few to condition on 6 columns"):
        assert ci_test(table, 0, 1, range(2, 8), "residual-dependence").independent


def test_more_permutations_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr("pyknnmi.run._free_memory", lambda: 10**8)
    table = generator(0).standard_normal((60, 2))
    # 100 bytes for each permutation
    with pytest.raises(DataError, match=r"10000000 permutations needs 1 GB.*: give fewer, or a larger resolution"):
        ci_test(table, 0, 1, test="residual-dependence(permutations=10000000)")


@pytest.mark.parametrize("statistic", ["both", "cmi", "covariance"])
def test_with_a_resolution_permutations_are_made_until_enough_are_as_extreme(statistic):
    table = generator(6).standard_normal((60, 2))
    table[:, 1] += 0.25 * table[:, 0]
    dataset = Dataset.of(table)
    found = ResidualDependence(statistic=statistic, resolution=1e-5).bind(dataset, Run()).test(0, 1, ())
    assert round(found.p_value * (found.permutations + 1)) >= 26
    assert found.permutations < 99_999
    same = ResidualDependence(statistic=statistic, permutations=found.permutations, stop_early=False)
    assert same.bind(dataset, Run()).test(0, 1, ()).p_value == found.p_value


@pytest.mark.parametrize(("statistic", "made"), [("both", 1999), ("covariance", 999)])
def test_a_resolution_is_reached_where_dependence_is_strong(statistic, made):
    x, e = generator(0).standard_normal((2, 80))
    test = ResidualDependence(statistic=statistic, resolution=1e-3).bind(Dataset.of(np.column_stack([x, x + e])), Run())
    found = test.test(0, 1, ())
    assert (found.permutations, found.p_value) == (made, 1e-3)
    assert found.p_value_is_bound == (statistic == "both")
    assert test.test_at(0, 1, (), 1e-3).p_value == 5e-4  # below the level, which is as small as the resolution


def test_permutations_in_parts_are_the_same(monkeypatch, pair):
    bound = ResidualDependence(permutations=199).bind(Dataset.of(pair), Run())
    whole = bound.test(0, 1, ())
    monkeypatch.setattr("pyknnmi.builtin.residual_dependence._AT_A_TIME", 60 * 20)
    assert bound.test(0, 1, ()) == whole


def test_categories_on_either_side():
    random = generator(0)
    kind = random.integers(0, 3, 150)
    y = np.array([0.0, 1.0, -1.0])[kind] + random.standard_normal(150)
    values = np.column_stack([kind, y, random.standard_normal(150)])
    dataset = Dataset(values, ("kind", "y", "other"), ("discrete", "continuous", "continuous"))
    assert ci_test(dataset, "kind", "y", "other", "residual-dependence").p_value < 0.01
    assert ci_test(dataset, "other", "y", "kind", "residual-dependence").p_value > 0.05


def test_codes_of_categories_have_no_order():
    random = generator(5)
    kinds = random.integers(0, 3, 90)
    values = np.column_stack([kinds, kinds + random.normal(size=90), random.normal(size=90)])
    answers = set()
    for codes in itertools.permutations([5.0, 0.0, 2.0]):
        recoded = np.column_stack([np.array(codes)[kinds], values[:, 1:]])
        bound = ResidualDependence(permutations=39).bind(
            Dataset(recoded, ("kind", "y", "z"), ("discrete", "continuous", "continuous")), Run(0)
        )
        answers.add((*(bound.test(*question) for question in [(0, 1, (2,)), (1, 0, (2,)), (1, 2, (0,))]),))
    assert len(answers) == 1


def test_keeps_its_level_with_categories():
    found = 0
    for seed in range(40):
        random = generator(seed)
        z = random.integers(0, 3, 100)
        x, y = (random.uniform(size=(2, 100)) < np.array([0.1, 0.5, 0.9])[z]).astype(int) + (z == 2)
        dataset = Dataset(np.column_stack([x, y, z]).astype(float), ("x", "y", "z"), ("discrete",) * 3)
        found += not ResidualDependence().bind(dataset, Run(seed)).test(0, 1, (2,)).independent
    assert found <= 8


def test_the_answer_depends_on_neither_threads_nor_jobs_nor_order():
    data, _ = simulate.small_network(60, seed=2)
    dataset = Dataset.of(data)
    spec = "iamb+residual-dependence(permutations=40)"
    results = [learn(dataset, spec, seed=3, threads=threads, jobs=jobs) for threads, jobs in [(1, 1), (2, 1), (2, 2)]]
    assert results[0].evidence == results[1].evidence == results[2].evidence
    turned = learn(dataset.select(range(6, -1, -1)), spec, seed=3, threads=1)
    assert set(map(frozenset, turned.graph.edges)) == set(map(frozenset, results[0].graph.edges))
