"""Commands that learn a graph, or test one pair."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from pyknnmi.cli.common import OutPath, progress_bar, writing
from pyknnmi.cli.table import names_in, read, read_as_given, table_options
from pyknnmi.data.dataset import Dataset
from pyknnmi.data.files import make_writable_folder
from pyknnmi.errors import printable
from pyknnmi.learning.bind import ci_test
from pyknnmi.learning.exports import result_json, write_result
from pyknnmi.learning.learn import learn as learn_network
from pyknnmi.learning.pipeline import DEFAULT_SPEC, Pipeline
from pyknnmi.learning.result import format_p_value
from pyknnmi.report.html import repeat_command
from pyknnmi.report.summary import summary
from pyknnmi.simulate import small_network

__all__ = ["demo", "learn", "test"]


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--spec", default=DEFAULT_SPEC, show_default=True, help="Transforms, learner and test.")
@click.option("--seed", default=0, show_default=True, help="Fixes every random choice.")
@click.option("--threads", default=0, show_default=True, help="Threads in all; 0: every core.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes; -1: one a core.")
@click.option("--required", metavar="A,B", multiple=True, help="An edge that is there; may be repeated.")
@click.option("--forbidden", metavar="A,B", multiple=True, help="An edge that is not there; may be repeated.")
@click.option("--targets", metavar="A,B,...", help="Search for the neighbors of these columns only.")
@click.option("--orient", is_flag=True, help="Find the directions that the data determine, too.")
@click.option("--calibrate", is_flag=True, help="See, too, how often the test rejects independence in data like these.")
@table_options
@click.option("--cluster", metavar="ADDRESS", help="Scheduler of a Dask cluster that does the work.")
@click.option("--store", type=OutPath(), help="File that keeps every answer, to go on after a stop.")
@click.option("--out", type=OutPath(file_okay=False), help="Folder for the files.")
@click.option("--report", type=OutPath(dir_okay=False), help="HTML file to look at and pass on.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
def learn(
    data: Path,
    spec: str,
    seed: int,
    threads: int,
    jobs: int,
    required: tuple[str, ...],
    forbidden: tuple[str, ...],
    targets: str | None,
    orient: bool,
    calibrate: bool,
    cluster: str | None,
    store: Path | None,
    out: Path | None,
    report: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Learn the Markov network of DATA, a CSV, TSV, Parquet or Feather file, or - for standard input.

    In a list of columns, a name with a comma stands in quotation marks: '"dose, mg",age'.
    """
    pipeline = Pipeline.parse(spec)
    table = read(data, **options)
    for folder in (out, report.parent if report else None):
        if folder is not None:
            with writing():  # before the work, not after it
                make_writable_folder(folder)
    with progress_bar() as progress, redirect_stdout(sys.stderr):  # what plugins print is not the result
        result = learn_network(
            table,
            pipeline,
            seed=seed,
            threads=threads,
            jobs=jobs,
            progress=progress,
            required=[_columns(edge, table) for edge in required],
            forbidden=[_columns(edge, table) for edge in forbidden],
            targets=None if targets is None else _columns(targets, table),
            orient=orient,
            calibrate=calibrate,
            store=store,
            cluster=cluster,
            missing=options["missing"],
        )
    said = [f"\n{result.calibration}"] if result.calibration is not None else []
    if out is not None:
        with writing():
            written = write_result(result, out, {"spec_as_given": spec, "data": printable(str(data))})
        said.append(f"wrote {', '.join(path.name for path in written)} to {out}")
    if report is not None:
        with writing():
            words = read_as_given(click.get_current_context())
            result.report(report, data=printable(str(data)), command=repeat_command(result, str(data), words))
        said.append(f"wrote the report to {report}")
    if as_json:
        click.echo(result_json(result), nl=False)
    elif not quiet:
        click.echo("\n".join([summary(result), *said]))


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("x")
@click.argument("y")
@click.option("--given", default="", help="Conditioning columns, separated by commas.")
@click.option("--test", default="knn-cmi", show_default=True, help="Spec of a CI test.")
@click.option("--seed", default=0, show_default=True, help="Fixes every random choice.")
@click.option("--threads", default=0, show_default=True, help="Threads; 0: every core.")
@table_options
def test(data: Path, x: str, y: str, given: str, test: str, seed: int, threads: int, **options: Any) -> None:
    """Test whether columns X and Y of DATA are independent; each may be a group of columns, A,B,..."""
    table = read(data, **options)
    xs, ys, others = (_columns(written, table) for written in (x, y, given))
    answer = ci_test(table, xs, ys, others, test, seed=seed, threads=threads, missing=options["missing"])
    verdict = "independent" if answer.independent else "dependent"
    condition = f" given {', '.join(others)}" if others else ""
    click.echo(f"{', '.join(xs)} and {', '.join(ys)}{condition}: {verdict}")
    click.echo(f"statistic   {answer.statistic:.6g}")
    click.echo(f"p-value     {format_p_value(answer)}")
    permutations = f" ({answer.permutations})" if answer.permutations else ""
    click.echo(f"decided by  {answer.decided_by}{permutations}")
    click.echo(f"rows        {answer.n}")
    if answer.redundant:
        click.echo(f"redundant   {', '.join(answer.redundant)}")
    for doubt in answer.doubts:
        click.echo(printable(f"doubtful    {doubt}"))


@click.command()
@click.option("--n", default=1000, show_default=True, help="Rows.")
@click.option("--seed", default=0, show_default=True, help="Fixes the data and the run.")
def demo(n: int, seed: int) -> None:
    """Learn a known network from data made on the spot, and compare."""
    data, truth = small_network(n, seed=seed)
    click.echo(f"{n} rows of a nonlinear network of {data.p} variables; learning it with {DEFAULT_SPEC}\n")
    with progress_bar() as progress:
        result = learn_network(data, seed=seed, progress=progress)
    click.echo(str(result))
    graph = result.graph
    missed = [f"{a} - {b}" for a, b in truth.edges if (a, b) not in graph]
    extra = [f"{a} - {b}" for a, b in graph.edges if (a, b) not in truth]
    click.echo(f"\nHamming distance to the true graph ({len(truth.edges)} edges): {graph.hamming(truth)}")
    click.echo(f"missed: {', '.join(missed) or 'none'}; extra: {', '.join(extra) or 'none'}")


def _columns(written: str, table: Dataset) -> list[str]:
    """Return names that are separated by commas; one that has a comma may stand alone, or in quotation marks."""
    if written in table.names:
        return [written]
    return names_in(written)
