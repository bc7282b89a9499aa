"""Feature selection by the Markov blanket of the target."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from pyknnmi.data.columns import Kind, categories
from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import DataError, check_choice, warn
from pyknnmi.learning.bind import bind
from pyknnmi.learning.pipeline import DEFAULT_SPEC, Pipeline
from pyknnmi.search.constraints import Constraints
from pyknnmi.sklearn.spec_estimator import SpecEstimator

__all__ = ["MarkovBlanketSelector"]

IfEmpty = Literal["best", "none", "all"]
Target = Literal["auto", "continuous", "discrete"]

_FEW_VALUES = 20  # whole numbers with at most so many different values are taken for classes


class MarkovBlanketSelector(SelectorMixin, SpecEstimator):
    """Selects the features that the target depends on, given all other features.

    Given its Markov blanket, the target is independent of every other feature: they add nothing to its prediction.

    Parameters
    ----------
    spec : str, default "iamb+knn-cmi"
        Transforms, learner and CI test. Their parameters can be set too, as ``learner__rule`` or ``test__k``. With a
        learner that searches column by column, only the blanket of the target is searched for.
    target : {"auto", "continuous", "discrete"}
        What `y` is. ``auto`` takes text, booleans and categories, and whole numbers of at most 20 different values, for
        categories; whole numbers only if the spec's test takes categories.
    if_empty : {"best", "none", "all"}
        What to select where no feature is found: the one that goes most with the target by the spec's test, no
        feature, or all. There is a warning in each case.
    random_state, threads, n_jobs
        As in `MarkovNetwork`.

    Attributes
    ----------
    blanket_ : tuple of str
        The names of the features that were found, before `if_empty`.
    result_ : LearnResult
        Evidence, warnings, and what is needed to repeat the run. The target is called ``y`` there, or what a pandas
        series is called.
    n_features_in_, feature_names_in_
        As in `MarkovNetwork`.

    Examples
    --------
    >>> import pyknnmi
    >>> from pyknnmi.sklearn import MarkovBlanketSelector
    >>> data, truth = pyknnmi.simulate.small_network(300, seed=2)
    >>> selector = MarkovBlanketSelector("iamb+fisher-z").fit(data.values[:, :5], data.values[:, 5])
    >>> selector.get_feature_names_out()
    array(['x4'], dtype=object)
    """

    def __init__(
        self,
        spec: str = DEFAULT_SPEC,
        *,
        target: Target = "auto",
        if_empty: IfEmpty = "best",
        random_state: Any = 0,
        threads: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.spec = spec
        self.target = target
        self.if_empty = if_empty
        self.random_state = random_state
        self.threads = threads
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Find the Markov blanket of the target.

        Parameters
        ----------
        X : array_like or data frame of shape (n_samples, n_features)
        y : array_like of shape (n_samples,)
            Numbers, or categories for a test that takes them (knn-cmi).
        """
        check_choice("target", self.target, get_args(Target))
        check_choice("if_empty", self.if_empty, get_args(IfEmpty))
        pipeline = Pipeline.parse(self.spec)
        features = self._dataset(X)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        name = _free_name(str(getattr(y, "name", None) or "y"), features.names)
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "O" and all(isinstance(label, Real) for label in labels):
            labels = np.array(labels.tolist())  # numbers in an array of objects are numbers
        check_consistent_length(X, labels)
        kind = self._kind_of(y, labels, (pipeline.test or pipeline.learner).accepts("discrete"))
        values = categories(labels.tolist(), name) if kind == "discrete" else _numbers(labels, name)
        dataset = Dataset(np.column_stack([features.values, values]), (*features.names, name), (*features.kinds, kind))
        targets = (name,) if pipeline.learner.takes_targets and not pipeline.wrappers else None
        self.result_ = pipeline.learn(dataset, self._run(), Constraints(targets=targets))
        self.blanket_ = self.result_.graph.neighbors(name)
        selected = self.blanket_ or self._instead(pipeline, dataset)
        self._support = np.array([feature in selected for feature in features.names])
        return self

    def _kind_of(self, y: Any, labels: NDArray[Any], takes_categories: bool) -> Kind:
        if self.target != "auto":
            return self.target
        if labels.dtype.kind not in "fiu" or str(getattr(y, "dtype", "")) == "category":
            return "discrete"
        is_few = labels.dtype.kind in "iu" and len(np.unique(labels)) <= _FEW_VALUES
        return "discrete" if is_few and takes_categories else "continuous"

    def _instead(self, pipeline: Pipeline, dataset: Dataset) -> tuple[str, ...]:
        """Return what to select where no feature was found, and warn."""
        *features, name = dataset.names
        selected = {"none": (), "all": tuple(features)}.get(self.if_empty)
        if selected is None:
            run = self._run()
            table = bind(dataset, pipeline.test or "fisher-z", seed=run.seed, threads=run.threads)
            selected = (features[int(np.argmax(table.associations(name, features)))],)
        kept = ", ".join(selected) if self.if_empty == "best" else f"{self.if_empty} of them"
        warn(f"the Markov blanket of '{name}' is empty: no feature was found that it depends on; selected: {kept}")
        return selected

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _numbers(labels: NDArray[Any], name: str) -> NDArray[np.float64]:
    try:
        return labels.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the target '{name}' holds no numbers: pass target='discrete'") from None


def _free_name(name: str, taken: tuple[str, ...]) -> str:
    while name in taken:
        name += "'"
    return name
