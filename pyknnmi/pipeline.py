"""From a spec string to an answer: `learn` a graph, or put one question with `ci_test`."""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Any, Self, cast

import numpy as np

from pyknnmi import estimators, orientation
from pyknnmi.ci_tests import CIResult, CITest
from pyknnmi.component import Component
from pyknnmi.constraints import Column, Constraints
from pyknnmi.data import Dataset, Missing, listing, natural_key
from pyknnmi.errors import (
    DataError,
    ParameterError,
    PluginError,
    PyknnmiWarning,
    SpecError,
    UnknownNameError,
)
from pyknnmi.graph import Graph
from pyknnmi.learners import Evidence, Learned, Learner, Pair, most_doubtful
from pyknnmi.partially_directed import PartiallyDirectedGraph
from pyknnmi.reading import read_table
from pyknnmi.registry import BUILT_IN, HERE, KINDS, Registry, default_registry
from pyknnmi.result import LearnResult, PairEvidence
from pyknnmi.run import Progress, Run
from pyknnmi.spec import Call, Spec
from pyknnmi.store import Store
from pyknnmi.tester import Tester
from pyknnmi.transforms import Transform

__all__ = ["DEFAULT_SPEC", "Pipeline", "ci_test", "learn"]

DEFAULT_SPEC = "iamb+knn-cmi"
_ORDER = "a spec is any transforms, then one learner, then its CI test"
_MAY_FOLLOW = {"transform": ("transform", "learner"), "learner": ("test",), "test": ()}
_IN_WORDS = {"transform": "a transform", "learner": "a learner", "test": "a CI test"}


@dataclass(frozen=True)
class _Outcome:
    """What came out of a run, in column numbers."""

    learned: Learned = field(default_factory=lambda: Learned(()))
    directed: Collection[Pair] = ()
    undirected: Collection[Pair] = ()
    counts: Mapping[str, int] = field(default_factory=lambda: {"tests": 0, "permutations": 0, "scored": 0})


@dataclass(frozen=True)
class Pipeline:
    """Components that fit together: transforms, a learner, and the CI test that it asks.

    Examples
    --------
    >>> str(Pipeline.parse("iamb(rule=or)+fisher-z"))
    'iamb(rule=or,exhaustive=false,max_conditioning=none)+fisher-z(alpha=0.05,correlation=pearson)'
    """

    learner: Learner
    test: CITest | None = None
    transforms: tuple[Transform, ...] = ()

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
        """Return the pipeline that a spec string describes.

        Raises
        ------
        SpecError
            Bad grammar, an unknown name, a bad parameter or a wrong order; the place is marked.
        """
        spec = Spec.parse(text)
        components = [_component(spec, call, registry) for call in spec.calls]
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
            return cls(learner, test, tuple(cast(list[Transform], stages["transform"])))
        except ParameterError as error:
            raise spec.error(str(error), spec.calls[kinds.index("learner")]) from None

    def components(self) -> tuple[Component, ...]:
        """Return the stages in the order in which they work."""
        return (*self.transforms, self.learner, *([self.test] if self.test else []))

    def __str__(self) -> str:
        return "+".join(map(str, self.components()))

    def learn(
        self,
        data: Any,
        run: Run | None = None,
        constraints: Constraints | None = None,
        *,
        orient: bool = False,
        store: Store | None = None,
    ) -> LearnResult:
        """Return the Markov network of `data`; see `pyknnmi.learn`."""
        start = time.perf_counter()
        run = run or Run()
        dataset = data if isinstance(data, Dataset) else to_dataset(data)
        if dataset.p < 2:
            raise DataError(f"the data have one column, '{dataset.names[0]}': a network needs two")
        constraints = constraints or Constraints()
        constraints.check(dataset)
        self._check_abilities(constraints, orient)
        isolated = dataset.constant_columns()
        _warn_of_constants([dataset.names[i] for i in isolated], stacklevel=4)
        columns = _canonical(dataset, isolated)
        if columns is not None:
            _check_kinds(self.test or self.learner, columns)
        found = _Outcome()
        if columns is not None and columns.p > 1:
            try:
                found = self._learn_columns(columns, run, constraints, orient, store)
            finally:
                if store:
                    store.close()
        names = columns.names if columns is not None else ()
        graph = Graph(dataset.names, _named(found.learned.edges, names))
        return LearnResult(
            graph=graph,
            blankets=_named_blankets(found.learned, names, constraints.targets or dataset.names, dataset),
            evidence=_named_evidence(found.learned, names, graph),
            spec=str(self),
            seed=run.seed,
            data_hash=dataset.hash,
            shape=dataset.values.shape,
            isolated=tuple(dataset.names[i] for i in isolated),
            counts=found.counts,
            seconds=time.perf_counter() - start,
            versions=versions(self),
            constraints=constraints,
            details=found.learned.details,
            directed=PartiallyDirectedGraph(
                dataset.names, _named(found.directed, names), _named(found.undirected, names)
            )
            if orient
            else None,
        )

    def _learn_columns(
        self, columns: Dataset, run: Run, constraints: Constraints, orient: bool, store: Store | None
    ) -> _Outcome:
        for transform in self.transforms:
            columns = _transformed(transform, columns)
        if self.test is None:
            return _Outcome(self.learner.learn(columns, None, run))  # type: ignore[arg-type]
        stored = store.answers(columns.hash, _test_in_full(self.test, run)) if store else None
        tester = Tester(self.test, columns, run, constraints, stored)
        learned = self.learner.learn(columns, tester, run)
        learned = replace(learned, evidence=self._evidence(learned, tester))
        directed, undirected = orientation.orient(self.learner, learned.edges, tester) if orient else ((), ())
        counts = {
            "tests": len(tester.answers),
            "permutations": sum(answer.permutations for answer in tester.answers.values()),
            "scored": tester.scored,
        }
        return _Outcome(learned, directed, undirected, counts)

    def _check_abilities(self, constraints: Constraints, orient: bool) -> None:
        """Raise an error for what this learner cannot do, before anything is tested."""
        name = self.learner.name
        if constraints.targets is not None and not self.learner.takes_targets:
            raise ParameterError(
                f"the learner '{name}' searches for all columns at once: leave the targets out, or take a learner "
                "that searches column by column, such as iamb",
                "targets",
            )
        if self.test is None and (constraints.required or constraints.forbidden):
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
        if orient and constraints.targets is not None:
            raise ParameterError(
                "orientation needs the neighbours of every column: leave either orient or the targets out", "orient"
            )

    def _evidence(self, learned: Learned, tester: Tester) -> dict[Pair, Evidence]:
        """Return the evidence a pair, and see that the learner kept to the constraints."""
        edges = {(min(edge), max(edge)) for edge in learned.edges}
        found = most_doubtful(tester.trail, edges) if learned.evidence is None else dict(learned.evidence)
        for pair, answer in tester.constrained.items():
            if answer.independent is (pair in edges):
                a, b = (tester.names[i] for i in pair)
                did = "joined it" if pair in edges else "left it out"
                raise PluginError(
                    f"{self.learner.name}: the edge {a} - {b} is {answer.decided_by}, but the learner {did}"
                )
            found[pair] = Evidence((*pair, ()), answer)
        return found


