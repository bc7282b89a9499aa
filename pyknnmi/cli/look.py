"""Commands that show a result: plots and the report."""

from __future__ import annotations

from pathlib import Path

import click

from pyknnmi.cli.common import OutPath, writing
from pyknnmi.learning.exports import read_result
from pyknnmi.report.plots import KINDS, save_plot

__all__ = ["plot", "report"]

_results = click.argument("results", type=click.Path(path_type=Path, exists=True))


@click.command()
@_results
@click.option("--kind", type=click.Choice(list(KINDS)), default="graph", show_default=True, help="What to draw.")
@click.option("--seed", default=0, show_default=True, help="Another seed gives another drawing of the same network.")
@click.option("--out", type=OutPath(dir_okay=False), help="SVG, PNG or PDF file.  [default: KIND.svg]")
def plot(results: Path, kind: str, seed: int, out: Path | None) -> None:
    """Draw what `learn --out RESULTS` wrote."""
    target = out or Path(f"{kind}.svg")
    with writing():
        written = save_plot(read_result(results), target, kind, seed=seed)
    click.echo(f"wrote {written}")


@click.command()
@_results
@click.option("--title", help="The heading.")
@click.option("--data", help="The table, for the heading and for the command that repeats the run.")
@click.option("--out", type=OutPath(dir_okay=False), help="HTML file.  [default: report.html in RESULTS]")
def report(results: Path, title: str | None, data: str | None, out: Path | None) -> None:
    """Write what `learn --out RESULTS` wrote as one HTML file."""
    target = out or (results if results.is_dir() else results.parent) / "report.html"
    with writing():
        read_result(results).report(target, title=title, data=data)
    click.echo(f"wrote the report to {target}")
