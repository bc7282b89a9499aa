from __future__ import annotations

import numpy as np
import pytest
from inputs import ALL
from pyknnmi_gaussian import (
    edge_frequencies,
    graphical_lasso_path,
    instability,
    neighbourhood_graphs,
    neighbourhood_path,
    pearson_correlation,
    penalty_path,
    precision_graphs,
    random_subsamples,
    stability_index,
    stars,
    subsample_size,
)


def graph_path(method, penalties):
    """Return the function that stars takes, for the name of a method in the reference data."""

    def of_rows(rows):
        correlation = pearson_correlation(rows)
        if method == "glasso":
            return precision_graphs(graphical_lasso_path(correlation, penalties))
        rule = method.removeprefix("mb_")
        return neighbourhood_graphs(neighbourhood_path(correlation, penalties), rule)

    return of_rows


@pytest.mark.parametrize(("n", "size"), [(100, 80), (144, 115), (145, 120), (500, 223), (2000, 447), (10000, 1000)])
def test_subsample_size(n, size):
    # floor(0.8 n) up to 144, floor(10 sqrt(n)) above.
    assert subsample_size(n) == size


def test_subsamples_have_no_row_twice():
    rows = random_subsamples(50, 7, 20, seed=3)
    assert rows.shape == (7, 20)
    assert all(len(set(subsample)) == 20 for subsample in rows.tolist())
    assert rows.min() >= 0
    assert rows.max() < 50


def test_subsamples_depend_on_seed_and_number_only():
    rows = random_subsamples(50, 7, 20, seed=3)
    np.testing.assert_array_equal(random_subsamples(50, 3, 20, seed=3), rows[:3])
    assert (random_subsamples(50, 7, 20, seed=4) != rows).any()
    assert len({tuple(subsample) for subsample in rows.tolist()}) == 7


def test_order_of_subsamples_does_not_matter():
    data = np.random.default_rng(1).normal(size=(60, 4))
    path = graph_path("glasso", penalty_path(pearson_correlation(data)))
    rows = random_subsamples(60, 9, 48, seed=0)
    np.testing.assert_array_equal(edge_frequencies(data, path, rows), edge_frequencies(data, path, rows[::-1]))


def test_frequencies_are_shares_of_subsamples():
    # The graph of a subsample is the edge 0-1 if row 0 is in it.
    data = np.arange(20.0).reshape(10, 2)
    graph = np.array([[[False, True], [True, False]]])
    rows = np.array([[0, 1], [2, 3], [4, 5], [6, 0]])
    frequencies = edge_frequencies(data, lambda chosen: graph & (chosen[:, 0] == 0).any(), rows)
    assert frequencies.tolist() == [[[0, 0.5], [0.5, 0]]]


def test_instability_closed_form():
    # Three pairs with frequencies 1/2, 1/4 and 1: the mean of 1, 3/4 and 0.
    frequencies = np.array([[[0, 0.5, 0.25], [0.5, 0, 1], [0.25, 1, 0]]])
    assert instability(frequencies) == pytest.approx([1.75 / 3])


@pytest.mark.parametrize(
    ("curve", "monotone", "huge"),
    [
        ([0, 0.05, 0.2, 0.3], 1, 1),
        ([0, 0.05, 0.2, 0.05], 1, 1),  # stable again on the dense side of the peak
        ([0.3, 0.4, 0.5, 0.1], 0, 0),  # unstable from the start
        ([0, 0.02, 0.05, 0.03], 3, 0),  # stable throughout
        ([0, 0.1, 0.3, 0.4], 1, 0),  # exactly at the threshold
    ],
)
def test_stability_index(curve, monotone, huge):
    assert stability_index(curve, threshold=0.1) == monotone
    assert stability_index(curve, threshold=0.1, rule="huge") == huge


