from __future__ import annotations

import contextlib
import itertools
import math

import numpy as np
import oracle
import pytest

from pyknnmi import ci_test, learn, simulate
from pyknnmi.builtin import knn_cmi
from pyknnmi.builtin.knn_cmi import KnnCMI
from pyknnmi.components import DataError, Dataset, ParameterError, PyknnmiWarning, Run
from pyknnmi.numbers import (
    conditional_mutual_information,
    conditional_mutual_informations,
    permutation_test,
    standardized,
)

DATA, _ = simulate.small_network(200, seed=3)


def bound(**parameters):
    return KnnCMI(**parameters).bind(DATA, Run(seed=4, threads=1))


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("k", 0, "k = 0 must be at least 1"),
        ("permutations", 0, "permutations = 0 must be at least 1"),
        ("alpha", 0.0, r"alpha = 0\.0 must be between 0 and 1"),
        ("alpha", 1.0, r"alpha = 1\.0 must be between 0 and 1"),
        ("neighbors", 1, "neighbors = 1 must be at least 2"),
        ("permutations", 10**12, "permutations = 1000000000000 must be at most 100000000"),
        ("neighbors", 10**12, "neighbors = 1000000000000 must be at most 100000000"),
        ("null", "shuffled", "null = shuffled must be one of global, local"),
    ],
)
def test_ranges(parameter, value, message):
    with pytest.raises(ParameterError, match=message):
        KnnCMI(**{parameter: value})


def test_the_defaults_are_the_papers_but_for_the_end_of_a_decision():
    test = KnnCMI()
    assert (test.k, test.permutations, test.alpha, test.screen) == (3, 200, 0.05, 0.001)
    assert (test.standardize, test.null, test.stop) == (True, "global", "auto")


@pytest.mark.parametrize("k", [1, 3, 20])
def test_statistic_is_the_estimate_on_standardized_columns(k):
    columns = standardized(DATA.values)
    expected = conditional_mutual_information(columns[:, 0], columns[:, 1], columns[:, [2, 4]], k)
    test = bound(k=k, screen=None, permutations=39)
    assert test.test(0, 1, (2, 4)).statistic == expected
    assert test.associations(0, (3, 1), (2, 4))[1] == expected


def test_standardizing_can_be_left_out():
    expected = conditional_mutual_information(DATA.values[:, 4], DATA.values[:, 5], DATA.values[:, 2])
    assert bound(standardize=False, permutations=39).test(4, 5, (2,)).statistic == expected
    scaled = Dataset(DATA.values * [1, 10, 0.1, 1, 5, 100, 1], DATA.names)
    assert ci_test(scaled, 4, 5, 2).statistic == pytest.approx(ci_test(DATA, 4, 5, 2).statistic, abs=1e-12)


@pytest.mark.parametrize("pair", list(itertools.combinations(range(6), 2)))
def test_p_value_is_that_of_permuting_the_column_less_tied_to_z(pair):
    x, y = pair
    z = 6
    run = Run(seed=4)
    columns = [column[:, None] for column in standardized(DATA.values).T]
    n_xz, n_yz, _ = oracle.neighbor_counts(columns[x], columns[y], columns[z], 3)
    of_x, of_y = (math.fsum(oracle.digamma(int(n) + 1) for n in counts) for counts in (n_xz, n_yz))
    more_tied, permuted = (x, y) if of_x >= of_y else (y, x)
    counted = permutation_test(
        columns[more_tied],
        columns[permuted],
        columns[z],
        3,
        permutations=99,
        seed=4,
        stream=run.stream(DATA.names[x], DATA.names[y], [DATA.names[z]]),
    )
    answer = bound(permutations=99, screen=None).test(x, y, (z,))
    assert answer.p_value == (counted.at_least + 1) / 100
    assert (answer.decided_by, answer.permutations, answer.n) == ("permutations", 99, 200)
    assert answer.p_value_bounds is None


