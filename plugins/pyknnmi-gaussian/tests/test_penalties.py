from __future__ import annotations

import numpy as np
import pytest
from pyknnmi_gaussian import (
    graphical_lasso_path,
    neighbourhood_graphs,
    neighbourhood_path,
    pearson_correlation,
    penalty_path,
    precision_graphs,
)


def test_closed_form():
    penalties = penalty_path([[1, -0.8], [-0.8, 1]], count=3, min_ratio=0.01)
    np.testing.assert_allclose(penalties, [0.8, 0.08, 0.008], rtol=1e-14)


def test_first_penalty_is_the_smallest_with_an_empty_graph():
    correlation = pearson_correlation(np.random.default_rng(1).normal(size=(40, 6)))
    largest = penalty_path(correlation)[0]
    path = [largest, largest * (1 - 1e-5)]
    for graphs in (
        precision_graphs(graphical_lasso_path(correlation, path)),
        neighbourhood_graphs(neighbourhood_path(correlation, path)),
    ):
        assert graphs.sum(axis=(1, 2)).tolist() == [0, 2]


@pytest.mark.parametrize("transform", ["npn", "raw"])
@pytest.mark.parametrize("name", ["huge_random_d20", "lin_t", "nonlin_gaussian"])
def test_path_equals_huge(reference, name, transform):
    data = reference.raw(name) if transform == "raw" else reference.normal_scores(name)
    np.testing.assert_allclose(
        penalty_path(pearson_correlation(data)),
        reference.huge(name)[transform]["glasso"]["lambda"],
        rtol=1e-9,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"count": 0}, "count is 0"), ({"min_ratio": 1}, "min_ratio is 1"), ({"min_ratio": 0}, "is 0")],
)
def test_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        penalty_path([[1, 0.5], [0.5, 1]], **arguments)


def test_no_correlation():
    with pytest.raises(ValueError, match="all correlations are zero"):
        penalty_path(np.eye(3))
