"""Commands that write data whose true graph is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pyknnmi import simulate as simulations
from pyknnmi.cli.common import OutPath, writing
from pyknnmi.data.dataset import Dataset
from pyknnmi.data.files import dataset_csv, make_folder, replace_files
from pyknnmi.graphs.graph import Graph
from pyknnmi.learning.exports import graph_edges_csv

__all__ = ["simulate"]

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group()
def simulate() -> None:
    """Write data whose true graph is known."""


def _options(command: Command) -> Command:
    file = OutPath(dir_okay=False)
    command = click.option("--out", type=file, required=True, help="CSV file to write.")(command)
    command = click.option("--seed", default=0, show_default=True, help="Fixes the data.")(command)
    return click.option("--n", default=500, show_default=True, help="Rows.")(command)


def _noise(command: Command) -> Command:
    choice = click.Choice(["gaussian", "uniform", "t"])
    return click.option("--noise", type=choice, default="gaussian", show_default=True)(command)


def _random_graph(p: int) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        probability = click.option("--edge-probability", type=float, help="Of a pair being joined; 3/p when left out.")(
            command
        )
        return click.option("--p", default=p, show_default=True, help="Columns.")(probability)

    return decorate


@simulate.command("small-network")
@_noise
@click.option("--linear/--nonlinear", default=False, help="Kind of equations; default nonlinear.")
@_options
def small_network(n: int, noise: simulations.Noise, linear: bool, seed: int, out: Path) -> None:
    """Seven columns with eight edges (Leppä-aho et al. 2018)."""
    _write(*simulations.small_network(n, noise=noise, linear=linear, seed=seed), out)


@simulate.command("large-network")
@_noise
@_options
def large_network(n: int, noise: simulations.Noise, seed: int, out: Path) -> None:
    """Three nonlinear small networks side by side."""
    _write(*simulations.large_network(n, noise=noise, seed=seed), out)


@simulate.command("random-gaussian")
@_random_graph(p=10)
@_options
def random_gaussian(n: int, p: int, edge_probability: float | None, seed: int, out: Path) -> None:
    """Gaussian data on a random graph, as R's package huge makes them."""
    _write(*simulations.random_gaussian(n, p, edge_probability=edge_probability, seed=seed), out)


@simulate.command("random-nonparanormal")
@_random_graph(p=10)
@_options
def random_nonparanormal(n: int, p: int, edge_probability: float | None, seed: int, out: Path) -> None:
    """Cubes of Gaussian data on a random graph."""
    _write(*simulations.random_nonparanormal(n, p, edge_probability=edge_probability, seed=seed), out)


@simulate.command("g-wishart-mixture")
@_random_graph(p=8)
@_options
def g_wishart_mixture(n: int, p: int, edge_probability: float | None, seed: int, out: Path) -> None:
    """Rows on a random graph, each with a precision matrix of its own."""
    _write(*simulations.g_wishart_mixture(n, p, edge_probability=edge_probability, seed=seed), out)


def _write(data: Dataset, truth: Graph, out: Path) -> None:
    truth_path = out.parent / f"{out.stem}_true_edges.csv"
    with writing():
        make_folder(out.parent)
        replace_files({out: dataset_csv(data), truth_path: graph_edges_csv(truth)})
    click.echo(f"wrote {data.n} rows to {out} and the true edges to {truth_path}")
