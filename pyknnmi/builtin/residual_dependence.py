"""The test that keeps its level under strong conditioning: are the residuals of x and y on z dependent?"""

from __future__ import annotations

import copy
import functools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pyknnmi.components import BoundTest, CIResult, CITest, DataError, Dataset, Kind, Run, check_memory, warn
from pyknnmi.numbers import (
    EstimatorName,
    conditional_mutual_informations,
    indicators,
    standardized,
    swapped_rows,
    tied_share,
)
from pyknnmi.regression import Fit, Recent, Smoothed, Smoother, smooth_scale, spread_ties

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Rows = NDArray[np.uint32]

_MOST = 10**8
_EXPLAINED = 1e-12  # share of a column's variance that is rounding, as in fisher-z
_FEWEST = 25  # permutations before a test may stop
_ENOUGH = 25  # permutations as extreme as the data, with `resolution`: the standard error of p is a fifth of it
_AT_A_TIME = 2**22  # numbers of rows in the permutations that are in memory
_BYTES = 100  # for each permutation: its statistics and their ranks
_COMPARED = 8  # permutations that tell what smoothing takes from permuted features
_KEPT = 2**28  # bytes of factorisations and residuals that are kept for further questions
# The estimate's standard deviation under independence, times sqrt(n), for Gaussian z of d columns: .4 d^-.35.
_DEVIATION, _DECLINE = 0.4, -0.35
_MULTIPLICATIONS = 2**18  # in a product that OpenBLAS does not share among threads
_LIKELIER = 0.5  # nats a row by which normal scores are to be likelier than the values, before they take their place


