"""The checks of learners and wrappers, in a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyknnmi.conformance.expectations import (
    RUN,
    require,
    with_holes,
)
from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import DataError
from pyknnmi.learning.pipeline import Pipeline
from pyknnmi.learning.result import LearnResult
from pyknnmi.run import Run
from pyknnmi.search.constraints import Constraints
from pyknnmi.search.tester import Tester

__all__ = ["CHECKS_OF_LEARNERS"]


def _graph(pipeline: Pipeline, data: Dataset) -> LearnResult:
    """Return the result, which keeps the contract."""
    return pipeline.learn(data, RUN)


def _same_graph_again(pipeline: Pipeline, data: Dataset) -> None:
    first, second = _graph(pipeline, data), _graph(pipeline, data)
    require(second.graph == first.graph, "a second run gives another graph")
    require(second.blankets == first.blankets, "a second run gives other blankets")


def _resources(pipeline: Pipeline, data: Dataset) -> None:
    on_two = pipeline.learn(data, Run(seed=RUN.seed, threads=2))
    require(on_two.graph == _graph(pipeline, data).graph, "the graph changes with the number of threads")


def _constraints(pipeline: Pipeline, data: Dataset) -> None:
    if pipeline.learner.uses_test or pipeline.learner.takes_constraints:
        a, b, _, d = data.names[:4]
        # the pipeline refuses a graph that does not keep to them
        pipeline.learn(data, RUN, Constraints(required=((a, d),), forbidden=((a, b),)))


def _learns_without_traces(pipeline: Pipeline, data: Dataset) -> None:
    pipeline.learner.learn(data, Tester(pipeline.test, data, RUN), RUN)


def _targets(pipeline: Pipeline, data: Dataset) -> None:
    if pipeline.learner.takes_targets:
        pipeline.learn(data, RUN, Constraints(targets=(data.names[3],)))


def _data_with_holes(pipeline: Pipeline, data: Dataset) -> None:
    try:
        pipeline.learn(with_holes(data), RUN)
    except DataError:  # a learner without a test may refuse them
        if pipeline.learner.uses_test:
            raise


CHECKS_OF_LEARNERS: Mapping[str, Callable[[Pipeline, Dataset], object]] = {
    "graph": _graph,
    "same-graph-again": _same_graph_again,
    "threads": _resources,
    "constraints": _constraints,
    "targets": _targets,
    "no-traces": _learns_without_traces,
    "missing-values": _data_with_holes,
}