def learn(
    data: Any,
    spec: str | Pipeline = DEFAULT_SPEC,
    *,
    seed: int = 0,
    threads: int = 0,
    n_jobs: int = 1,
    progress: Callable[[Progress], None] | None = None,
    required: Iterable[Sequence[Column]] = (),
    forbidden: Iterable[Sequence[Column]] = (),
    targets: Column | Iterable[Column] | None = None,
    orient: bool = False,
    store: str | os.PathLike[str] | None = None,
    missing: Missing = "raise",
) -> LearnResult:
    """Return the Markov network of `data`: which columns depend on which, given all others.

    Parameters
    ----------
    data : path, array_like of shape (n, p), data frame or Dataset
        n rows of p columns. A path names a CSV or TSV file with a header line. Columns of booleans, categories or
        text are for tests that take them (knn-cmi); the others are real numbers.
    spec : str or Pipeline, default "iamb+knn-cmi"
        What to run: any transforms, a learner, and its CI test, joined by ``+``. ``pyknnmi components`` lists them.
    seed : int, default 0
        Fixes every random choice.
    threads : int, default 0
        Threads in all; 0 uses every core. The answer does not depend on it.
    n_jobs : int, default 1
        Worker processes over columns (joblib's convention, so a Dask or other backend can be chosen with
        ``joblib.parallel_config``). The answer does not depend on it.
    progress : callable, optional
        Called with a `Progress` as the run goes on.
    required, forbidden : iterable of pairs of str or int
        Edges that are known to be there or not, by the names or numbers of their ends. They are never tested.
    targets : str, int or sequence of these, optional
        Search for the neighbours of these columns only. An edge to another column then rests on the one search, and
        edges between two others are not looked for.
    orient : bool, default False
        Also return ``directed``, the graph with the directions that the data determine; see
        `pyknnmi.orientation.orient`. It takes further tests.
    store : path, optional
        A file that keeps every answer of the test (SQLite). A run that was stopped goes on where it was; other
        learners on the same data take the answers that are there. An answer is used only for the same data, test,
        parameters, version and seed. The test must come from an installed plugin, whose version tells when it changed.
    missing : {"raise", "drop", "drop-per-test"}
        What to do about missing values: raise an error, leave out every row that has any, or let each test leave out
        the rows that miss a value in its own columns.

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
        Constraints that name no column, contradict each other, or ask for what the learner cannot do.

    Warns
    -----
    PyknnmiWarning
        Constant columns, which are kept as isolated nodes; data that the test was not made for.

    Examples
    --------
    >>> import pyknnmi
    >>> data, truth = pyknnmi.simulate.small_network(300, seed=2)
    >>> result = pyknnmi.learn(data, "iamb+fisher-z")
    >>> result.graph.neighbors("X6")
    ('X5',)
    """
    pipeline = Pipeline.parse(spec) if isinstance(spec, str) else spec
    dataset = to_dataset(data, missing)
    constraints = Constraints.of(dataset, required, forbidden, targets)
    run = Run(seed, threads, n_jobs, progress)
    return pipeline.learn(dataset, run, constraints, orient=orient, store=Store(store) if store else None)


