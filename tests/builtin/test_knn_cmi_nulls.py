"""Which rows exchange their y: strata of categories, blocks of rows in order, groups of rows that belong together."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from pyknnmi import DataError, Dataset, ParameterError, PyknnmiWarning, SpecError, bind, ci_test, learn
from pyknnmi.numbers import mutual_information, permuted_rows, season_length

QUICK = "permutations=39,screen=none"


def series(coefficient, n, seed):
    steps = np.random.default_rng(seed).standard_normal(n + 200)
    values = np.zeros(n + 200)
    for i in range(1, n + 200):
        values[i] = coefficient * values[i - 1] + steps[i]
    return values[200:]


# Blocks of rows in order


def rejections(coefficient, draws, link=0.0, spec=f"knn-cmi(null=block,{QUICK})"):
    count = 0
    for seed in range(draws):
        x, y = series(coefficient, 200, 2 * seed), series(coefficient, 200, 2 * seed + 1)
        count += not ci_test(np.column_stack([x, y + link * x]), 0, 1, test=spec, seed=seed).independent
    return count


@pytest.mark.filterwarnings("ignore:In column")
def test_independent_series_are_rejected_at_the_level():
    assert rejections(0.95, 40) <= 9  # 99 % of the binomial with 40 and 0.1 are 9 or fewer
    assert rejections(0.95, 40, spec=f"knn-cmi({QUICK})") >= 20, "without blocks: 0.9"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:In column")
@pytest.mark.parametrize(("coefficient", "highest"), [(0.8, 0.08), (0.95, 0.12)])
def test_level_with_blocks(coefficient, highest):
    draws = 250
    assert rejections(coefficient, draws) <= draws * highest + 2.33 * math.sqrt(draws * highest * (1 - highest))


@pytest.mark.filterwarnings("ignore:In column")
def test_blocks_keep_power():
    assert rejections(0.8, 20, link=1.0) >= 16


def seasonal(seed, link):
    """Two series of ten years by months with one season; apart from it y depends on x, or does not."""
    noise = np.random.default_rng(seed).standard_normal((2, 120))
    season = 1.5 * np.sin(2 * np.pi * np.arange(120) / 12)
    return np.column_stack([season + noise[0], season + link * noise[0] + noise[1]])


@pytest.mark.filterwarnings("ignore:In column")
def test_what_series_owe_to_a_season_is_no_dependence():
    def found(link, **parameters):
        given = "".join(f",{name}={value}" for name, value in parameters.items())
        test = f"knn-cmi(null=block,{QUICK}{given})"
        return sum(not ci_test(seasonal(seed, link), 0, 1, test=test, seed=seed).independent for seed in range(20))

    assert found(0.0) <= 4  # 99.7 % of the binomial with 20 and 0.05
    assert found(0.0, season=12) <= 4
    assert found(0.0, season=1, block_length=6) >= 10, "the season is taken for dependence"
    assert found(1.5) >= 14


@pytest.mark.filterwarnings("ignore:In column")
def test_a_season_is_common_although_its_length_is_found_one_row_apart():
    wave = np.sin(2 * np.pi * np.arange(365) / 30.44)
    data = wave[:, None] + 0.7 * np.random.default_rng(0).standard_normal((2, 365)).T
    assert [season_length(column) for column in data.T] == [30, 31]
    answers = [ci_test(data, 0, 1, test=f"knn-cmi(null=block,{QUICK}{given})") for given in ("", ",season=30")]
    assert answers[0] == answers[1]


def test_a_season_has_to_come_twice():
    with pytest.raises(DataError, match="60 rows are too few for season = 31: give at least 62"):
        ci_test(np.random.default_rng(0).standard_normal((60, 2)), 0, 1, test="knn-cmi(null=block,season=31)")
    with pytest.raises(SpecError, match="season = 0 must be at least 1, or none"):
        ci_test(np.random.default_rng(0).standard_normal((60, 2)), 0, 1, test="knn-cmi(null=block,season=0)")


@pytest.mark.filterwarnings("ignore:In column")
@pytest.mark.parametrize("null", ["block", "local-block"])
def test_any_block_length_goes_with_any_season(null):
    data = np.column_stack([seasonal(0, 0.0), np.random.default_rng(0).standard_normal(120)])
    answer = ci_test(data, 0, 1, 2, f"knn-cmi(null={null},block_length=5,season=12,{QUICK})")
    assert 0 < answer.p_value <= 1


def test_a_block_length_of_one_permutes_single_rows():
    data = np.random.default_rng(0).standard_normal((60, 2))
    answer = ci_test(data, 0, 1, test=f"knn-cmi(null=block,block_length=1,{QUICK})")
    assert 0 < answer.p_value <= 1
    with pytest.raises(SpecError, match="block_length = 0 must be at least 1, or none"):
        ci_test(data, 0, 1, test="knn-cmi(null=block,block_length=0)")


@pytest.mark.filterwarnings("ignore:In column")
def test_local_blocks_follow_z():
    # x and y both follow a slow z: over all blocks they look dependent given z, over blocks with a near z they do not
    level = {"block": 0, "local-block": 0}
    for seed, null in itertools.product(range(20), level):
        z = series(0.9, 200, 3 * seed)
        x, y = (2 * z + series(0.5, 200, 3 * seed + i) for i in (1, 2))
        test = f"knn-cmi(null={null},block_length=5,k=10,{QUICK})"
        level[null] += not ci_test(np.column_stack([x, y, z]), 0, 1, 2, test, seed=seed).independent
    assert level["local-block"] <= level["block"]
    assert level["local-block"] <= 6


# Strata of categories


def test_p_value_in_strata_by_hand():
    # y may change places only within the three categories of z: all 2 * 6 * 2 orders, each as likely as another
    random = np.random.default_rng(3)
    z = np.repeat([0, 1, 2], [2, 3, 2])
    x, y = random.standard_normal((2, 7))
    data = Dataset(np.column_stack([x, y, z]), ("x", "y", "z"), ("continuous", "continuous", "discrete"))
    rows = permuted_rows(np.empty((7, 0)), permutations=200, groups=z)
    assert {tuple(row) for row in rows} == {
        (*a, *b, *c)
        for a in itertools.permutations((0, 1))
        for b in itertools.permutations((2, 3, 4))
        for c in itertools.permutations((5, 6))
    }
    answer = ci_test(data, "x", "y", "z", "knn-cmi(k=1,permutations=2000,screen=none,alpha=0.01)")
    statistics = [
        ci_test(
            Dataset(np.column_stack([x, y[list(row)], z]), data.names, data.kinds),
            "x",
            "y",
            "z",
            "knn-cmi(k=1,permutations=100,screen=none)",
        ).statistic
        for row in {tuple(r) for r in rows}
    ]
    exact = np.mean(np.array(statistics) >= answer.statistic)
    assert answer.p_value == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 2000) + 1 / 2001)


def tables(draws, effect, rows=200):
    """Tables of two booleans and a category that both depend on, with and without an effect of one on the other."""
    for seed in range(draws):
        random = np.random.default_rng(seed)
        z = random.integers(0, 3, rows)
        x = random.random(rows) < np.array([0.2, 0.5, 0.8])[z]
        y = random.random(rows) < np.array([0.2, 0.5, 0.8])[z] * (1 - effect) + effect * x
        yield Dataset(np.column_stack([x, y, z]).astype(float), ("x", "y", "z"), ("discrete",) * 3)


@pytest.mark.parametrize(("effect", "least", "most"), [(0.0, 0, 6), (0.5, 33, 40)])
def test_booleans_given_a_category(effect, least, most):
    found = [
        not ci_test(data, "x", "y", "z", f"knn-cmi({QUICK})", seed=seed).independent
        for seed, data in enumerate(tables(40, effect))
    ]
    assert least <= sum(found) <= most  # of 40 at a level of 0.05, 99 % are 6 or fewer


@pytest.mark.slow
def test_booleans_given_a_category_beside_cochran_mantel_haenszel():
    """Both within the error of 300 draws; with an effect that is the same in all categories, theirs sees more."""

    def found(effect):
        decisions = [
            (
                not ci_test(data, "x", "y", "z", "knn-cmi(permutations=199)", seed=seed).independent,
                cochran_mantel_haenszel(*data.values.T) < 0.05,
            )
            for seed, data in enumerate(tables(300, effect))
        ]
        return np.sum(decisions, axis=0)

    assert max(found(0.0)) <= 27  # 99.9 % of the binomial with 300 and 0.05
    ours, theirs = found(0.2)
    assert 0.6 * theirs < ours < theirs


def cochran_mantel_haenszel(x, y, z):
    """Mantel and Haenszel (1959), without the correction for continuity."""
    difference = variance = 0.0
    for stratum in np.unique(z):
        a, b = x[z == stratum], y[z == stratum]
        n, first, second = len(a), a.sum(), b.sum()
        difference += (a * b).sum() - first * second / n
        variance += first * (n - first) * second * (n - second) / (n * n * (n - 1))
    return math.erfc(abs(difference) / math.sqrt(2 * variance))


@pytest.mark.filterwarnings("ignore:knn-cmi. in column 'z' 100%")
def test_strata_of_single_rows_are_reported():
    values = np.column_stack([np.random.default_rng(0).standard_normal((60, 2)), np.arange(60) % 55])
    data = Dataset(values, ("x", "y", "z"), ("continuous", "continuous", "discrete"))
    with pytest.warns(PyknnmiWarning, match="given 'z', 83% of the rows are the only ones of their kind") as caught:
        ci_test(data, "x", "y", "z", f"knn-cmi({QUICK})")
    assert sum("only ones" in str(warning.message) for warning in caught) == 1


# Groups of rows that belong together


def subjects(effect, seed, count=30, visits=5):
    """x is a trait of each subject, y is measured at every visit and has a level of its own for each subject."""
    random = np.random.default_rng(seed)
    trait, own = random.standard_normal((2, count))
    subject = np.repeat(np.arange(count), visits)
    y = (own + effect * trait)[subject] + 0.3 * random.standard_normal(count * visits)
    x = trait[subject] + 0.01 * random.standard_normal(count * visits)
    return Dataset(np.column_stack([x, y, subject]), ("x", "y", "subject"), ("continuous", "continuous", "discrete"))


def decided(spec, effect, **options):
    return sum(
        bool(learn(subjects(effect, seed), f"iamb+{spec}", seed=seed, **options).graph.edges) for seed in range(20)
    )


@pytest.mark.filterwarnings("ignore:In column")
def test_whole_subjects_are_permuted():
    null = f"knn-cmi(null=block,{QUICK})"
    assert decided(null, 0.0, blocks="subject") <= 4  # 99.7 % of the binomial with 20 and 0.05
    assert decided(null, 3.0, blocks="subject") >= 15
    without = sum(
        not ci_test(subjects(0.0, seed), "x", "y", test=f"knn-cmi({QUICK})").independent for seed in range(20)
    )
    assert without >= 15, "visits taken for subjects"


@pytest.mark.filterwarnings("ignore:In column")
def test_rows_within_subjects_are_permuted():
    # the trait says nothing within a subject, whatever it says between them
    assert decided(f"knn-cmi(null=within,{QUICK})", 3.0, blocks="subject") <= 4


def test_blocks_are_no_node_and_need_a_test_that_heeds_them():
    data = subjects(0.0, 1)
    result = learn(data, f"iamb+knn-cmi(null=block,{QUICK})", blocks="subject")
    assert result.graph.names == ("x", "y")
    for spec, message in (
        ("iamb+fisher-z", "fisher-z takes every row for an observation of its own: leave blocks out"),
        ("iamb+knn-cmi", r"knn-cmi\(null=global\) takes no blocks: null=block permutes whole blocks"),
    ):
        with pytest.raises((DataError, ParameterError), match=message):
            learn(data.select([0, 1, 2]), spec, blocks="subject")
    with pytest.raises(DataError, match=r"knn-cmi\(null=within\) needs groups"):
        ci_test(data, "x", "y", test="knn-cmi(null=within)")


# Ties


def test_ranking_compares_candidates_by_one_estimator():
    random = np.random.default_rng(0)
    x = random.standard_normal(300)
    strong, weak = x + 0.3 * random.standard_normal(300), x + 3 * random.standard_normal(300)
    data = np.column_stack([x, strong, np.maximum(weak, -0.5)])
    scores = bind(data, "knn-cmi").associations(0, [1, 2])
    scaled = (data - data.mean(axis=0)) / data.std(axis=0)
    expected = [mutual_information(scaled[:, 0], scaled[:, i], estimator="mixed") for i in (1, 2)]
    assert scores == pytest.approx(expected, abs=1e-12)
    assert scores[0] > scores[1]


@pytest.mark.parametrize("given", ["block_length=5", "season=12", "block_length=5,null=local", "season=12,null=within"])
def test_blocks_and_seasons_need_a_null_that_uses_them(given):
    with pytest.raises(SpecError, match=r"must be none with null=.*: say null=block or null=local-block"):
        ci_test(np.eye(9), 0, 1, test=f"knn-cmi({given})")
