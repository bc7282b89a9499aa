"""The command that calibrates a CI test on a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pyknnmi.calibration.rates import DRAWS
from pyknnmi.cli.table import read, table_options
from pyknnmi.learning import calibrate as calibration
from pyknnmi.learning.pipeline import DEFAULT_SPEC

__all__ = ["calibrate"]


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--spec", default=DEFAULT_SPEC, show_default=True, help="Transforms, learner and test.")
@click.option("--draws", default=DRAWS, show_default=True, help="Synthetic data sets for a question.")
@click.option("--seed", default=0, show_default=True, help="Fixes every random choice.")
@click.option("--threads", default=0, show_default=True, help="Threads; 0: every core.")
@table_options
def calibrate(data: Path, spec: str, draws: int, seed: int, threads: int, **options: Any) -> None:
    """See how often the test of a spec rejects independence in data made like DATA.

    The search is run on DATA, and the conditioning sets that it used are tried: for each size the strongest and others.
    """
    table = read(data, **options)
    click.echo(str(calibration.calibrate(table, spec, draws=draws, seed=seed, threads=threads)))