def ci_test(
    data: Any,
    x: Column | Sequence[Column],
    y: Column | Sequence[Column],
    given: Column | Sequence[Column] = (),
    test: str | CITest = "knn-cmi",
    *,
    seed: int = 0,
    threads: int = 0,
    missing: Missing = "raise",
) -> CIResult:
    """Return whether columns `x` and `y` are independent given others.

    Parameters
    ----------
    data : path, array_like of shape (n, p), data frame or Dataset
        As in `learn`.
    x, y : str, int or sequence of these
        Two columns, by name or number from 0; or two groups of columns, for tests that take groups (knn-cmi).
    given : str, int or sequence of these
        The conditioning set; empty for an unconditional test.
    test : str or CITest, default "knn-cmi"
        A CI test's spec, such as ``knn-cmi(k=5)``.
    seed, threads, missing
        As in `learn`: the answer is the one that `learn` gets for this question.

    Returns
    -------
    CIResult
        A constant x or y is independent of everything: statistic 0, p-value 1. A constant in `given` changes nothing
        and is listed in ``redundant``.
    """
    dataset = to_dataset(data, missing)
    component = _ci_test_component(test) if isinstance(test, str) else test
    groups = [_columns(dataset, columns) for columns in (x, y, given)]
    _check_disjoint(dataset, groups)
    asked = dataset.select([column for group in groups for column in group])
    _check_kinds(component, asked)
    constants = [asked.names[i] for i in asked.constant_columns()]
    _warn_of_constants(constants, stacklevel=3)
    first, second, others = ([dataset.names[i] for i in group if dataset.names[i] not in constants] for group in groups)
    if not first or not second:
        return CIResult.of_constant(asked.n)
    columns = _canonical(asked, asked.constant_columns())
    assert columns is not None  # x and y vary
    tester = Tester(component, columns, Run(seed, threads))
    xs, ys, zs = ([columns.column(name) for name in names] for names in (first, second, others))
    if len(xs) == len(ys) == 1:
        answer = tester.test(xs[0], ys[0], zs)
    elif component.takes_groups and not columns.has_missing:
        answer = tester.test_groups(xs, ys, zs)
    else:
        raise ParameterError(
            f"{component.name} takes one column as x and one as y{' where values are missing' * columns.has_missing}: "
            "test them one by one, or take knn-cmi on complete data"
        )
    return replace(answer, redundant=(*answer.redundant, *constants)) if constants else answer


def to_dataset(data: Any, missing: Missing = "raise") -> Dataset:
    """Return whatever a user gave, a path included, as a `Dataset`."""
    if isinstance(data, str | os.PathLike):
        return read_table(data, missing)
    return Dataset.of(data, missing=missing)


def _columns(dataset: Dataset, given: Column | Sequence[Column]) -> list[int]:
    columns = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
    return list(dict.fromkeys(dataset.column(column) for column in columns))


def _check_disjoint(dataset: Dataset, groups: Sequence[Sequence[int]]) -> None:
    x, y, given = map(set, groups)
    if not x or not y:
        raise DataError("x and y need a column each")
    for shared, where in ((x & y, "in x and in y"), ((x | y) & given, "in the conditioning set too")):
        if shared:
            raise DataError(f"column '{dataset.names[min(shared)]}' is {where}")


def _check_kinds(component: Component, dataset: Dataset) -> None:
    """Raise an error for columns of a kind that a component cannot use."""
    discrete = [dataset.names[i] for i in dataset.discrete_columns()]
    if discrete and not component.accepts("discrete"):
        raise DataError(
            f"column {listing(discrete)} holds categories, and {component} takes numbers only: leave them out, or take "
            "a test for both, such as knn-cmi"
        )


