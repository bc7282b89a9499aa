"""The named experiments: where their data come from, and where they stand in the figures."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from pyknnmi import Dataset, Graph, UnknownNameError
from pyknnmi.commands import did_you_mean
from pyknnmi.simulate import (
    Noise,
    g_wishart_mixture,
    large_network,
    random_gaussian,
    random_nonparanormal,
    small_network,
)

__all__ = ["EXPERIMENTS", "ROWS", "Experiment", "find_experiments"]

ROWS = 2000
"""Rows of one draw; smaller sizes are its first rows."""

Drawn = tuple[Dataset, Graph]


@dataclass(frozen=True)
class Experiment:
    """A source of data with known graphs.

    Attributes
    ----------
    name : str
        As on the command line.
    figure : str
        The figure that shows it, with others of its kind.
    title : str
        Of its panel there.
    p : int
        Columns.
    draw : callable
        ``draw(seed, repetition)`` returns the data, shape (2000, p), and the true graph of a repetition (from 0).
    """

    name: str
    figure: str
    title: str
    p: int
    draw: Callable[[int, int], Drawn]


class _Generator(Protocol):
    def __call__(self, n: int, *, seed: int | np.random.RandomState) -> Drawn: ...


def _streamed(generate: _Generator, seed: int, repetition: int) -> Drawn:
    """Draw repetition after repetition from one stream: the published networks with seed 123456."""
    random = np.random.RandomState(seed)
    for _ in range(repetition):
        generate(ROWS, seed=random)
    return generate(ROWS, seed=random)


def _reseeded(generate: _Generator, seed: int, repetition: int) -> Drawn:
    """Draw with a seed of the repetition's own, taken from the stream of `seed`."""
    seeds = np.random.RandomState(seed).randint(1, 10**9, size=repetition + 1)
    return generate(ROWS, seed=int(seeds[-1]))


_NOISES: Mapping[Noise, str] = {"gaussian": "Gaussian noise", "uniform": "uniform noise", "t": "t noise"}
_RANDOM = {
    "gaussian": ("Gaussian", random_gaussian),
    "nonparanormal": ("cubed Gaussian", random_nonparanormal),
}
# by p: the probability with which the published experiment joined a pair, 6 and 10 edges on average
_MIXTURES = {8: 6 / 28, 16: 10 / 120}


def _experiments() -> Iterator[Experiment]:
    for linear in (True, False):
        kind = "linear" if linear else "nonlinear"
        for noise, words in _NOISES.items():
            draw = partial(_streamed, partial(small_network, noise=noise, linear=linear))
            yield Experiment(f"small-network-{kind}-{noise}", "small-network", f"{kind}, {words}", 7, draw)
    draw = partial(_streamed, partial(large_network, noise="t"))
    yield Experiment("large-network", "large-network", "three nonlinear networks, t noise", 21, draw)
    for name, (words, generate) in _RANDOM.items():
        for p in (10, 20):
            draw = partial(_reseeded, partial(generate, p=p))
            yield Experiment(f"random-{name}-p{p}", "random-graph", f"{words}, {p} columns", p, draw)
    for p, probability in _MIXTURES.items():
        draw = partial(_reseeded, partial(g_wishart_mixture, p=p, edge_probability=probability))
        yield Experiment(f"g-wishart-mixture-p{p}", "g-wishart-mixture", f"G-Wishart mixture, {p} columns", p, draw)


EXPERIMENTS: Mapping[str, Experiment] = {experiment.name: experiment for experiment in _experiments()}


def find_experiments(names: Iterable[str]) -> tuple[Experiment, ...]:
    """Return the experiments of these names, each once, in the order of the catalogue.

    Parameters
    ----------
    names : iterable of str
        ``*`` in a name stands for any characters: ``small-network-*``.

    Raises
    ------
    UnknownNameError
        Nothing has such a name.
    """
    chosen = set()
    for name in names:
        found = fnmatch.filter(EXPERIMENTS, name)
        if not found:
            raise UnknownNameError(
                f"there is no experiment '{name}'{did_you_mean(name, EXPERIMENTS)} (there are {', '.join(EXPERIMENTS)})"
            )
        chosen.update(found)
    return tuple(experiment for experiment in EXPERIMENTS.values() if experiment.name in chosen)
