"""Commands that run the experiments of the paper and draw their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from pyknnmi import PyknnmiError
from pyknnmi.commands import Failure, progress_line, writing
from pyknnmi_experiments import (
    EXPERIMENTS,
    ExperimentProgress,
    ResultRow,
    find_experiments,
    open_results,
    parse_methods,
    read_results,
    run_experiments,
    save_figures,
    summarize,
    write_csv,
)

__all__ = ["experiment", "figures"]


def _whole_numbers(ctx: click.Context, param: click.Parameter, text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"'{text}' is no list of whole numbers such as 125,250,500", ctx, param) from None


def _list(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    width = max(map(len, EXPERIMENTS))
    for found in EXPERIMENTS.values():
        click.echo(f"{found.name:<{width}}  {found.title}")
    ctx.exit()


@click.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--methods",
    multiple=True,
    default=["iamb+knn-cmi; iamb+fisher-z"],
    show_default=True,
    help="Specs separated by ';'; name=spec gives one a name. May be repeated.",
)
@click.option(
    "--sizes", callback=_whole_numbers, default="125,250,500,1000,2000", show_default=True, help="Numbers of rows."
)
@click.option("--repetitions", default=25, show_default=True, help="Draws of the data.")
@click.option("--seed", default=123456, show_default=True, help="Fixes the data; this one is the paper's.")
@click.option("--jobs", default=1, show_default=True, help="Worker processes; -1: one a core.")
@click.option("--cluster", metavar="ADDRESS", help="Scheduler of a Dask cluster to run on, such as tcp://host:8786.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default="results.db",
    show_default=True,
    help="SQLite file; rows that it has are not made again.",
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write all rows of the file as CSV; rows that this CSV file has already are taken over first.",
)
@click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=_list, help="List the experiments.")
def experiment(
    names: Sequence[str],
    methods: Sequence[str],
    sizes: Sequence[int],
    repetitions: int,
    seed: int,
    jobs: int,
    cluster: str | None,
    out: Path,
    csv_file: Path | None,
) -> None:
    """Run the experiments NAME of the paper ('*' stands for any characters) into a file.

    Stopped, it goes on where it was when given again.
    """
    chosen, compared = find_experiments(names), parse_methods(methods)
    with writing(), _on_cluster(cluster), _time_left() as progress:
        if csv_file and csv_file.exists():
            with open_results(out) as results:
                results.add(read_results(csv_file))
        try:
            rows = run_experiments(
                chosen,
                compared,
                out,
                sizes=sizes,
                repetitions=repetitions,
                seed=seed,
                jobs=None if cluster else jobs,
                progress=progress,
            )
        except KeyboardInterrupt:
            raise Failure(f"stopped; what is finished is in {out}, and the same command goes on from there") from None
    click.echo(_table(rows))
    click.echo(f"{len(rows)} rows in {out}")
    if csv_file:
        with writing():
            write_csv(read_results(out), csv_file)
        click.echo(f"wrote {csv_file}")


@click.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="figures",
    show_default=True,
    help="Folder for the PNG and SVG files.",
)
def figures(results: Path, out: Path) -> None:
    """Draw the RESULTS of experiments: mean Hamming distance against n."""
    rows = read_results(results)
    with writing():
        paths = save_figures(rows, out)
    click.echo(f"wrote {', '.join(path.name for path in paths)} to {out}")


def _table(rows: Sequence[ResultRow]) -> str:
    """Return the mean Hamming distances (and standard errors), one line a method, one column an n."""
    cells: dict[str, dict[str, dict[int, str]]] = {}
    for found in summarize(rows):
        text = f"{found.hamming_distance:.2f} ({found.standard_error:.2f})"
        cells.setdefault(found.experiment, {}).setdefault(found.method, {})[found.n] = text
    sizes = sorted({row.n for row in rows})
    width = max(len(row.method) for row in rows)
    lines = []
    for name, methods in cells.items():
        lines.append(f"{name}: mean Hamming distance (standard error)")
        lines.append(" " * width + "".join(f"{f'n = {n}':>14}" for n in sizes))
        lines += [
            f"{method:<{width}}" + "".join(f"{found.get(n, ''):>14}" for n in sizes)
            for method, found in methods.items()
        ]
        lines.append("")
    return "\n".join(lines)


@contextmanager
def _on_cluster(address: str | None) -> Iterator[None]:
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise PyknnmiError('a cluster needs Dask: pip install "pyknnmi-experiments[cluster]"') from None
    import joblib

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise PyknnmiError(f"there is no Dask scheduler at '{address}': {error}") from None
    with client, joblib.parallel_config(backend="dask"):
        yield


@contextmanager
def _time_left() -> Iterator[Callable[[ExperimentProgress], None]]:
    """Yield a progress callback: one line that changes on a terminal, elsewhere a line a minute."""
    with progress_line(log_seconds=60) as show:

        def update(progress: ExperimentProgress) -> None:
            left = progress.seconds_left
            text = "time left unknown yet" if left is None else f"{_duration(left)} left"
            show(progress.done, progress.total, f"runs, {text}")

        yield update


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