def test_the_screen_shares_the_searches_of_the_ranking_and_of_the_choice_of_the_permuted_column(monkeypatch):
    calls = []

    def count_calls(name):
        function = getattr(knn_cmi, name)
        monkeypatch.setattr(knn_cmi, name, lambda *given, **options: calls.append(name) or function(*given, **options))

    for name in ("conditional_mutual_information", "conditional_mutual_informations", "neighbor_counts"):
        count_calls(name)
    expected = {}
    for x, y in [(0, 1), (1, 2), (4, 5)]:
        test = bound(permutations=39, screen=-10.0)  # so low that no estimate is enough for it
        expected[x, y] = test.test(x, y, (6,))
        assert calls == ["neighbor_counts"]
        assert test.test(x, y, (6,)) == expected[x, y]
        assert calls == ["neighbor_counts"]
        calls.clear()
    test = bound(permutations=39, screen=-10.0)
    test.associations(1, [0, 2, 3], (6,))
    assert test.test(0, 1, (6,)) == expected[0, 1]
    assert test.test(1, 2, (6,)) == expected[1, 2]
    assert test.test(4, 5, (6,)) == expected[4, 5]
    assert calls == ["conditional_mutual_informations", *3 * ["neighbor_counts"]]
    calls.clear()
    kept = bound(permutations=39, screen=10.0)
    screened = kept.test(0, 3, (6,))
    assert screened.decided_by == "screen"
    kept.associations(3, [0, 1], (6,))
    assert kept.test(0, 3, (6,)) == screened
    assert calls == ["neighbor_counts", "conditional_mutual_informations"]


def test_decision_is_strict():
    # the smallest p-value is 1/20
    with pytest.warns(
        PyknnmiWarning, match=r"with 19 permutations no p-value is below alpha = 0\.05: give at least 20"
    ):
        answer = bound(permutations=19).test(4, 5, ())
    assert (answer.p_value, answer.independent) == (0.05, True)
    assert not bound(permutations=20).test(4, 5, ()).independent


def test_screen():
    question = (3, 5, (4,))
    estimate = bound().associations(3, (5,), (4,))[0]
    fisher = ci_test(DATA, 3, 5, 4, "fisher-z")
    assert estimate < 0.001
    assert fisher.independent, "this case shows nothing"
    screened = bound().test(*question)
    assert (screened.decided_by, screened.permutations, screened.independent) == ("screen", 0, True)
    assert screened.statistic == estimate
    assert screened.p_value == 1  # so that no other level finds more than the permutations would
    assert bound(screen=None).test(*question).decided_by == "permutations"
    assert bound(screen=estimate).test(*question).decided_by == "permutations", "below, not at"
    assert bound(alpha=min(0.99, fisher.p_value * 1.01)).test(*question).decided_by == "permutations"


def test_a_significant_correlation_is_no_screen():
    # linear, weak and far in the tails: the estimate is low, the correlation is not
    random = np.random.default_rng(2)
    x, y = random.standard_normal((2, 60))
    x[0] = y[0] = 12.0
    data = np.column_stack([x, y])
    assert ci_test(data, 0, 1, test="knn-cmi(k=20)").statistic < 0.05
    assert not ci_test(data, 0, 1, test="fisher-z").independent
    assert ci_test(data, 0, 1, test="knn-cmi(k=20,screen=0.05)").decided_by == "permutations"


@pytest.mark.parametrize("question", [(4, 5, ()), (0, 3, ()), (1, 2, (0,)), (2, 6, (4,))])
def test_stopping_early_decides_the_same(question):
    full = bound(screen=None).test(*question)
    early = bound(screen=None, stop="certain").test(*question)
    assert early.independent == full.independent
    assert early.statistic == full.statistic
    assert early.permutations <= full.permutations
    if early.p_value_bounds is not None:
        low, high = early.p_value_bounds
        assert low <= full.p_value <= high


