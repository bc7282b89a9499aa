from __future__ import annotations

import numpy as np
import pytest
import reference
from pyknnmi_experiments import EXPERIMENTS, find_experiments

from pyknnmi import UnknownNameError
from pyknnmi.simulate import random_gaussian, random_nonparanormal, small_network


def test_every_experiment_draws_2000_rows_of_its_columns():
    for experiment in EXPERIMENTS.values():
        data, truth = experiment.draw(123456, 0)
        assert data.values.shape == (2000, experiment.p), experiment.name
        assert data.names == truth.names, experiment.name


def test_draws_are_repeatable_and_differ():
    for experiment in EXPERIMENTS.values():
        hashes = [experiment.draw(7, repetition)[0].sha256 for repetition in (0, 1, 1)]
        assert hashes[0] != hashes[1] == hashes[2], experiment.name


def test_small_networks_continue_one_stream():
    stream = np.random.RandomState(123456)
    calls = [small_network(2000, noise="t", linear=True, seed=stream)[0] for _ in range(3)]
    draws = [EXPERIMENTS["small-network-linear-t"].draw(123456, repetition)[0] for repetition in range(3)]
    assert [data.sha256 for data in draws] == [data.sha256 for data in calls]


def test_random_graphs_take_the_published_seeds():
    # The published runs gave these seeds to R, one a repetition.
    seeds = reference.load("paper_random_true_graphs.json")["r_seeds"]
    for repetition in (0, 1, 24):
        drawn, truth = EXPERIMENTS["random-gaussian-p10"].draw(123456, repetition)
        expected, graph = random_gaussian(2000, 10, seed=seeds[repetition])
        assert (drawn.sha256, truth) == (expected.sha256, graph)
        cubed, _ = EXPERIMENTS["random-nonparanormal-p20"].draw(123456, repetition)
        assert cubed.sha256 == random_nonparanormal(2000, 20, seed=seeds[repetition])[0].sha256


def test_find_by_name_and_pattern():
    names = [experiment.name for experiment in find_experiments(["large-network", "*-linear-*", "large-*"])]
    assert names == [
        "small-network-linear-gaussian",
        "small-network-linear-uniform",
        "small-network-linear-t",
        "large-network",
    ]
    assert find_experiments(["*"]) == tuple(EXPERIMENTS.values())


def test_unknown_name_suggests():
    with pytest.raises(UnknownNameError, match="no experiment 'large-netwrok'; did you mean 'large-network'"):
        find_experiments(["large-network", "large-netwrok"])