@dataclass(frozen=True, kw_only=True)
class ResidualDependence(CITest):
    """Dependence between the residuals of x and of y on z, tested by permutation among neighbors in z.

    x and y are smoothed on z: by least squares and, of what that leaves, kernel ridge regression, each with the kernel
    and the ridge of the least leave-one-out error. A column whose normal scores have a far larger likelihood given z
    than its values, such as the exponential of a sum, is smoothed as these. What is left is divided by its scale, whose
    logarithm is smoothed alike. Two statistics compare these residuals, rx and ry. ``cmi`` is the kNN
    estimate of their mutual information given z, in nats, and sees dependence of any form. ``covariance`` is
    the largest |sqrt(n) mean(f g) / sd(f g)| over features f of rx and g of ry. The features are Hermite polynomials
    of degree 1 to 3 of their normal scores, smoothed on z once more, and the product of rx and a column of z. It sees
    weaker dependence, of these forms. ``both`` ranks each of the two among its permuted values, and takes the smaller
    p-value; the p-value of that minimum comes from the same permutations, so it needs no correction (Westfall and
    Young).

    In a permutation rows exchange their ry with near neighbors in z (`pyknnmi.numbers.swapped_rows`). As z explains
    little of the residuals, they may be exchanged where x and y may not: the test keeps its level where x and y both
    depend strongly on z. What smoothing takes from x it took from y too, but not from permuted residuals of y; the
    covariances under permutations are enlarged by as much. The test rejects too often where the smoother fits neither x
    nor y, as with sin(2 (z1 + z2 + z3)) from 200 rows; ``calibrate`` says how well it fits.

    Tied values of x and y are spread around each value, uniformly, with random numbers from the seed and the name of
    the column. A category of more than two levels has the residuals of its indicators in the place of polynomials.

    Parameters
    ----------
    statistic : both, cmi, covariance
        What the decision rests on. With ``both`` the statistic in the result is the larger of the two on the scale of
        ``covariance``, about standard deviations.
    k : int, at least 1
        Neighbors of the estimate.
    permutations : int, 1 to 100000000
        T. With T = 200 the smallest p-value is 1/201.
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    neighbors : int, 2 to 100000000
        Rows swap among so many nearest neighbors in z, the row itself included. Without z permutations are over all
        rows.
    stop_early : bool
        Make no more than the decision needs. A part of the permutations comes first; if so many of them reach the
        observed statistic that the rest can hardly change the decision, the p-value is that of the permutations made.
        With ``both``, dependence that the covariances alone prove needs no estimates: the p-value is then twice that of
        the covariances, so 2 / (T + 1) at least, and that of the minimum is at most as large: ``p_value_bounds`` has
        both limits. Where p-values are compared with each other, as by ``fdr``, take a resolution.
    resolution : float or none, 1e-8 to 1
        The smallest p-value that a test may give, such as 1e-5, instead of 1 / (T + 1). A test makes permutations until
        25 of them are as extreme as the data, or p is down to this: about 25 / p of them, so p is known to a fifth. It
        may be compared with any level, as by ``fdr`` and ``adjust``. Takes the place of `permutations` and
        `stop_early`. With ``both``, T is such that 2 / (T + 1) is the resolution: where no permutation reaches the
        covariances no estimates are made, and p is that.

    References
    ----------
    Freedman and Lane (1983), doi:10.2307/1391660 (permuted residuals); Besag and Clifford (1989),
    doi:10.1093/biomet/76.4.633 (p-values from permutations that are alike); Besag and Clifford (1991),
    doi:10.1093/biomet/78.2.301 (as many permutations as p needs); Shah and Peters (2020),
    doi:10.1214/19-AOS1857 (covariance of residuals); Runge (2018), AISTATS (neighbors in z); Frenzel and Pompe (2007),
    doi:10.1103/PhysRevLett.99.204101 (estimate); Westfall and Young (1993), "Resampling-based multiple testing", 2.3.
    """

    name: ClassVar[str] = "residual-dependence"
    needs_seed: ClassVar[bool] = True

    statistic: Literal["both", "cmi", "covariance"] = "both"
    k: int = 5
    permutations: int = 200
    alpha: float = 0.05
    neighbors: int = 10
    stop_early: bool = True
    resolution: float | None = None

    def accepts(self, kind: Kind) -> bool:
        """Return True: categories have indicators."""
        return True

    def check(self) -> None:
        """Check the ranges."""
        self.require(self.k >= 1, "k", "at least 1")
        self.require(1 <= self.permutations <= _MOST, "permutations", f"from 1 to {_MOST}")
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")
        self.require(2 <= self.neighbors <= _MOST, "neighbors", f"from 2 to {_MOST}")
        self.require(
            self.resolution is None or 1 / _MOST <= self.resolution < 1, "resolution", "from 1e-8 to 1, or none"
        )

    @property
    def most_permutations(self) -> int:
        """How many permutations a test makes at most."""
        if self.resolution is None:
            return self.permutations
        return math.ceil((2 if self.statistic == "both" else 1) / self.resolution) - 1

    def looks(self) -> list[int]:
        """Return the numbers of permutations after which the test may stop: all, a part of that, and so on."""
        looks = [self.most_permutations]
        part = 4 if self.resolution is None else 2
        while (self.stop_early or self.resolution is not None) and looks[0] >= part * _FEWEST:
            looks.insert(0, looks[0] // part)
        return looks

    def is_settled_by(self, most: float, made: int) -> bool:
        """Return whether it is enough to know that at most so many of the data and the permutations are as extreme."""
        if self.resolution is not None:
            return most <= 2
        return self.stop_early and most < self.alpha * (made + 1)

    def ends_at(self, count: int) -> bool:
        """Return whether so many, of the data and the permutations made, are enough."""
        if self.resolution is not None:
            return count > _ENOUGH
        return count >= self.alpha * (self.permutations + 1)

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        if dataset.n <= self.k:
            raise DataError(f"{dataset.n} rows are too few for k = {self.k}: give at least {self.k + 1}")
        self.warn_of_coarse(self.most_permutations, "permutations", self.alpha)
        return BoundResidualDependence(self, dataset, run)


class BoundResidualDependence(BoundTest):
    """The test on the columns of one data set."""

    def __init__(self, component: ResidualDependence, dataset: Dataset, run: Run) -> None:
        self._component = component
        self._run = run
        self._names = dataset.names
        self._n = dataset.n
        self.threads = run.threads_per_job
        values = dataset.values.copy()
        for i in dataset.discrete_columns():
            values[:, i] = _by_frequency(values[:, i])
        self._indicators = {i: _indicators(values[:, i]) for i in dataset.discrete_columns()}
        self._given = standardized(values)
        spread = [
            spread_ties(column, run.generator(name, name, []))
            for name, column in zip(dataset.names, values.T, strict=True)
        ]
        self._columns = standardized(np.column_stack(spread))
        self._scores = {i: scores for i, column in enumerate(self._columns.T) if (scores := _likelier_scores(column))}
        self._settings: Recent[_Setting] = Recent(_KEPT, _Setting.size)

    def for_threads(self) -> BoundTest:
        """Return the test with one thread a call."""
        single = copy.copy(self)
        single.threads = 1
        return single

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        return self._tested(x, y, z, self._component)

    def test_at(self, x: int, y: int, z: tuple[int, ...], level: float) -> CIResult:
        """Return the answer at a level below alpha, from as many permutations as it needs."""
        component = self._component
        if component.resolution is None:
            finer = replace(component, alpha=level, permutations=max(component.permutations, math.ceil(2 / level)))
        else:
            finer = replace(component, alpha=level, resolution=min(component.resolution, level / 2))
        return self._tested(x, y, z, finer)

    def _tested(self, x: int, y: int, z: tuple[int, ...], component: ResidualDependence) -> CIResult:
        setting = self._setting(z)
        if not setting.has_rows:
            warn(
                f"{component.name}: {self._n} rows are too few to condition on {len(z)} columns; such questions are "
                "answered 'independent'"
            )
            return self._independent("too few rows")
        if setting.explains(x) or setting.explains(y):
            return self._independent("explained by the conditioning set")
        check_memory(
            float(_BYTES * component.most_permutations),
            f"{component.name}: {component.most_permutations} permutations",
            "give fewer, or a larger resolution",
        )
        stream = self._run.stream(self._names[x], self._names[y], [self._names[i] for i in z])
        question = _Question(component, setting, x, y, self._run, stream, self.threads)
        for made in component.looks():
            # The smaller of two p-values has a p-value of at most twice itself, whatever the other one is.
            count = 2 * _reached(question.covariances(made)) if component.statistic == "both" else math.inf
            is_bound = component.is_settled_by(count, made)
            if is_bound:
                continue  # dependent, so far
            count = _at_least_as_extreme(question.statistics(made))
            if component.ends_at(count):
                break
        p_value = count / (made + 1)
        return CIResult(
            statistic=float(self._on_one_scale(question.statistics(0), len(z))[0]),
            p_value=p_value,
            independent=not p_value < component.alpha,
            n=self._n,
            decided_by="permutations",
            permutations=made,
            p_value_bounds=(1 / (made + 1), p_value) if is_bound else None,
        )

    def associations(self, x: int, candidates: Sequence[int], z: tuple[int, ...]) -> Vector:
        """Return the statistics of the residuals as they are, and of all features only their own covariance.

        The scale and the other features need a regression each. A candidate that z explains comes last.
        """
        setting = self._setting(z)
        scores = np.full(len(candidates), -np.inf)
        if not setting.has_rows or setting.explains(x):
            return scores
        places = [place for place, y in enumerate(candidates) if not setting.explains(y)]
        if places:
            own = setting.residual(x)[:, None]
            others = np.column_stack([setting.residual(candidates[place]) for place in places])
            statistics = []
            if self._component.statistic != "covariance":
                statistics.append(setting.estimates(own, others, self.threads, self._run))
            if self._component.statistic != "cmi":
                statistics.append(_standardized_means(own.T, others)[0])
            scores[places] = self._on_one_scale(np.array(statistics), len(z))
        return scores

    def _on_one_scale(self, statistics: Matrix, d: int) -> Vector:
        """Return one number for each column of statistics."""
        largest: Vector = statistics[0]
        if self._component.statistic == "both":
            deviation = _DEVIATION * max(d, 1) ** _DECLINE / math.sqrt(self._n)
            largest = np.maximum(statistics[0] / deviation, statistics[1])
        return largest

    def _setting(self, z: tuple[int, ...]) -> _Setting:
        return self._settings.get(z, lambda: self._prepared(z))

    def _prepared(self, z: tuple[int, ...]) -> _Setting:
        blocks = [self._indicators.get(i, self._given[:, [i]]) for i in z]
        given = np.hstack([np.empty((self._n, 0)), *blocks])
        random = self._run.generator("", "", [self._names[i] for i in z])
        return _Setting(given, self._columns, self._scores, self._indicators, self._component.k, random)

    def _independent(self, reason: str) -> CIResult:
        return CIResult(statistic=0.0, p_value=1.0, independent=True, n=self._n, decided_by=reason)


class _Question:
    """The statistics of the residuals of x and y, in the data and under permutations of y."""

    def __init__(
        self, component: ResidualDependence, setting: _Setting, x: int, y: int, run: Run, stream: int, threads: int
    ) -> None:
        self._component = component
        self._setting = setting
        self._x = x
        self._y = y
        self._run = run
        self._stream = stream
        self._threads = threads
        self._estimates = np.empty(0)
        self._covariances = np.empty(0, dtype=np.float32)
        self._losses: Matrix | None = None
        self._latest: tuple[int, Rows] = 0, np.empty((0, len(setting.z)), dtype=np.uint32)

    def statistics(self, permutations: int) -> Matrix:
        """Return each statistic, of the data and under each permutation, shape (statistics, 1 + permutations)."""
        statistics: list[NDArray[np.floating[Any]]] = []
        if self._component.statistic != "covariance":
            statistics.append(self.estimates(permutations))
        if self._component.statistic != "cmi":
            statistics.append(self.covariances(permutations))
        return np.array(statistics)

    def estimates(self, permutations: int) -> Vector:
        """Return the estimates of mutual information given z."""
        rx, ry = self._setting.scaled(self._x)[:, None], self._setting.scaled(self._y)
        for rows in self._orders(len(self._estimates), permutations):
            found = self._setting.estimates(rx, ry[rows.T], self._threads, self._run)
            self._estimates = np.append(self._estimates, found)
        return self._estimates[: permutations + 1]

    def covariances(self, permutations: int) -> NDArray[np.float32]:
        """Return the largest standardized covariances of features."""
        f, g = self._setting.features(self._x), self._setting.features(self._y)
        for rows in self._orders(len(self._covariances), permutations):
            is_first = not len(self._covariances)
            if self._losses is None:
                self._losses = self._setting.losses(f, g, rows[1 : 1 + _COMPARED])
            found = _largest_covariances(f, g, self._setting.z, rows, self._losses)
            if is_first:
                found[0] = _largest_covariances(f, g, self._setting.z, rows[:1], np.ones_like(self._losses))[0]
            self._covariances = np.append(self._covariances, found)
        return self._covariances[: permutations + 1]

    def _orders(self, first: int, last: int) -> Iterator[Rows]:
        """Yield the rows in the order of each permutation from the first to the last, in parts; 0 is their own order.

        The latest part is kept, for the other statistic.
        """
        n = len(self._setting.z)
        while first <= last:
            start, rows = self._latest
            if not start <= first < start + len(rows):
                start, rows = first, self._drawn(first, min(last, first + max(_COMPARED, _AT_A_TIME // n)))
                self._latest = start, rows
            part = rows[first - start : last - start + 1]
            yield part
            first += len(part)

    def _drawn(self, first: int, last: int) -> Rows:
        own = np.arange(len(self._setting.z), dtype=np.uint32)[None]
        if last == 0:
            return own
        permutations = swapped_rows(
            self._setting.z,
            permutations=last - max(first, 1) + 1,
            neighbors=self._component.neighbors,
            seed=self._run.seed,
            stream=self._stream,
            first=max(first, 1) - 1,
            threads=self._threads,
            poll=self._run.poll,
        )
        return permutations if first else np.vstack([own, permutations])


@dataclass(frozen=True)
class _NormalScores:
    """The normal scores of a column, and the mean logarithm of their slope: what they add to its log-likelihood."""

    values: Vector
    gain: float

    def are_likelier(self, fit: Smoothed, fit_of_column: Smoothed, column: Vector) -> bool:
        """Return whether Gaussian errors of the fit to the scores are far more likely than those of the column's."""
        errors = ((1 - each.r_squared) * v.var() for each, v in ((fit, self.values), (fit_of_column, column)))
        of_scores, of_column = (math.log(max(error, _EXPLAINED)) for error in errors)
        return self.gain + (of_column - of_scores) / 2 > _LIKELIER


@dataclass(frozen=True)
class _Features:
    """Functions of a residual, of mean zero given z: `first` are those of degree one; the fits tell what they lost."""

    first: Matrix
    all: Matrix
    fits: tuple[Fit | None, ...]


class _Setting:
    """A conditioning set, and the residuals on it of the columns that took part in a question so far."""

    def __init__(
        self,
        z: Matrix,
        columns: Matrix,
        scores: Mapping[int, _NormalScores],
        indicators: Mapping[int, Matrix],
        k: int,
        random: np.random.Generator,
    ) -> None:
        n, d = z.shape
        self.z = z
        self.has_rows = n >= 2 * (d + 1)
        self._columns = columns
        self._scores = scores
        self._indicators = indicators
        self._k = k
        has_ties = any(tied_share(column, k) > 0 for column in z.T)
        self._estimator: EstimatorName = "mixed" if has_ties else "ksg"  # residuals have no ties
        self._smoother = Smoother(z, random) if d and self.has_rows else None
        self._residuals: dict[int, Vector] = {}
        self._scaled: dict[int, Vector] = {}
        self._features: dict[int, _Features] = {}

    def size(self) -> int:
        """Return the bytes that it takes when all columns have taken part."""
        kept = 5 * self._columns.nbytes  # the residual, that over its scale, and three features
        return self.z.nbytes + kept + (self._smoother.nbytes if self._smoother else 0)

    def estimates(self, x: Matrix, candidates: Matrix, threads: int, run: Run) -> Vector:
        """Return the mutual information of a residual and each of some others given z, in nats."""
        return conditional_mutual_informations(
            x, candidates, self.z, self._k, estimator=self._estimator, threads=threads, poll=run.poll
        )

    def explains(self, column: int) -> bool:
        """Return whether nothing is left of a column."""
        return not self.residual(column).any()

    def residual(self, column: int) -> Vector:
        """Return what z leaves of a column, with unit variance; zeros if that is rounding."""
        if column not in self._residuals:
            left = self._fit(column).residuals
            size = math.sqrt(left @ left / len(left))
            self._residuals[column] = left / size if size**2 > _EXPLAINED else np.zeros_like(left)
        return self._residuals[column]

    def _fit(self, column: int) -> Smoothed:
        """Return the fit to a column, or to its normal scores."""
        values = self._columns[:, column]
        fitted = self._smoothed(values)
        if column not in self._scores:
            return fitted
        scores = self._scores[column]
        other = self._smoothed(scores.values)
        return other if scores.are_likelier(other, fitted, values) else fitted

    def scaled(self, column: int) -> Vector:
        """Return the residual over its scale given z, with unit variance."""
        if self._smoother is None:
            return self.residual(column)
        if column not in self._scaled:
            left = self.residual(column) / smooth_scale(self.residual(column), self._smoother.smooth)
            self._scaled[column] = left / math.sqrt(left @ left / len(left))
        return self._scaled[column]

    def features(self, column: int) -> _Features:
        """Return the features of a column's residual; of a category those of its indicators."""
        if column not in self._features:
            indicators = self._indicators.get(column)
            if indicators is not None and indicators.shape[1] > 1:
                smoothed = [self._smoothed(indicator) for indicator in indicators.T]
                of_degree_one = len(smoothed)
            else:
                polynomials = _hermite_polynomials(_normal_scores(self.scaled(column)))
                smoothed = [self._smoothed(polynomial) for polynomial in polynomials]
                of_degree_one = 1
            left = np.column_stack([each.residuals for each in smoothed])
            self._features[column] = _Features(left[:, :of_degree_one], left, tuple(each.fit for each in smoothed))
        return self._features[column]

    def losses(self, f: _Features, g: _Features, orders: Rows) -> Matrix:
        """Return by how much a covariance under permutations is too small, for each feature of x and of y.

        What z explains of x is taken from f, and was taken from y. Where permuted features of y have some of it again,
        their covariance with f is smaller than that of the data for this reason alone. It is the root of a ratio
        of sums of squares: what the smoother of f leaves of g, and of permuted g.
        """
        if self._smoother is None or not len(orders):
            return np.ones((f.all.shape[1], g.all.shape[1]))
        check_memory(
            32.0 * g.all.size * (1 + len(orders)),
            f"permutations of {g.all.shape[1]} columns, one for each category,",
            "join rare categories",
        )
        columns = np.hstack([g.all, *g.all[orders]])
        left = np.array([(part**2).sum(axis=0) for part in self._smoother.residuals(columns, f.fits)])
        observed, *permuted = np.split(left, 1 + len(orders), axis=1)
        left_of_permuted = np.mean(permuted, axis=0)
        ratios = np.divide(observed, left_of_permuted, out=np.ones_like(observed), where=left_of_permuted > 0)
        losses: Matrix = np.sqrt(np.maximum(ratios, 1.0))
        return losses

    def _smoothed(self, column: Vector) -> Smoothed:
        return self._smoother.smooth(column) if self._smoother else Smoothed(column - column.mean(), 0.0, 1.0)


def _by_frequency(codes: Vector) -> Vector:
    """Return codes in the order of how often they are there, and where first: an order of the codes means nothing."""
    _, first, places, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    return np.argsort(np.lexsort((first, counts)))[places].astype(np.float64)


def _indicators(codes: Vector) -> Matrix:
    """Return an indicator for each category, standardized; of two categories one column tells both."""
    columns = indicators(codes)
    return standardized(columns[:, 1:] if columns.shape[1] == 2 else columns)


def _likelier_scores(column: Vector) -> _NormalScores | None:
    """Return the normal scores of a column without ties, if they are far likelier than its values; z may change that.

    The slope from the values to the scores is taken over sqrt(n) neighbors in the order of the values (Vasicek 1976).
    """
    n = len(column)
    width = max(1, math.isqrt(n) // 2)
    first, last = np.maximum(np.arange(n) - width, 0), np.minimum(np.arange(n) + width, n - 1)
    ordered, scores = np.sort(column), _quantiles(n)
    distances = ordered[last] - ordered[first]
    if not distances.all():
        return None
    gain = float(np.log((scores[last] - scores[first]) / distances).mean())
    return _NormalScores(_normal_scores(column), gain) if gain > _LIKELIER else None


def _normal_scores(column: Vector) -> Vector:
    """Return Phi^-1((rank - 1/2) / n)."""
    return _quantiles(len(column))[np.argsort(np.argsort(column, kind="stable"))]


@functools.lru_cache(maxsize=8)
def _quantiles(n: int) -> Vector:
    return np.array([NormalDist().inv_cdf((i + 0.5) / n) for i in range(n)])


def _hermite_polynomials(u: Vector) -> tuple[Vector, ...]:
    """Return the polynomials of degree 1 to 3 that are uncorrelated under the standard normal."""
    return u, u**2 - 1, u**3 - 3 * u


def _largest_covariances(f: _Features, g: _Features, z: Matrix, rows: Rows, losses: Matrix) -> NDArray[np.float32]:
    """Return the largest standardized covariance of a feature of x with one of y, for each order of the rows of y.

    In single precision, so that what is equal by right is equal, whatever the order of its terms.
    """
    check_memory(
        24.0 * len(z) * (f.all.shape[1] + f.first.shape[1] * z.shape[1]),
        f"the products of {f.first.shape[1]} columns of x and {z.shape[1]} of z, with one for each category,",
        "join rare categories, or condition on fewer columns",
    )
    products = (f.first[:, :, None] * z[:, None, :]).reshape(len(z), -1)
    with_products = np.hstack([f.all, products])
    losses = np.vstack([losses, np.repeat(losses[: f.first.shape[1]], z.shape[1], axis=0)])
    each = max(1, _MULTIPLICATIONS // with_products.size)
    largest = np.zeros(len(rows))
    features = np.ascontiguousarray(g.all.T)
    for first in range(0, len(rows), each):
        part = slice(first, first + each)
        orders = rows[part].astype(np.intp)
        for place, feature in enumerate(features):
            # Products with z meet what is of degree one.
            left = with_products if place < g.first.shape[1] else f.all
            found = _standardized_means(feature[orders], left) * losses[: left.shape[1], place]
            largest[part] = np.maximum(largest[part], found.max(axis=1))
    return largest.astype(np.float32)


def _standardized_means(f: Matrix, g: Matrix) -> Matrix:
    """Return |sqrt(n) mean / sd| of the product of each row of f, shape (a, n), and each column of g, shape (n, b)."""
    n = len(g)
    mean = f @ g / n
    variance = f**2 @ g**2 / n - mean**2
    # Where all products are equal, as of one column with two values, the statistic stays finite.
    deviation = np.sqrt(np.maximum(variance, (sys.float_info.epsilon * mean) ** 2))
    return np.divide(math.sqrt(n) * np.abs(mean), deviation, out=np.zeros_like(mean), where=deviation > 0)


def _reached(values: NDArray[np.floating[Any]]) -> int:
    """Return how many values are at least the first, itself included."""
    return int(np.count_nonzero(values >= values[0]))


def _at_least_as_extreme(statistics: Matrix) -> int:
    """Return how many columns of statistics are at least as extreme as the first, itself included.

    Each statistic is ranked among its own values. Columns are compared by the smallest of their ranks, and where that
    is equal by the next.
    """
    ranks = np.sort([len(row) - np.searchsorted(np.sort(row), row) for row in statistics], axis=0)
    keys = ranks[0] * (ranks.shape[1] + 1) + ranks[-1]
    return int(np.count_nonzero(keys <= keys[0]))