def test_the_nulls_are_one_without_z():
    assert bound(screen=None, null="local").test(0, 1, ()) == bound(screen=None).test(0, 1, ())
    assert bound(screen=None, null="local").test(0, 3, (2,)) != bound(screen=None).test(0, 3, (2,))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "k"),
    [
        (lambda z, e: (2 * z + e[0], 2 * z + e[1]), 20),
        (lambda z, e: (np.cos(2 * z) + 0.3 * e[0], z**2 + 0.3 * e[1]), 3),
        (lambda z, e: (np.cos(2 * z) + 0.3 * e[0], z**2 + 0.3 * e[1]), 20),
    ],
    ids=["linear-k20", "nonlinear-k3", "nonlinear-k20"],
)
def test_the_local_null_holds_its_level(draw, k):
    """x and y depend on one strong z, and on each other through it alone; nominal 0.05, 80 data sets of 200 rows."""
    rejected = {"global": 0, "local": 0}
    for seed in range(80):
        random = np.random.default_rng(seed)
        z, *e = random.standard_normal((3, 200))
        data = Dataset.of(np.column_stack([*draw(z, e), z]))
        for null in rejected:
            test = f"knn-cmi(k={k},null={null},permutations=99,screen=none,standardize=false)"
            rejected[null] += not ci_test(data, 0, 1, 2, test, seed=seed).independent
    # binomial: 0.05 * 80 = 4, standard deviation 1.95
    assert rejected["local"] <= 4 + 3 * 1.95
    if k == 20:
        assert rejected["global"] > 40, "the global null is known to fail here"


def test_groups_of_columns():
    columns = standardized(DATA.values)
    expected = conditional_mutual_information(columns[:, [0, 4]], columns[:, [2, 6]], columns[:, 1])
    test = "knn-cmi(permutations=39,screen=none)"
    answer = ci_test(DATA, ["X1", "X5"], ["X7", "X3"], "X2", test, seed=1)
    assert answer.statistic == pytest.approx(expected, abs=1e-12)
    assert ci_test(DATA, [2, 6], [4, 0], [1], test, seed=1) == answer, "neither order nor side counts"
    with pytest.raises(ParameterError, match="fisher-z takes one column as x and one as y"):
        ci_test(DATA, ["X1", "X5"], "X7", test="fisher-z")
    with pytest.raises(DataError, match="column 'X5' is in x and in y"):
        ci_test(DATA, ["X1", "X5"], "X5", test=test)
    with pytest.raises(DataError, match="x and y need a column each"):
        ci_test(DATA, [], "X5", test=test)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 40])
def test_categories_are_as_if_each_had_a_column_of_its_own(count):
    random = np.random.default_rng(count)
    values = np.column_stack([random.standard_normal((200, 2)), random.integers(0, count, (200, 2)) * 7.0])
    data = Dataset(values, tuple("abcd"), ("continuous",) * 2 + ("discrete",) * 2)
    columns = standardized(values)
    a, b, c, d = columns[:, 0], columns[:, 1], *(values[:, [i]] == np.unique(values[:, i]) for i in (2, 3))
    test = KnnCMI(permutations=39, screen=None, k=2).bind(data, Run())
    rare = pytest.warns(PyknnmiWarning, match="given 'c', 'd', 82% of the rows are the only ones of their kind")
    with rare if count == 40 else contextlib.nullcontext():
        for question, xyz, estimator in (
            ((0, 1, (2, 3)), (a, b, np.hstack([c, d])), "mixed"),
            ((2, 0, (3,)), (c, a, d), "mixed"),
            ((2, 3, ()), (c, d, None), "cells"),
        ):
            expected = conditional_mutual_information(*xyz, 2, estimator=estimator)
            assert test.test(*question).statistic == expected


@pytest.mark.parametrize("estimator", ["ksg", "mixed"])
def test_categories_equal_their_indicators(estimator):
    """One column for each category is 1 apart, in the max norm, exactly where the categories differ."""
    random = np.random.default_rng(0)
    x, y, z = random.integers(0, 4, (3, 300, 1)).astype(float)
    w = random.standard_normal((300, 1))
    a, b, c = ((column == np.arange(4)).astype(float) for column in (x, y, z))
    flags = [True, True, True, False]
    coded, indicated = (3 * x - 7, y, np.hstack([z, w])), (a, b, np.hstack([c, w]))
    options = {"permutations": 19, "estimator": estimator}
    for neighbors in (0, 6):
        found = permutation_test(*coded, neighbors=neighbors, categories=flags, **options)
        assert found == permutation_test(*indicated, neighbors=neighbors, **options)
    scores = conditional_mutual_informations(w, np.hstack([x, w + x]), z, categories=[False, True, False, True])
    assert scores.tolist() == [conditional_mutual_information(w, each, c) for each in (a, w + x)]


