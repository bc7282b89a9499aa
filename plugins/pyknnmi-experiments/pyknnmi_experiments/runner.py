"""Runs experiments, side by side, into a table that a later run goes on with."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from pyknnmi import DataError, Dataset, ParameterError, PyknnmiError, Run
from pyknnmi.commands import cores, side_by_side, workers
from pyknnmi_experiments.catalogue import EXPERIMENTS, ROWS, Drawn, Experiment
from pyknnmi_experiments.methods import Method
from pyknnmi_experiments.results import Key, ResultRow, Results, open_results

__all__ = ["ExperimentProgress", "run_experiments"]


@dataclass(frozen=True)
class ExperimentProgress:
    """How far the experiments are.

    Attributes
    ----------
    done, total : int
        Rows finished, by earlier runs too, and rows in all.
    seconds_left : float or None
        An estimate; None until every kind of run that is left has been seen once.
    """

    done: int
    total: int
    seconds_left: float | None


@dataclass(frozen=True)
class _Task:
    experiment: str
    method: Method
    n: int
    repetition: int
    seed: int

    @property
    def key(self) -> Key:
        return self.experiment, self.method.name, self.n, self.repetition


@dataclass(frozen=True)
class _Failure:
    task: _Task
    reason: str


def run_experiments(
    experiments: Sequence[Experiment],
    methods: Sequence[Method],
    path: str | os.PathLike[str],
    *,
    sizes: Sequence[int] = (125, 250, 500, 1000, 2000),
    repetitions: int = 25,
    seed: int = 123456,
    jobs: int | None = None,
    progress: Callable[[ExperimentProgress], None] | None = None,
) -> list[ResultRow]:
    """Learn every experiment by every method, for every size and repetition, and return the rows.

    Rows that the table at `path` has already are not computed again, and each new one is written as it is finished:
    a run that was stopped goes on where it was. The rows are the same, but for the seconds, for any number of stops
    and jobs.

    Parameters
    ----------
    experiments : sequence of Experiment
    methods : sequence of Method
    path : path
        An SQLite file, made if there is none, which may hold other experiments and methods too.
    sizes : sequence of int
        Numbers of rows, from 2 to 2000: the first rows of one draw of 2000.
    repetitions : int
        Draws.
    seed : int, 0 to 2**32 - 1
        Fixes the data. With 123456 the networks' data are those of the paper. Repetition r is learned with the run
        seed ``seed + r``.
    jobs : int, optional
        Worker processes; -1 for one a core. When left out, what ``joblib.parallel_config`` says, a Dask cluster for
        example, or else one.
    progress : callable, optional
        Called with an `ExperimentProgress` after each row.

    Raises
    ------
    DataError
        The file holds rows of these experiments and methods that were made with another seed or spec.
    PyknnmiError
        Some runs failed; the others have been made. The message names the first.
    """
    _check(sizes, repetitions, seed)
    # Repetition by repetition: after the first, the time left is known. The longest runs first: the last are short.
    tasks = [
        _Task(experiment.name, method, n, repetition, seed)
        for repetition in range(repetitions)
        for experiment in experiments
        for n in sorted(set(sizes), reverse=True)
        for method in methods
    ]
    with open_results(path) as results:
        _check_same_origin(tasks, results, path)
        failures = _run_missing(tasks, results, jobs, progress)
        rows = [results.rows[task.key] for task in tasks if task.key in results.rows]
    if failures:
        first = failures[0]
        raise PyknnmiError(
            f"{len(failures)} of {len(tasks)} runs failed; first '{first.task.method.name}' on "
            f"{first.task.experiment}, n = {first.task.n}, repetition {first.task.repetition}: {first.reason}"
        )
    return rows


def _check(sizes: Iterable[int], repetitions: int, seed: int) -> None:
    for n in sizes:
        if not 2 <= n <= ROWS:
            raise ParameterError(f"n = {n}: give sizes from 2 to {ROWS}", "sizes")
    if repetitions < 1:
        raise ParameterError(f"repetitions = {repetitions}: give at least 1", "repetitions")
    if not 0 <= seed < 2**32:
        raise ParameterError(f"seed = {seed}: give a whole number from 0 to 2**32 - 1", "seed")


def _check_same_origin(tasks: Sequence[_Task], results: Results, path: str | os.PathLike[str]) -> None:
    """Raise if the table's rows of these experiments and methods were made by something else."""
    seeds = {task.experiment: task.seed for task in tasks}
    specs = {(task.experiment, task.method.name): task.method.spec for task in tasks}
    for row in results.rows.values():
        if row.seed != seeds.get(row.experiment, row.seed):
            of, was, now = "", f"seed {row.seed}", str(seeds[row.experiment])
        elif row.spec != specs.get((row.experiment, row.method), row.spec):
            of, was, now = f" by '{row.method}'", row.spec, specs[row.experiment, row.method]
        else:
            continue
        raise DataError(
            f"'{os.fspath(path)}' has rows of {row.experiment}{of} that were made with {was}, not {now}: "
            f"give another file{', or name the method anew (name=spec)' if of else ''}"
        )