@pytest.mark.parametrize("name", ALL)
def test_glasso_stars_equals_huge(reference, edge_list, r_generator, name):
    # On the very subsamples that R drew. huge's solver stops early, which flips a few of the edges
    # whose precision is next to zero.
    huge = reference.huge(name)["npn"]["glasso"]
    data = reference.normal_scores(name)
    r = r_generator(huge["stars"]["seed"])
    rows = np.stack([r.sample(500, 223) for _ in range(20)]) - 1
    path = graph_path("glasso", huge["lambda"])
    curve = instability(edge_frequencies(data, path, rows))
    np.testing.assert_allclose(curve, huge["stars"]["variability"], atol=0.003)
    index = stability_index(curve, rule="huge")
    assert index + 1 == huge["stars"]["opt_index1based"]
    assert edge_list(path(data)[index]) == huge["stars"]["edges"]


@pytest.mark.parametrize("method", ["mb_or", "mb_and"])
@pytest.mark.parametrize("name", ["gwg_mixture_p8", "huge_random_d20", "lin_t", "nonlin_uniform"])
def test_neighbourhood_stars_equals_huge(reference, r_generator, name, method):
    # On the very subsamples that R drew. huge's lasso stops earlier than its graphical lasso.
    huge = reference.huge(name)["npn"][method]
    r = r_generator(1001)
    rows = np.stack([r.sample(500, 223) for _ in range(20)]) - 1
    path = graph_path(method, huge["lambda"])
    curve = instability(edge_frequencies(reference.normal_scores(name), path, rows))
    np.testing.assert_allclose(curve, huge["stars"]["variability"], atol=0.04)
    assert stability_index(curve, rule="huge") + 1 == huge["stars"]["opt_index1based"]


@pytest.mark.parametrize("name", ["huge_random_d20", "nonlin_gaussian"])
def test_own_subsamples_agree_with_huge_within_sampling_error(reference, name):
    # R's curve is one draw from the distribution that six of ours sample. The largest of 20
    # correlated deviations, with a standard deviation from six values: 6 and a floor for edges
    # that none of the six saw change.
    huge = reference.huge(name)["npn"]["glasso"]
    data = reference.normal_scores(name)
    path = graph_path("glasso", huge["lambda"])
    ours = [stars(data, path, rule="huge", seed=seed) for seed in range(6)]
    curves = np.array([stability.instability for stability in ours])
    spread = curves.std(axis=0, ddof=1)
    deviation = np.abs(curves.mean(axis=0) - huge["stars"]["variability"])
    assert (deviation <= 6 * spread + 0.01).all()
    theirs = [
        huge["stars"]["opt_index1based"],
        *huge["stars"]["opt_index_over_seeds_2001_2004"],
    ]
    for stability in ours:
        assert min(abs(stability.index + 1 - index) for index in theirs) <= 1


def test_result():
    data = np.random.default_rng(1).normal(size=(60, 4))
    data[:, 1] += data[:, 0]
    path = graph_path("glasso", penalty_path(pearson_correlation(data)))
    stability = stars(data, path, subsamples=5, seed=2)
    rows = random_subsamples(60, 5, 48, seed=2)
    np.testing.assert_array_equal(stability.edge_frequencies, edge_frequencies(data, path, rows))
    np.testing.assert_array_equal(stability.instability, instability(stability.edge_frequencies))
    np.testing.assert_array_equal(stability.monotone_instability, np.maximum.accumulate(stability.instability))
    assert stability.index == stability_index(stability.instability)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"subsamples": 1}, "at least two"),
        ({"size": 60}, "from 2 to 59"),
        ({"threshold": 0}, "threshold is 0"),
        ({"rule": "r"}, "choose 'monotone' or 'huge'"),
    ],
)
def test_out_of_range(arguments, message):
    data = np.random.default_rng(1).normal(size=(60, 3))
    with pytest.raises(ValueError, match=message):
        stars(data, graph_path("glasso", [0.1]), **arguments)


def test_constant_in_a_subsample():
    data = np.random.default_rng(1).normal(size=(60, 3))
    data[:, 2] = 0
    data[5, 2] = 1
    with pytest.raises(ValueError, match="column 2 is constant in these 48 rows"):
        stars(data, graph_path("glasso", [0.1]))
