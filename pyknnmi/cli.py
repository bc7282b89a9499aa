"""The command line."""

from __future__ import annotations

import inspect
import json
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pyknnmi import simulate as simulations
from pyknnmi.errors import PyknnmiError, PyknnmiWarning
from pyknnmi.exports import write_dataset, write_graph_edges, write_result
from pyknnmi.pipeline import DEFAULT_SPEC, Pipeline, ci_test
from pyknnmi.reading import read_table
from pyknnmi.registry import KINDS, default_registry
from pyknnmi.result import format_p_value
from pyknnmi.run import Progress, Run
from pyknnmi.spec import format_value

__all__ = ["main"]

_HEADINGS = {"transform": "Transforms", "learner": "Learners", "test": "CI tests"}


class _Failure(click.ClickException):
    exit_code = 2


class _Group(click.Group):
    """Turns the package's errors into one line and exit code 2, and lets plugins add commands."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PyknnmiError as error:
            raise _Failure(str(error)) from error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands:
            default_registry().add_commands(self)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        default_registry().add_commands(self)
        return super().list_commands(ctx)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pyknnmi")
def main() -> None:
    """Learn which variables depend on which, without assuming a distribution."""
    warnings.showwarning = _show_warning


@main.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--spec", default=DEFAULT_SPEC, show_default=True, help="Transforms, learner and test.")
@click.option("--seed", default=0, show_default=True, help="Fixes every random choice.")
@click.option("--threads", default=0, show_default=True, help="Threads in all; 0: every core.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes; -1: one a core.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for the files.")
def learn(data: Path, spec: str, seed: int, threads: int, jobs: int, out: Path | None) -> None:
    """Learn the Markov network of DATA, a CSV or TSV file with a header line."""
    pipeline = Pipeline.parse(spec)
    table = read_table(data)
    with _progress_bar() as progress:
        result = pipeline.learn(table, Run(seed, threads, jobs, progress))
    click.echo(str(result))
    if out is not None:
        with _writing():
            written = write_result(result, out, {"spec_as_given": spec, "data": str(data)})
        click.echo(f"wrote {', '.join(path.name for path in written)} to {out}")


@main.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("x")
@click.argument("y")
@click.option("--given", default="", help="Conditioning columns, separated by commas.")
@click.option("--test", default="knn-cmi", show_default=True, help="Spec of a CI test.")
@click.option("--seed", default=0, show_default=True, help="Fixes every random choice.")
@click.option("--threads", default=0, show_default=True, help="Threads; 0: every core.")
def test(data: Path, x: str, y: str, given: str, test: str, seed: int, threads: int) -> None:
    """Test whether columns X and Y of DATA are independent."""
    names = [name.strip() for name in given.split(",") if name.strip()]
    answer = ci_test(read_table(data), x, y, names, test, seed=seed, threads=threads)
    verdict = "independent" if answer.independent else "dependent"
    condition = f" given {', '.join(names)}" if names else ""
    click.echo(f"{x} and {y}{condition}: {verdict}")
    click.echo(f"statistic   {answer.statistic:.6g}")
    click.echo(f"p-value     {format_p_value(answer.p_value)}")
    permutations = f" ({answer.permutations})" if answer.permutations else ""
    click.echo(f"decided by  {answer.decided_by}{permutations}")
    click.echo(f"rows        {answer.n}")
    if answer.redundant:
        click.echo(f"redundant   {', '.join(answer.redundant)}")


@main.group()
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
    with _writing():
        out.parent.mkdir(parents=True, exist_ok=True)
        write_dataset(data, out)
        write_graph_edges(truth, truth_path)
    click.echo(f"wrote {n} rows to {out} and the true edges to {truth_path}")


@main.command()
def components() -> None:
    """List the components that a spec may name."""
    registry = default_registry()
    for kind in KINDS:
        click.echo(_HEADINGS[kind])
        found = registry.components(kind)
        width = max(len(cls.name) for cls in found)
        for cls in found:
            plugin = registry.plugin_of(cls.name).name
            click.echo(f"  {cls.name:<{width}}  {cls.summary()} [{plugin}]")


@main.command()
@click.argument("name")
def describe(name: str) -> None:
    """Show what component NAME does, and its parameters."""
    cls = default_registry().get(name)
    click.echo(f"{name}, a {cls.kind} [{default_registry().plugin_of(name).name}]\n")
    click.echo(inspect.getdoc(cls) or "")
    if cls.parameters():
        click.echo("\nIn a spec\n---------")
    for parameter in cls.parameters():
        default = format_value(parameter.default)
        click.echo(f"{parameter.name}={default}    {parameter.allowed}")


@main.command()
@click.argument("spec")
def explain(spec: str) -> None:
    """Show what SPEC will run, stage by stage, with every parameter."""
    pipeline = Pipeline.parse(spec)
    for stage, component in enumerate(pipeline.components(), start=1):
        click.echo(f"{stage}. {component}\n   {component.summary()}")
    click.echo(f"\nin full: {pipeline}")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plugins(as_json: bool) -> None:
    """List the plugins, what they bring, and why one was skipped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PyknnmiWarning)  # told below
        found = default_registry().plugins()
    if as_json:
        click.echo(json.dumps([vars(plugin) for plugin in found], indent=2))
        return
    for plugin in found:
        click.echo(f"{plugin.name} {plugin.version}".rstrip())
        skipped = f"skipped: {plugin.problem}"
        click.echo(f"  {skipped if plugin.problem else ', '.join(plugin.components)}")


@main.command()
@click.option("--n", default=1000, show_default=True, help="Rows.")
@click.option("--seed", default=0, show_default=True, help="Fixes the data and the run.")
def demo(n: int, seed: int) -> None:
    """Learn a known network from data made on the spot, and compare."""
    data, truth = simulations.small_network(n, seed=seed)
    click.echo(f"{n} rows of a nonlinear network of {data.p} variables; learning it with {DEFAULT_SPEC}\n")
    with _progress_bar() as progress:
        result = Pipeline.parse(DEFAULT_SPEC).learn(data, Run(seed, progress=progress))
    click.echo(str(result))
    graph = result.graph
    missed = [f"{a} - {b}" for a, b in truth.edges if (a, b) not in graph]
    extra = [f"{a} - {b}" for a, b in graph.edges if (a, b) not in truth]
    click.echo(f"\nHamming distance to the true graph ({len(truth.edges)} edges): {graph.hamming(truth)}")
    click.echo(f"missed: {', '.join(missed) or 'none'}; extra: {', '.join(extra) or 'none'}")


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _Failure(f"cannot write '{error.filename}': {error.strerror}") from None


@contextmanager
def _progress_bar() -> Iterator[Any]:
    """Yield a progress callback that draws one line on a terminal, or None where there is none."""
    if not sys.stderr.isatty():
        yield None
        return
    start = last = time.monotonic()

    def draw(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < 0.1:
            return
        last = now
        filled = 30 * progress.done // progress.total
        bar = "#" * filled + "-" * (30 - filled)
        click.echo(
            f"\r[{bar}] {progress.done}/{progress.total} columns, {progress.tests} tests, {now - start:.0f} s",
            nl=False,
            err=True,
        )

    try:
        yield draw
    finally:
        click.echo("\r" + " " * 78 + "\r", nl=False, err=True)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: object = None,
) -> None:
    place = "" if issubclass(category, PyknnmiWarning) else f" ({filename}:{lineno})"
    click.echo(f"Warning: {message}{place}", err=True)