def _run_missing(
    tasks: Sequence[_Task],
    results: Results,
    jobs: int | None,
    progress: Callable[[ExperimentProgress], None] | None,
) -> list[_Failure]:
    missing = [task for task in tasks if task.key not in results.rows]
    processes = workers(jobs)
    threads = 0 if processes == 1 else max(1, cores() // processes)
    timer = _Timer(missing, results.rows.values(), processes)
    failures = []
    # Batches would mix runs of milliseconds with runs of minutes.
    outcomes = side_by_side(partial(_run, threads=threads), missing, jobs, batch_size=1)
    for finished, outcome in enumerate(outcomes, start=1):
        if isinstance(outcome, _Failure):
            failures.append(outcome)
            timer.finished(outcome.task.key)
        else:
            results.add([outcome])
            timer.finished(outcome.key, outcome.seconds)
        if progress:
            progress(ExperimentProgress(len(tasks) - len(missing) + finished, len(tasks), timer.seconds_left()))
    return failures


class _Timer:
    """Knows how long each kind of run (experiment, method, n) takes, and how many are left."""

    def __init__(self, missing: Iterable[_Task], rows: Iterable[ResultRow], workers: int) -> None:
        self._workers = workers
        self._left = Counter(task.key[:3] for task in missing)
        self._seen: Counter[tuple[str, str, int]] = Counter()
        self._seconds: defaultdict[tuple[str, str, int], float] = defaultdict(float)
        for row in rows:
            self._add(row.key, row.seconds)

    def finished(self, key: Key, seconds: float = 0.0) -> None:
        self._left[key[:3]] -= 1
        self._add(key, seconds)

    def seconds_left(self) -> float | None:
        kinds = [kind for kind, count in self._left.items() if count]
        if not all(self._seen[kind] for kind in kinds):
            return None
        return sum(self._left[kind] * self._seconds[kind] / self._seen[kind] for kind in kinds) / self._workers

    def _add(self, key: Key, seconds: float) -> None:
        self._seen[key[:3]] += 1
        self._seconds[key[:3]] += seconds


def _run(task: _Task, threads: int) -> ResultRow | _Failure:
    try:
        data, truth = _drawn(task.experiment, task.seed, task.repetition)
        first_rows = Dataset(data.values[: task.n], data.names)
        result = task.method.pipeline.learn(first_rows, Run(task.seed + task.repetition, threads))
    except Exception as error:  # one bad run must not stop the others
        first_line = str(error).partition("\n")[0]
        return _Failure(task, f"{type(error).__name__}: {first_line}")
    return ResultRow(
        experiment=task.experiment,
        method=task.method.name,
        spec=task.method.spec,
        seed=task.seed,
        n=task.n,
        repetition=task.repetition,
        true_edges=len(truth.edges),
        hamming_distance=result.graph.hamming(truth),
        false_positives=result.graph.false_positives(truth),
        false_negatives=result.graph.false_negatives(truth),
        tests=result.counts["tests"],
        seconds=round(result.seconds, 4),
    )


@lru_cache(maxsize=4)
def _drawn(experiment: str, seed: int, repetition: int) -> Drawn:
    return EXPERIMENTS[experiment].draw(seed, repetition)