def test_flags_of_categories_are_checked():
    x = np.arange(9.0)
    with pytest.raises(ParameterError, match="categories has 2 values: give one for each of the 3 columns"):
        permutation_test(x, x, x, categories=[True, False])
    with pytest.raises(DataError, match="whole numbers"):
        permutation_test(x / 2, x, x, categories=[True, False, False])


def test_categories_of_few_rows_are_warned_of_once():
    values = np.column_stack([DATA.values[:, :2], np.arange(200) // 3])
    data = Dataset(values, ("x", "y", "patient"), ("continuous", "continuous", "discrete"))
    with pytest.warns(
        PyknnmiWarning, match=r"in column 'patient' 100% of the rows .* at most k = 3 rows.*: merge"
    ) as caught:
        learn(data, "pairwise+knn-cmi(permutations=20)")
    assert len(caught) == 1
    ci_test(data, "x", "y", "patient", "knn-cmi(k=2,permutations=20)")


@pytest.mark.parametrize("engine", ["tree", "single", "batch"])
def test_engines_give_one_answer(engine):
    expected = learn(DATA, "iamb+knn-cmi(permutations=39)", seed=1).evidence
    assert learn(DATA, f"iamb+knn-cmi(permutations=39,engine={engine})", seed=1).evidence == expected


def test_rows():
    with pytest.raises(DataError, match="5 rows are too few for k = 5: give at least 6"):
        ci_test(DATA.values[:5], 0, 1, test="knn-cmi(k=5)")
    assert 0 < ci_test(DATA.values[:6], 0, 1, test="knn-cmi(k=5)").p_value <= 1


def test_independent_columns_are_found_dependent_at_the_nominal_rate():
    # 300 pairs; binomial with p = 0.05 (K uniform on 0 ... 39, dependent when (K + 1) / 40 < 0.05: K = 0)
    pairs = np.random.default_rng(11).standard_normal((300, 40, 2))
    test = "knn-cmi(permutations=39,screen=none)"
    found = sum(not ci_test(pair, 0, 1, test=test, seed=s, threads=1).independent for s, pair in enumerate(pairs))
    expected = 300 / 40
    assert abs(found - expected) < 4 * np.sqrt(expected)


def test_a_smaller_level_has_the_permutations_it_needs():
    random = np.random.default_rng(0)
    x, e, other = random.standard_normal((3, 100))
    bound = KnnCMI().bind(Dataset.of(np.column_stack([x, x + 0.1 * e, other])), Run(threads=1))
    found = bound.test_at(0, 1, (), 0.001)
    assert not found.independent
    assert found.permutations == 2000
    assert found.p_value == 1 / 2001


def test_a_smaller_level_stops_as_soon_as_it_is_missed():
    random = np.random.default_rng(0)
    bound = KnnCMI(screen=None).bind(Dataset.of(random.standard_normal((100, 2))), Run(threads=1))
    found = bound.test_at(0, 1, (), 0.001)
    assert found.independent
    assert found.permutations < 200


def test_a_search_asks_at_alpha_itself_with_the_same_permutations():
    """What `auto` decides at alpha is what `sequential` answers; T is kept, also where 2 / alpha is more."""
    data = three_columns()
    for permutations in (30, 200):
        for pair in ((0, 1), (1, 2), (0, 3)):
            early, fixed = (
                KnnCMI(screen=None, permutations=permutations, stop=stop).bind(data, Run(seed=5, threads=1))
                for stop in ("auto", "sequential")
            )
            assert early.test_at(*pair, (), 0.05) == fixed.test(*pair, ())
            assert early.test(*pair, ()).permutations == permutations


@pytest.mark.parametrize("stop", ["auto", "never", "certain", "sequential"])
def test_decisions_are_early_where_no_rule_is_named(stop):
    assert KnnCMI(stop=stop).decides_early is (stop == "auto")
    assert not KnnCMI(stop=stop, resolution=0.01).decides_early


def test_an_explicit_rule_counts_at_every_level():
    """1/2001 is below .001, and 25 of the first permutations that reach end it only where that is allowed."""
    data = three_columns()
    made = {
        (stop, pair): KnnCMI(screen=None, stop=stop).bind(data, Run(threads=1)).test_at(*pair, (), 0.001)
        for stop in ("auto", "never", "certain", "sequential")
        for pair in ((0, 1), (0, 3))
    }
    assert {stop: made[stop, (0, 3)].permutations < 200 for stop, _ in made} == {
        "auto": True,
        "never": False,
        "certain": True,
        "sequential": True,
    }
    assert made["never", (0, 3)].permutations == made["certain", (0, 1)].permutations == 2000
    assert made["auto", (0, 1)] == made["sequential", (0, 1)]
    assert len({made[stop, (0, 1)].independent for stop in ("auto", "never", "certain", "sequential")}) == 1


def test_beyond_ten_thousand_permutations_only_what_is_certain_ends_a_test():
    """The sequential rule would end as dependent long before: after 95 % no count can exceed alpha."""
    data = three_columns()
    bound = KnnCMI(screen=None, permutations=10_001).bind(data, Run(threads=1))
    dependent, independent = bound.test_at(0, 1, (), 0.05), bound.test_at(0, 3, (), 0.05)
    assert 9_500 <= dependent.permutations <= 10_001
    assert independent.permutations < 2_000
    assert bound.test(0, 3, ()).permutations == 10_001


def three_columns():
    """x - y clearly dependent, y - w weakly, x - v not."""
    x, e, f, v = np.random.default_rng(3).standard_normal((4, 120))
    return Dataset.of(np.column_stack([x, x + 0.5 * e, x + 0.5 * e + 1.8 * f, v]), ["x", "y", "w", "v"])


@pytest.mark.parametrize(("pair", "few", "many"), [((0, 1), 9999, 9999), ((1, 2), 100, 9998), ((0, 3), 25, 200)])
def test_resolution_takes_as_many_permutations_as_a_p_value_needs(pair, few, many):
    """Those that were made are the first of the fixed ones, and the p-value counts them."""
    data = three_columns()
    found = KnnCMI(screen=None, resolution=1e-4).bind(data, Run(seed=5, threads=1)).test(*pair, ())
    fixed = KnnCMI(screen=None, permutations=found.permutations).bind(data, Run(seed=5, threads=2)).test(*pair, ())
    assert few <= found.permutations <= many
    assert (found.p_value, found.statistic) == (fixed.p_value, fixed.statistic)
    reached = round(found.p_value * (found.permutations + 1)) - 1
    assert reached >= 25 or found.permutations == 9999
    low, high = found.p_value_bounds or (found.p_value, found.p_value)
    assert low <= found.p_value <= high


def test_a_level_below_the_resolution_is_reached_too():
    data = three_columns()
    found = KnnCMI(resolution=0.01).bind(data, Run(threads=1)).test_at(0, 1, (), 0.001)
    assert (found.independent, found.permutations) == (False, 1999)  # half of the level


def test_false_discoveries_are_found_with_resolution_alone():
    """With 200 permutations no edge of six pairs can pass at this level."""
    data = three_columns()
    assert ("x", "y") in learn(data, "fdr(level=0.002)+iamb(rule=or)+knn-cmi(resolution=1e-4)").graph
    with pytest.warns(PyknnmiWarning, match="with 200 permutations none of"):
        assert not learn(data, "fdr(level=0.002)+iamb(rule=or)+knn-cmi").graph.edges


def test_a_test_that_may_stop_has_a_p_value_for_any_time():
    data = three_columns()
    for pair in ((0, 1), (0, 3)):
        found = KnnCMI(screen=None, stop="sequential").bind(data, Run(threads=1)).test(*pair, ())
        assert found.permutations < 200
        assert found.p_value <= found.anytime_p_value <= 1
    assert KnnCMI(screen=None).bind(data, Run(threads=1)).test(0, 3, ()).anytime_p_value is None


def test_resolution_out_of_range():
    for wrong in (0.0, 1e-9, 1.0):
        with pytest.raises(ParameterError, match="resolution"):
            KnnCMI(resolution=wrong)
    with pytest.warns(PyknnmiWarning, match="with 9 permutations no p-value is below alpha = 0.05: give at least 20"):
        KnnCMI(resolution=0.1).bind(three_columns(), Run())
