"""The Markov network as an estimator."""

from __future__ import annotations

from typing import Any, Self

from pyknnmi.learning.pipeline import DEFAULT_SPEC, Pipeline
from pyknnmi.sklearn.spec_estimator import SpecEstimator

__all__ = ["MarkovNetwork"]


class MarkovNetwork(SpecEstimator):
    """Which features depend on which, given all others: `pyknnmi.learn` as an estimator.

    Used like `sklearn.covariance.GraphicalLasso`, and assumes no distribution.

    Parameters
    ----------
    spec : str, default "iamb+knn-cmi"
        Transforms, learner and CI test. Their parameters can be set too, as ``learner__rule`` or ``test__k``.
    random_state : int, RandomState or None, default 0
        The seed. With an int, the graph is the one that ``learn(seed=...)`` returns.
    threads : int, default 0
        Threads in all; 0 uses every core.
    n_jobs : int, optional
        Worker processes; None is 1.

    Attributes
    ----------
    adjacency_ : ndarray of shape (n_features, n_features)
        1 for an edge and 0 elsewhere.
    graph_ : Graph
        The same with the names of the features; those of an array are ``x0``, ``x1`` and so on.
    result_ : LearnResult
        Evidence, warnings, and what is needed to repeat the run.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only for a data frame whose labels are text.

    Examples
    --------
    >>> import pyknnmi
    >>> from pyknnmi.sklearn import MarkovNetwork
    >>> data, truth = pyknnmi.simulate.small_network(300, seed=2)
    >>> network = MarkovNetwork("iamb+fisher-z").set_params(test__alpha=0.01).fit(data.values)
    >>> network.adjacency_[5]
    array([0, 0, 0, 0, 1, 0, 0], dtype=int8)
    """

    def __init__(
        self,
        spec: str = DEFAULT_SPEC,
        *,
        random_state: Any = 0,
        threads: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.spec = spec
        self.random_state = random_state
        self.threads = threads
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the network of the features.

        Parameters
        ----------
        X : array_like or data frame of shape (n_samples, n_features)
            Columns of categories, of a data frame, are for tests that take them (knn-cmi).
        y : None
            Not used.
        """
        dataset = self._dataset(X, ensure_min_features=2)
        self.result_ = Pipeline.parse(self.spec).learn(dataset, self._run())
        self.graph_ = self.result_.graph
        self.adjacency_ = self.graph_.adjacency()
        return self
