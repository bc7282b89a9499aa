"""The function `learn`: the reading of a table, its preparation and one run, in a call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any, Never

from pyknnmi.calibration.rates import DRAWS
from pyknnmi.data.dataset import Missing
from pyknnmi.errors import ParameterError, collected_warnings
from pyknnmi.learning.misplaced import misplaced_argument
from pyknnmi.learning.pipeline import DEFAULT_SPEC, Pipeline
from pyknnmi.learning.preparation import Repeats, observations, to_dataset
from pyknnmi.learning.result import LearnResult
from pyknnmi.run import Progress, Run
from pyknnmi.search.constraints import Column, Constraints
from pyknnmi.search.processes import on_cluster
from pyknnmi.search.store import Store

__all__ = ["learn"]


def learn(
    data: Any,
    spec: str | Pipeline = DEFAULT_SPEC,
    *,
    seed: int = 0,
    threads: int = 0,
    jobs: int = 1,
    progress: Callable[[Progress], None] | None = None,
    required: Iterable[Sequence[Column]] = (),
    forbidden: Iterable[Sequence[Column]] = (),
    targets: Column | Iterable[Column] | None = None,
    orient: bool = False,
    calibrate: bool = False,
    store: str | os.PathLike[str] | None = None,
    missing: Missing = "raise",
    header: bool | None = None,
    missing_marks: str | Iterable[str] | None = None,
    categories: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    index: str | None = None,
    repeats: Repeats = "keep",
    blocks: Column | None = None,
    cluster: str | None = None,
    **misplaced: Never,
) -> LearnResult:
    """Return the Markov network of `data`: which columns depend on which, given all others.

    Parameters
    ----------
    data : path, open file, array_like of shape (n, p), data frame, mapping of names to columns, or Dataset
        n rows of p columns. A path names a file as `read_table` takes it. Columns of booleans, categories or
        text are for tests that take them (knn-cmi); the others are real numbers.
    spec : str or Pipeline, default "iamb+knn-cmi"
        What to run: any transforms, a learner, and its CI test, joined by ``+``; or a preset: ``paper``,
        ``recommended`` or ``fast``. ``pyknnmi components`` lists them.
    seed : int, default 0
        Fixes every random choice.
    threads : int, default 0
        Threads in all; 0 uses every core. The answer does not depend on it.
    jobs : int, default 1
        Worker processes over columns (joblib's convention; ``joblib.parallel_config`` chooses loky, the default, or
        Dask). The answer does not depend on it.
    progress : callable, optional
        Called with a `Progress` as the run goes on.
    required, forbidden : iterable of pairs of str or int
        Edges that are known to be there or not, by the names of their ends or their numbers from 0. They are never
        tested. A number that is also the name of another column is an error.
    targets : str, int or sequence of these, optional
        Search for the neighbours of these columns only. An edge to another column then rests on the one search, and
        edges between two others are not looked for.
    orient : bool, default False
        Also return ``oriented``, the graph with the directions that the data determine; see
        `pyknnmi.learning.orientation.orient`. It takes further tests.
    calibrate : bool, default False
        Also return ``calibration``: how often the test rejects independence in data made like these; see
        `pyknnmi.calibrate`. It takes about a hundred tests for each size of the conditioning sets.
    store : path, optional
        A file that keeps every answer of the test (SQLite). A run that was stopped goes on where it was; other
        learners on the same data take the answers that are there. An answer is used only for the same data, test,
        parameters, version and seed. The test must come from an installed plugin, whose version says when it changed.
    missing : {"raise", "drop", "drop-per-test"}
        What to do about missing values: raise an error, leave out every row that has any, or let each test leave out
        the rows that miss a value in its own columns.
    header, missing_marks, categories, ignore, index
        How the table is to be read; see `read_table`.
    repeats : {"keep", "one"}
        What to do about equal rows: take each for an observation, or each set of them for one. Repeats are real data
        where columns have few values; they are not where a row was copied, joined twice, or measured once and entered
        again, and then independent columns look dependent.
    blocks : str or int, optional
        A column that says which rows belong together, such as the subject of repeated measures. It is no node of the
        graph. The test says how blocks are permuted: ``knn-cmi(null=block)`` whole ones, ``knn-cmi(null=within)`` the
        rows of each.
    cluster : str, optional
        Address of the scheduler of a Dask cluster, such as ``tcp://10.0.0.1:8786``, whose workers search the columns.
        The data are sent to each once; a store stays here. `threads` are those of each search, one when left at 0.
    **misplaced
        Nothing: parameters of components stand in the spec. The error for one that is given here shows how.

    Returns
    -------
    LearnResult
        With ``graph``, ``blankets``, ``evidence`` and what is needed to repeat the run. It does not depend on
        the order of the columns.

    Raises
    ------
    DataError, DataTypeError
        Data that cannot be used, naming the column.
    SpecError
        A spec that cannot be read, with the place marked.
    UnknownNameError, ParameterError
        Constraints that name no column, contradict each other, or need what the learner cannot do.

    Warns
    -----
    PyknnmiWarning
        Constant columns, which are kept as isolated nodes; the serious findings of `audit`; data that the test was not
        made for.

    Examples
    --------
    >>> import pyknnmi
    >>> data, truth = pyknnmi.simulate.small_network(300, seed=2)
    >>> result = pyknnmi.learn(data, "iamb+fisher-z")
    >>> result.graph.neighbors("X6")
    ('X5',)
    """
    pipeline = Pipeline.parse(spec) if isinstance(spec, str) else spec
    if not isinstance(pipeline, Pipeline):
        raise ParameterError(f"spec = {spec!r}: give a text such as iamb+knn-cmi, or a Pipeline", "spec")
    if misplaced:
        raise misplaced_argument(learn, "spec", pipeline.components(), misplaced)
    with collected_warnings() as messages:
        dataset = to_dataset(
            data,
            missing,
            header=header,
            missing_marks=missing_marks,
            categories=categories,
            ignore=ignore,
            index=index,
        )
        dataset = observations(dataset, repeats, blocks)
        constraints = Constraints.of(dataset, required, forbidden, targets)
        run = Run(seed, threads or (0 if cluster is None else 1), jobs, progress)
        with on_cluster(cluster), closing(Store(store)) if store else nullcontext() as kept:
            result = pipeline.learn(
                dataset, run, constraints, orient=orient, calibrate=DRAWS if calibrate else 0, store=kept
            )
    return replace(result, warnings=tuple(messages))
