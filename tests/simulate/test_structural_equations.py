from __future__ import annotations

import numpy as np
import pytest
import reference

from pyknnmi import ParameterError
from pyknnmi.simulate import large_network, small_network


@pytest.mark.parametrize(
    ("kind", "noise"),
    [
        ("lin", "gaussian"),
        ("lin", "t"),
        ("nonlin", "gaussian"),
        ("nonlin", "t"),
        ("nonlin", "uniform"),
    ],
)
def test_small_network_is_the_published_data_digit_by_digit(kind, noise):
    # made by the authors' own generator; ten digits
    text = reference.contents(reference.path(f"inputs/{kind}_{noise}_n500.csv")).decode()
    header, *lines = text.split()
    data, _ = small_network(2000, noise=noise, linear=kind == "lin", seed=123456)
    assert ",".join(data.names) == header
    assert [",".join(f"{value:.10g}" for value in row) for row in data.values[:500]] == lines


def test_small_network_has_the_published_graph():
    _, truth = small_network(10)
    assert truth == reference.true_graph("inputs/small_network_true_graph.csv")


def test_calls_continue_a_stream():
    stream = np.random.RandomState(5)
    first, second = (small_network(50, seed=stream)[0].values for _ in range(2))
    np.testing.assert_array_equal(first, small_network(50, seed=5)[0].values)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("noise", ["gaussian", "uniform", "t"])
def test_large_network_is_three_small_ones_in_a_row(noise):
    data, truth = large_network(30, noise=noise, seed=2)
    stream = np.random.RandomState(2)
    parts = [small_network(30, noise=noise, seed=stream) for _ in range(3)]
    np.testing.assert_array_equal(data.values, np.hstack([part.values for part, _ in parts]))
    assert data.names == truth.names == tuple(f"X{i}" for i in range(1, 22))
    blocks = np.kron(np.eye(3, dtype=int), parts[0][1].adjacency())
    np.testing.assert_array_equal(truth.adjacency(), blocks)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "n = 1: give at least 2 rows"),
        ({"n": 9, "noise": "cauchy"}, "noise = 'cauchy': give gaussian, uniform or t"),
        ({"n": 100.5}, "n = 100.5: give a whole number of rows"),
        ({"n": "9"}, "n = '9': give a whole number of rows"),
        ({"n": 9, "seed": -1}, "seed = -1: give a whole number"),
        ({"n": 9, "seed": None}, "seed = None: give a whole number from 0"),
        ({"n": 9, "seed": 1.5}, "seed = 1.5: give a whole number from 0"),
    ],
)
def test_bad_arguments(arguments, message):
    for generate in (small_network, large_network):
        with pytest.raises(ParameterError, match=message):
            generate(**arguments)
