"""Commands that write data whose true graph is known."""

from __future__ import annotations

from pathlib import Path

import click

from pyknnmi import simulate as simulations
from pyknnmi.cli.common import writing
from pyknnmi.exports import write_dataset, write_graph_edges

__all__ = ["simulate"]


@click.group()
def simulate() -> None:
    """Write data whose true graph is known."""


@simulate.command("small-network")
@click.option("--n", default=500, show_default=True, help="Rows.")
@click.option("--noise", type=click.Choice(["gaussian", "uniform", "t"]), default="gaussian")
@click.option("--linear/--nonlinear", default=False, help="Kind of equations; default nonlinear.")
@click.option("--seed", default=0, show_default=True, help="Fixes the data.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="CSV file to write.")
def small_network(n: int, noise: simulations.Noise, linear: bool, seed: int, out: Path) -> None:
    """Seven columns with eight edges (Leppä-aho et al. 2018)."""
    data, truth = simulations.small_network(n, noise=noise, linear=linear, seed=seed)
    truth_path = out.with_name(f"{out.stem}_true_edges.csv")
    with writing():
        out.parent.mkdir(parents=True, exist_ok=True)
        write_dataset(data, out)
        write_graph_edges(truth, truth_path)
    click.echo(f"wrote {n} rows to {out} and the true edges to {truth_path}")