def versions(pipeline: Pipeline) -> dict[str, Any]:
    """Return what took part in a run."""
    registry = default_registry()
    known = {cls.name for cls in registry.components()}
    plugins = {
        plugin.name: plugin.version
        for component in pipeline.components()
        if component.name in known and (plugin := registry.plugin_of(component.name)).name != BUILT_IN
    }
    return {
        "pyknnmi": metadata.version("pyknnmi"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "plugins": plugins,
        "core": estimators.build_info(),
    }


def _test_in_full(test: CITest, run: Run) -> str:
    """Return what tells a test from all others whose answers may differ.

    Only an installed plugin has a version to tell its tests from what they were before.
    """
    registry = default_registry()
    if type(test) not in registry.components("test") or registry.plugin_of(test.name).name == HERE:
        raise ParameterError(
            f"the test '{test.name}' does not come from an installed plugin, so a store cannot tell whether it has "
            "changed: leave the store out, or put the test into a plugin (pyknnmi plugins new)",
            "store",
        )
    plugin = registry.plugin_of(test.name)
    return f"{test} of {plugin.name} {plugin.version}{f', seed {run.seed}' if test.needs_seed else ''}"


def _component(spec: Spec, call: Call, registry: Registry | None) -> Component:
    try:
        return (registry or default_registry()).get(call.name).from_call(call)
    except UnknownNameError as error:
        raise spec.error(str(error), call) from None
    except ParameterError as error:
        raise spec.error(str(error), call, error.parameter) from None


def _ci_test_component(text: str) -> CITest:
    spec = Spec.parse(text)
    component = _component(spec, spec.calls[0], None)
    if len(spec.calls) != 1 or not isinstance(component, CITest):
        raise SpecError("expected one CI test, such as knn-cmi(k=5)", text, 0)
    return component


def _canonical(dataset: Dataset, constants: Sequence[int]) -> Dataset | None:
    """Return the varying columns in the natural order of their names; None if there are none.

    Whatever depends on an order of columns (ties, floating-point sums, sweeps over a blanket) then depends on
    the names alone.
    """
    varying = [i for i in range(dataset.p) if i not in constants]
    if not varying:
        return None
    return dataset.select(sorted(varying, key=lambda i: natural_key(dataset.names[i])))


def _transformed(transform: Transform, dataset: Dataset) -> Dataset:
    """Return the data with their continuous columns transformed."""
    if dataset.has_missing:
        raise DataError(f"the transform '{transform.name}' needs complete data: pass missing=\"drop\", or leave it out")
    chosen = [i for i, kind in enumerate(dataset.kinds) if transform.accepts(kind)]
    if not chosen:
        return dataset
    part = dataset.select(chosen)
    result = transform.apply(part)
    if not isinstance(result, Dataset):
        raise PluginError(f"the transform '{transform.name}' returned {result!r}, not a Dataset")
    if result.names != part.names or result.n != part.n:
        raise PluginError(f"the transform '{transform.name}' changed the rows or names of the data")
    values = dataset.values.copy()
    values[:, chosen] = result.values
    return Dataset(values, dataset.names, dataset.kinds)


def _warn_of_constants(names: Sequence[str], stacklevel: int) -> None:
    if names:
        columns, are, depend = ("columns", "are", "they depend") if len(names) > 1 else ("column", "is", "it depends")
        warnings.warn(
            f"{columns} {listing(names)} {are} constant: {depend} on nothing",
            PyknnmiWarning,
            stacklevel=stacklevel,
        )


def _named_blankets(
    learned: Learned, names: Sequence[str], targets: Sequence[str], dataset: Dataset
) -> Mapping[str, tuple[str, ...]]:
    if learned.blankets is None:
        return {}
    found = {names[t]: {names[i] for i in blanket} for t, blanket in learned.blankets.items()}
    return {name: tuple(other for other in dataset.names if other in found.get(name, ())) for name in targets}


def _named(pairs: Iterable[Pair], names: Sequence[str]) -> list[tuple[str, str]]:
    return [(names[i], names[j]) for i, j in pairs]


def _named_evidence(learned: Learned, names: Sequence[str], graph: Graph) -> tuple[PairEvidence, ...]:
    place = {name: i for i, name in enumerate(graph.names)}
    edges = set(graph.edges)
    rows = []
    for pair, found in (learned.evidence or {}).items():
        a, b = sorted((names[i] for i in pair), key=place.__getitem__)
        given = tuple(sorted((names[i] for i in found.question[2]), key=natural_key))
        rows.append(PairEvidence(a, b, (a, b) in edges, given, found.answer))
    return tuple(sorted(rows, key=lambda row: (place[row.source], place[row.target])))
