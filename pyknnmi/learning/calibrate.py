"""Calibration of a CI test on a user's data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from pyknnmi.calibration.rates import DRAWS, Calibration, calibrate_questions
from pyknnmi.data.dataset import Missing
from pyknnmi.data.options import TableOptionsGiven
from pyknnmi.errors import DataError, ParameterError
from pyknnmi.learning.pipeline import DEFAULT_SPEC, Pipeline
from pyknnmi.learning.preparation import prepared, to_dataset
from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.registry.registry import parse_test
from pyknnmi.run import Run
from pyknnmi.search.constraints import Column

__all__ = ["calibrate"]


def calibrate(
    data: Any,
    spec: str | Pipeline | CITest = DEFAULT_SPEC,
    questions: Iterable[tuple[Column, Column, Iterable[Column]]] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    threads: int = 0,
    missing: Missing = "raise",
    **options: Unpack[TableOptionsGiven],
) -> Calibration:
    """Return how often a CI test rejects independence that is there, in data made like these.

    Columns x and y are made anew from regressions on the conditioning set and their residuals, so that they depend on
    it as those of the data do, and on nothing else. A test of level alpha should reject in a share alpha of such data.

    Parameters
    ----------
    data : path, array_like of shape (n, p), data frame or Dataset
        As in `pyknnmi.learn`.
    spec : str, Pipeline or CITest, default "iamb+knn-cmi"
        A pipeline: its search is run, and of each size of the conditioning sets that it used up to four questions are
        tried, the strongest among them. With `questions` a test alone will do, such as ``knn-cmi(k=5)``.
    questions : iterable of (x, y, given), optional
        What to try in the place of the questions of a search: two columns and a conditioning set, by names or numbers.
    draws : int, default 25
        Synthetic data sets for a question.
    seed, threads, missing, **options
        As in `pyknnmi.learn`; the options are ``header``, ``missing_marks``, ``categories``, ``ignore`` and ``index``.

    Returns
    -------
    Calibration
        ``print`` shows it.

    Raises
    ------
    ParameterError
        A test without a level, or a pipeline without a test.

    Examples
    --------
    >>> import numpy as np, pyknnmi
    >>> random = np.random.default_rng(0)
    >>> z = random.standard_normal((100, 3))
    >>> x, y = z.sum(axis=1) + 0.5 * random.standard_normal((2, 100))  # independent given z
    >>> found = pyknnmi.calibrate(np.column_stack([x, y, z]), "knn-cmi(permutations=99)", [(0, 1, [2, 3, 4])])
    >>> found.sizes[0].verdict
    'rejects too often'
    """
    if draws < 1:
        raise ParameterError(f"draws = {draws}: give at least 1", "draws")
    if questions is None:
        pipeline = Pipeline.parse(spec) if isinstance(spec, str) else spec
        if not isinstance(pipeline, Pipeline):
            raise ParameterError(
                "a test alone has no search: give a pipeline such as iamb+knn-cmi, or questions", "spec"
            )
        result = pipeline.learn(to_dataset(data, missing, **options), Run(seed, threads), calibrate=draws)
        if result.calibration is None:
            raise DataError("fewer than two columns vary: there is nothing to calibrate on")
        return result.calibration
    test = _test_of(spec)
    dataset = to_dataset(data, missing, **options)
    columns, _ = prepared(dataset, test)
    if not columns.p:
        raise DataError("no column varies: there is nothing to calibrate on")
    numbered = []
    for x, y, given in questions:
        first, second, *rest = (columns.column(dataset.names[i]) for i in dataset.columns_of([x, y, *given]))
        numbered.append((min(first, second), max(first, second), tuple(sorted(rest))))
    run = Run(seed, threads)
    run.warn_of_fewer_threads()
    return calibrate_questions(test, columns, numbered, run, draws)


def _test_of(spec: str | Pipeline | CITest) -> CITest:
    if isinstance(spec, str):
        spec = parse_test(spec)
    test = spec.test if isinstance(spec, Pipeline) else spec
    if test is None:
        raise ParameterError(f"the pipeline {spec} uses no CI test: there is none to calibrate", "spec")
    return test
