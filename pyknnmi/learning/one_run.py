"""One run: from a table to the result, by the components of a pipeline."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pyknnmi.auditing import find
from pyknnmi.calibration.rates import Calibration, calibrate_questions
from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import DataError, without_warnings
from pyknnmi.graphs.graph import Graph
from pyknnmi.graphs.partially_directed import PartiallyDirectedGraph
from pyknnmi.learning import orientation
from pyknnmi.learning.abilities import check_abilities
from pyknnmi.learning.preparation import prepared, to_dataset, transformed, weighed
from pyknnmi.learning.provenance import identity_of, versions
from pyknnmi.learning.result import LearnResult, named_blankets, named_evidence, named_pairs
from pyknnmi.learning.stages import Stages
from pyknnmi.protocols.ci_tests import CIResult
from pyknnmi.protocols.component import guarded
from pyknnmi.protocols.learned_graph import Evidence, LearnedGraph, Pair
from pyknnmi.protocols.wrappers import Inner, Learned
from pyknnmi.run import Progress, ProgressError, Run
from pyknnmi.search import processes
from pyknnmi.search.constraints import Constraints
from pyknnmi.search.contract import checked_graph
from pyknnmi.search.learners import Learner, most_doubtful
from pyknnmi.search.store import Store
from pyknnmi.search.tester import Tester

__all__ = ["learn_graph"]


@dataclass(frozen=True)
class _Outcome:
    """What came out of a run, in column numbers."""

    learned: LearnedGraph = field(default_factory=lambda: LearnedGraph(()))
    directed: Collection[Pair] = ()
    undirected: Collection[Pair] = ()
    calibration: Calibration | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: {"tests": 0, "permutations": 0, "scored": 0})


def learn_graph(
    stages: Stages,
    data: Any,
    run: Run | None,
    constraints: Constraints | None,
    *,
    orient: bool,
    calibrate: int,
    store: Store | None,
) -> LearnResult:
    """Return the Markov network of `data` that the stages find; `calibrate` is the number of draws for a question."""
    start = time.perf_counter()
    run = run or Run()
    run.warn_of_fewer_threads()
    dataset = data if isinstance(data, Dataset) else to_dataset(data)
    if dataset.p < 2:
        raise DataError(f"the data have one column, '{dataset.names[0]}': a network needs two")
    constraints = constraints or Constraints()
    constraints.check(dataset)
    check_abilities(stages, constraints, orient, calibrate, store)
    component = stages.test or stages.learner
    findings = weighed(find(dataset), component, dataset)
    columns, constants = prepared(dataset, component, findings)
    found = _Outcome()
    if columns.p > 1:
        try:
            found = _learn_columns(stages, columns, run, constraints, orient, calibrate, store)
        except ProgressError as failed:
            raise failed.error from None
    names = columns.names
    graph = Graph(dataset.names, named_pairs(found.learned.edges, names))
    return LearnResult(
        graph=graph,
        blankets=named_blankets(found.learned, names, constraints.targets or dataset.names, dataset.names),
        evidence=named_evidence(found.learned, names, graph),
        spec=str(stages),
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
        versions=versions(stages.components()),
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
    stages: Stages,
    columns: Dataset,
    run: Run,
    constraints: Constraints,
    orient: bool,
    calibrate: int,
    store: Store | None,
    for_p_values: bool = False,
) -> _Outcome:
    if stages.wrappers:
        wrapper = stages.wrappers[0]
        within = replace(stages, wrappers=stages.wrappers[1:])
        inner = _Inner(within, constraints, store, for_p_values or wrapper.compares_p_values)
        wrapped = guarded(wrapper, "learning the graph", lambda: wrapper.learn(inner, columns, run))
        constrained = constraints.answers(columns)
        graph = checked_graph(wrapper.name, wrapped.graph, columns, constrained)
        return _Outcome(_with_constrained(graph, graph.evidence or {}, constrained), counts=wrapped.counts)
    for transform in stages.transforms:
        columns = transformed(transform, columns)
    stored = store.answers(columns.sha256, identity_of(stages.test, run)) if store and stages.test else None
    tester = Tester(stages.test, columns, run, constraints, stored, for_p_values=for_p_values)
    learned = _learned(stages.learner, columns, tester, run)
    directed, undirected = orientation.orient(stages.learner, learned.edges, tester) if orient else ((), ())
    counts = {
        "tests": len(tester.answers),
        "permutations": sum(answer.permutations for answer in tester.answers.values()),
        "scored": tester.scored,
    }
    calibration = None
    if calibrate and stages.test:
        with without_warnings():  # the search has warned of the same columns
            calibration = calibrate_questions(stages.test, columns, tester.trail, run, calibrate)
    return _Outcome(learned, directed, undirected, calibration, counts)


def _learned(learner: Learner, columns: Dataset, tester: Tester, run: Run) -> LearnedGraph:
    """Return what the learner returns, with the evidence for each pair that was tested or constrained."""
    learned = guarded(learner, "learning the graph", lambda: learner.learn(columns, tester, run))
    learned = checked_graph(learner.name, learned, columns, tester.constrained, tester.targets)
    found = most_doubtful(tester.trail, learned.edges) if learned.evidence is None else learned.evidence
    return _with_constrained(learned, found, tester.constrained)


def _with_constrained(
    learned: LearnedGraph, evidence: Mapping[Pair, Evidence], constrained: Mapping[Pair, CIResult]
) -> LearnedGraph:
    fixed = {pair: Evidence((*pair, ()), answer) for pair, answer in constrained.items()}
    return replace(learned, evidence={**evidence, **fixed})


class _Inner(Inner):
    """What a wrapper goes round."""

    def __init__(self, stages: Stages, constraints: Constraints, store: Store | None, for_p_values: bool) -> None:
        self._stages = stages
        self._constraints = constraints
        self._store = store
        self._for_p_values = for_p_values

    def learn(self, dataset: Dataset, run: Run) -> Learned:
        constants = dataset.constant_columns()
        varying = [i for i in range(dataset.p) if i not in constants]
        if len(varying) < 2:
            return Learned(LearnedGraph(()))
        columns = dataset.select(varying) if constants else dataset
        outcome = _learn_columns(
            self._stages, columns, run, self._constraints, False, 0, self._store, self._for_p_values
        )
        graph = outcome.learned
        if constants:  # only a part of the rows has them, and evidence is used for the whole table only
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
