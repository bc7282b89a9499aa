"""From a spec string to a graph."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Never, Self, cast

from pyknnmi.auditing import find
from pyknnmi.calibration.rates import DRAWS, Calibration, calibrate_questions
from pyknnmi.data.dataset import Dataset, Missing
from pyknnmi.errors import DataError, ParameterError, collected_warnings
from pyknnmi.graphs.graph import Graph
from pyknnmi.graphs.partially_directed import PartiallyDirectedGraph
from pyknnmi.learning import orientation
from pyknnmi.learning.misplaced import misplaced_argument
from pyknnmi.learning.preparation import Repeats, observations, prepared, to_dataset, transformed
from pyknnmi.learning.presets import PRESETS
from pyknnmi.learning.provenance import identity_of, versions
from pyknnmi.learning.result import LearnResult, named_blankets, named_evidence, named_pairs
from pyknnmi.protocols.ci_tests import CIResult, CITest
from pyknnmi.protocols.component import Component, guarded
from pyknnmi.protocols.learned_graph import Evidence, LearnedGraph, Pair
from pyknnmi.protocols.spec import Spec
from pyknnmi.protocols.transforms import Transform
from pyknnmi.protocols.wrappers import Inner, Learned, Wrapper
from pyknnmi.registry.registry import KINDS, Registry, default_registry
from pyknnmi.run import Progress, ProgressError, Run
from pyknnmi.search import processes
from pyknnmi.search.constraints import Column, Constraints
from pyknnmi.search.contract import checked_graph
from pyknnmi.search.learners import Learner, most_doubtful
from pyknnmi.search.processes import on_cluster
from pyknnmi.search.store import Store
from pyknnmi.search.tester import Tester

__all__ = ["DEFAULT_SPEC", "Pipeline", "learn"]

_log = logging.getLogger("pyknnmi")
DEFAULT_SPEC = "iamb+knn-cmi"
_ORDER = "a spec is any wrappers, any transforms, then one learner, then its CI test"
_MAY_FOLLOW = {
    "wrapper": ("wrapper", "transform", "learner"),
    "transform": ("transform", "learner"),
    "learner": ("test",),
    "test": (),
}
_IN_WORDS = {"wrapper": "a wrapper", "transform": "a transform", "learner": "a learner", "test": "a CI test"}


@dataclass(frozen=True)
class _Outcome:
    """What came out of a run, in column numbers."""

    learned: LearnedGraph = field(default_factory=lambda: LearnedGraph(()))
    directed: Collection[Pair] = ()
    undirected: Collection[Pair] = ()
    calibration: Calibration | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: {"tests": 0, "permutations": 0, "scored": 0})


@dataclass(frozen=True)
class Pipeline:
    """Components that fit together: transforms, a learner, the CI test that it uses, and wrappers round them all.

    Examples
    --------
    >>> str(Pipeline.parse("iamb(rule=or)+fisher-z"))
    'iamb(rule=or,exhaustive=false,max_conditioning=none,adjust=none)+fisher-z(alpha=0.05,correlation=pearson)'
    """

    learner: Learner
    test: CITest | None = None
    transforms: tuple[Transform, ...] = ()
    wrappers: tuple[Wrapper, ...] = ()

    def __post_init__(self) -> None:
        if self.learner.uses_test and self.test is None:
            raise ParameterError(
                f"the learner '{self.learner.name}' needs a CI test: write "
                f"'{self.learner.name}+knn-cmi', or another test's name"
            )
        if not self.learner.uses_test and self.test is not None:
            raise ParameterError(f"the learner '{self.learner.name}' uses no CI test: leave '{self.test.name}' out")

    @classmethod
    def parse(cls, text: str, registry: Registry | None = None) -> Self:
        """Return the pipeline that a spec string describes, or the name of a preset.

        Raises
        ------
        SpecError
            Bad grammar, an unknown name, a bad parameter or a wrong order; the place is marked.
        """
        spec = Spec.parse(text)
        if str(spec) in PRESETS:
            spec = Spec.parse(PRESETS[str(spec)].spec)
        for call in spec.calls:
            if call.name in PRESETS:
                raise spec.error(f"'{call.name}' is a preset: it stands alone, for {PRESETS[call.name].spec}", call)
        registry = registry or default_registry()
        components = [registry.component_of(spec, call) for call in spec.calls]
        kinds = [component.kind for component in components]
        for kind, following, call in zip(kinds, kinds[1:], spec.calls, strict=False):
            if following not in _MAY_FOLLOW[kind]:
                raise spec.error(
                    f"'{call.name}' is {_IN_WORDS[kind]} and {_IN_WORDS[following]} follows: {_ORDER}", call
                )
        stages = {kind: [c for c in components if c.kind == kind] for kind in KINDS}
        if not stages["learner"]:
            raise spec.error(f"a learner is missing: {_ORDER}", spec.calls[-1])
        learner = cast(Learner, stages["learner"][0])
        test = cast(CITest, stages["test"][0]) if stages["test"] else None
        try:
            transforms = tuple(cast(list[Transform], stages["transform"]))
            return cls(learner, test, transforms, tuple(cast(list[Wrapper], stages["wrapper"])))
        except ParameterError as error:
            raise spec.error(str(error), spec.calls[kinds.index("learner")]) from None

    @property
    def preset(self) -> str | None:
        """The name of the preset that this pipeline is, if it is one."""
        return next((name for name, preset in PRESETS.items() if str(Pipeline.parse(preset.spec)) == str(self)), None)

    def components(self) -> tuple[Component, ...]:
        """Return the stages in the order of a spec, in which they work: a wrapper goes round all that follow."""
        return (*self.wrappers, *self.transforms, self.learner, *([self.test] if self.test else []))

    def __str__(self) -> str:
        return "+".join(map(str, self.components()))

    def learn(
        self,
        data: Any,
        run: Run | None = None,
        constraints: Constraints | None = None,
        *,
        orient: bool = False,
        calibrate: int = 0,
        store: Store | None = None,
    ) -> LearnResult:
        """Return the Markov network of `data`; see `pyknnmi.learn`. `calibrate` is the draws a question."""
        _log.info("learning %s", self)
        with collected_warnings() as messages:
            result = self._learn(data, run, constraints, orient=orient, calibrate=calibrate, store=store)
        _log.info("learned %r", result)
        return replace(result, warnings=tuple(messages))

    def _learn(
        self,
        data: Any,
        run: Run | None,
        constraints: Constraints | None,
        *,
        orient: bool,
        calibrate: int,
        store: Store | None,
    ) -> LearnResult:
        start = time.perf_counter()
        run = run or Run()
        dataset = data if isinstance(data, Dataset) else to_dataset(data)
        if dataset.p < 2:
            raise DataError(f"the data have one column, '{dataset.names[0]}': a network needs two")
        constraints = constraints or Constraints()
        constraints.check(dataset)
        self._check_abilities(constraints, orient, calibrate, store)
        findings = find(dataset)
        columns, constants = prepared(dataset, self.test or self.learner, findings)
        found = _Outcome()
        if columns.p > 1:
            try:
                found = self._learn_columns(columns, run, constraints, orient, calibrate, store)
            except ProgressError as failed:
                raise failed.error from None
        names = columns.names
        graph = Graph(dataset.names, named_pairs(found.learned.edges, names))
        return LearnResult(
            graph=graph,
            blankets=named_blankets(found.learned, names, constraints.targets or dataset.names, dataset.names),
            evidence=named_evidence(found.learned, names, graph),
            spec=str(self),
            seed=run.seed,
            data_sha256=dataset.sha256,
            shape=dataset.values.shape,
            rows_left_out=dataset.rows_left_out,
            repeats_left_out=dataset.repeats_left_out,
            has_missing=dataset.has_missing,
            findings=findings,
            constant_columns=constants,
            counts=found.counts,
            seconds=time.perf_counter() - start,
            versions=versions(self.components()),
            constraints=constraints,
            details=found.learned.details,
            oriented=PartiallyDirectedGraph(
                dataset.names, named_pairs(found.directed, names), named_pairs(found.undirected, names)
            )
            if orient
            else None,
            calibration=found.calibration,
        )

    def _learn_columns(
        self,
        columns: Dataset,
        run: Run,
        constraints: Constraints,
        orient: bool,
        calibrate: int,
        store: Store | None,
    ) -> _Outcome:
        if self.wrappers:
            wrapper = self.wrappers[0]
            inner = _Inner(replace(self, wrappers=self.wrappers[1:]), constraints, store)
            wrapped = guarded(wrapper, "learning the graph", lambda: wrapper.learn(inner, columns, run))
            constrained = constraints.answers(columns)
            graph = checked_graph(wrapper.name, wrapped.graph, columns, constrained)
            return _Outcome(_with_constrained(graph, graph.evidence or {}, constrained), counts=wrapped.counts)
        for transform in self.transforms:
            columns = transformed(transform, columns)
        stored = store.answers(columns.sha256, identity_of(self.test, run)) if store and self.test else None
        tester = Tester(self.test, columns, run, constraints, stored)
        learned = self._learned(columns, tester, run)
        directed, undirected = orientation.orient(self.learner, learned.edges, tester) if orient else ((), ())
        counts = {
            "tests": len(tester.answers),
            "permutations": sum(answer.permutations for answer in tester.answers.values()),
            "scored": tester.scored,
        }
        calibration = None
        if calibrate and self.test:
            calibration = calibrate_questions(self.test, columns, tester.trail, run, calibrate)
        return _Outcome(learned, directed, undirected, calibration, counts)

    def _learned(self, columns: Dataset, tester: Tester, run: Run) -> LearnedGraph:
        """Return what the learner returns, with the evidence for each pair that was tested or constrained."""
        learner = self.learner
        learned = guarded(learner, "learning the graph", lambda: learner.learn(columns, tester, run))
        learned = checked_graph(learner.name, learned, columns, tester.constrained, tester.targets)
        found = most_doubtful(tester.trail, learned.edges) if learned.evidence is None else learned.evidence
        return _with_constrained(learned, found, tester.constrained)

    def _check_abilities(self, constraints: Constraints, orient: bool, calibrate: int, store: Store | None) -> None:
        """Raise an error for what this learner cannot do, before anything is tested."""
        name = self.learner.name
        if constraints.targets is not None and not self.learner.takes_targets:
            raise ParameterError(
                f"the learner '{name}' searches for all columns at once: leave the targets out, or take a learner "
                "that searches column by column, such as iamb",
                "targets",
            )
        takes_constraints = self.learner.uses_test or self.learner.takes_constraints
        if not takes_constraints and (constraints.required or constraints.forbidden):
            raise ParameterError(
                f"the learner '{name}' uses no CI test, and edges are required or forbidden through the test: "
                "leave them out, or take a learner that uses one, such as iamb"
            )
        if orient and self.test is None:
            raise ParameterError(
                f"the learner '{name}' uses no CI test, which orientation needs: leave orient out, or take a learner "
                "that uses one, such as pc-stable",
                "orient",
            )
        for what, wanted in (("orient", orient), ("calibrate", bool(calibrate))):
            if wanted and self.wrappers:
                raise ParameterError(
                    f"the wrapper '{self.wrappers[0].name}' learns several graphs or changes one, and {what} is about "
                    "one search: leave either out",
                    what,
                )
        if calibrate and self.test is None:
            raise ParameterError(
                f"the learner '{name}' uses no CI test, so there is none to calibrate: leave calibrate out", "calibrate"
            )
        if self.test is None and store is not None:
            raise ParameterError(
                f"the learner '{name}' uses no CI test, and a store keeps the answers of one: leave the store out",
                "store",
            )
        if orient and constraints.targets is not None:
            raise ParameterError(
                "orientation needs the neighbours of every column: leave either orient or the targets out", "orient"
            )


def _with_constrained(
    learned: LearnedGraph, evidence: Mapping[Pair, Evidence], constrained: Mapping[Pair, CIResult]
) -> LearnedGraph:
    fixed = {pair: Evidence((*pair, ()), answer) for pair, answer in constrained.items()}
    return replace(learned, evidence={**evidence, **fixed})


class _Inner(Inner):
    """A pipeline for a wrapper to go round."""

    def __init__(self, pipeline: Pipeline, constraints: Constraints, store: Store | None) -> None:
        self._pipeline = pipeline
        self._constraints = constraints
        self._store = store

    def learn(self, dataset: Dataset, run: Run) -> Learned:
        constants = dataset.constant_columns()
        varying = [i for i in range(dataset.p) if i not in constants]
        if len(varying) < 2:
            return Learned(LearnedGraph(()))
        columns = dataset.select(varying) if constants else dataset
        outcome = self._pipeline._learn_columns(columns, run, self._constraints, False, 0, self._store)  # noqa: SLF001
        graph = outcome.learned
        if constants:  # of a part of the rows; evidence is of use for all of them only
            graph = LearnedGraph({(varying[i], varying[j]) for i, j in graph.edges}, evidence={})
        return Learned(graph, outcome.counts)

    def each(self, datasets: Sequence[Dataset], run: Run) -> Iterator[Learned]:
        alone = Run(run.seed, run.threads_per_job)
        done = tests = 0
        if run.workers > 1 and not processes.shares_memory():
            found = processes.each(partial(self.learn, run=alone), datasets, run.workers)
        else:
            found = (self.learn(dataset, run.part()) for dataset in datasets)
        for learned in found:
            done, tests = done + 1, tests + learned.counts["tests"]
            run.report(Progress(done, len(datasets), tests))
            yield learned


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
