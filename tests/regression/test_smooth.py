"""Regressions by evidence, against the formulas in full matrices."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from pyknnmi import Dataset, simulate
from pyknnmi.numbers.ranks import average_ranks
from pyknnmi.regression import features, smooth
from pyknnmi.regression.features import PRODUCT_SLOTS
from pyknnmi.regression.priors import CATEGORY_PRIORS, MAIN_COST, NUMBER_PRIORS, PAIR_COST, PAIR_PRIORS
from pyknnmi.regression.smooth import ColumnFit, SmoothRegressions


@pytest.fixture(scope="module")
def regressions():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((150, 4))
    x[:, 2] += np.sin(2 * x[:, 0]) + x[:, 0] * x[:, 1]
    categories = rng.integers(0, 4, 150) + (x[:, 1] > 1)
    data = Dataset(np.column_stack([x, categories]), tuple("abcde"), ("continuous",) * 4 + ("discrete",))
    return SmoothRegressions(data)


def features_and_variances(regressions, terms):
    features, variances = [], []
    for first, second, prior in terms:
        if second < 0:
            table = CATEGORY_PRIORS if regressions.is_category(first) else NUMBER_PRIORS
            features.append(regressions.blocks[first])
        else:
            table = PAIR_PRIORS
            one, other = (regressions.blocks[j][:, PRODUCT_SLOTS] for j in (first, second))
            products = (one[:, :, None] * other[:, None, :]).reshape(len(one), 16)
            features.append(products - products.mean(axis=0))
        variances.append(table[prior] ** 2)
    return np.hstack(features), np.concatenate(variances)


def evidence(regressions, y, terms):
    """The log evidence of y = F b + noise relative to noise alone, from the covariance matrix of y."""
    n = len(y)
    features, variances = features_and_variances(regressions, terms)
    covariance = np.eye(n) + (features * variances) @ features.T
    left = y @ np.linalg.solve(covariance, y)
    return -np.linalg.slogdet(covariance)[1] / 2 - (n - 1) / 2 * np.log(left / (y @ y))


def cost(terms):
    return sum(MAIN_COST if second < 0 else PAIR_COST for _, second, _ in terms)


def test_gain_is_the_evidence_less_the_costs(regressions):
    for column, others in ((2, (0, 1)), (2, (0, 1, 3, 4)), (0, (2,)), (4, (1, 2))):
        (fit,) = regressions.fits([(column, others, None)])
        parts = zip(regressions.targets[column], fit.terms, strict=True)
        expected = sum(
            evidence(regressions, regressions.blocks[column][:, slot], terms) - cost(terms)
            for slot, terms in parts
            if terms
        )
        assert fit.gain == pytest.approx(expected, abs=1e-8)


def test_the_fit_finds_the_interaction(regressions):
    (fit,) = regressions.fits([(2, (0, 1, 3), None)])
    assert (0, 1) in {(first, second) for first, second, _ in fit.terms[0]}


def test_no_other_prior_of_one_block_gains_more(regressions):
    (fit,) = regressions.fits([(2, (0,), None)])
    y = regressions.blocks[2][:, 0]
    every = [evidence(regressions, y, [(0, -1, prior)]) - MAIN_COST for prior in range(len(NUMBER_PRIORS))]
    assert fit.gain == pytest.approx(max(every), abs=1e-9)


def test_coefficients_and_residual_are_the_posterior_mean(regressions):
    (fit,) = regressions.fits([(2, (0, 1, 4), None)])
    (terms,) = fit.terms
    y = regressions.blocks[2][:, 0]
    features, variances = features_and_variances(regressions, terms)
    used = variances > 0
    precision = features[:, used].T @ features[:, used] + np.diag(1 / variances[used])
    mean = np.zeros(len(variances))
    mean[used] = np.linalg.solve(precision, features[:, used].T @ y)
    assert np.allclose(regressions.coefficients(2, 0, terms).ravel(), mean, atol=1e-9)
    assert np.allclose(regressions.residual(2, 0, terms), y - features @ mean, atol=1e-9)


def test_main_gains_and_losses_are_differences_of_evidence(regressions):
    (fit,) = regressions.fits([(2, (0, 1), None)])
    y = regressions.blocks[2][:, 0]
    (gains,) = regressions.main_gains([fit], [[3]])
    every = [
        evidence(regressions, y, [*fit.terms[0], (3, -1, prior)]) - cost(fit.terms[0]) - MAIN_COST
        for prior in range(len(NUMBER_PRIORS))
    ]
    assert gains[0] == pytest.approx(max(0.0, max(every) - fit.gain), abs=1e-8)
    left = [term for term in fit.terms[0] if 1 not in term[:2]]
    (without,) = regressions.without([fit], [1])
    assert without == pytest.approx(evidence(regressions, y, left) - cost(left) if left else 0.0, abs=1e-8)


def test_pair_scores_are_correlations_with_the_residual(regressions):
    (fit,) = regressions.fits([(2, (0,), None)])
    residual = regressions.residual(2, 0, fit.terms[0])
    (scores,) = regressions.pair_scores([fit], [[1, 3]], [[0]])
    for j, score in zip((1, 3), scores, strict=True):
        one, other = (regressions.blocks[k][:, PRODUCT_SLOTS] for k in (0, j))
        products = (one[:, :, None] * other[:, None, :]).reshape(-1, 16)
        sums = residual @ (products - products.mean(axis=0))
        assert score == pytest.approx(max(sums**2) / (residual @ residual), rel=1e-9)


def test_the_start_does_not_make_a_fit_worse(regressions):
    (start,) = regressions.fits([(2, (0, 3), None)])
    (fit,) = regressions.fits([(2, (0, 1, 3), start)])
    assert fit.gain >= start.gain
    assert fit.columns() <= {0, 1, 3}


def test_a_column_that_others_determine_has_a_finite_gain():
    x = np.random.default_rng(0).standard_normal(100)
    data = Dataset(np.column_stack([x, 2 * x, x**3]), ("a", "b", "c"))
    fits = SmoothRegressions(data).fits([(0, (1, 2), None), (2, (0, 1), None)])
    assert all(np.isfinite(fit.gain) and fit.gain > 100 for fit in fits)


def test_questions_of_one_column_are_answered_as_if_alone(regressions):
    """What one regression leaves behind for the next may save work, but changes no bit."""
    (start,) = regressions.fits([(2, (0, 1), None)])
    searches = [(2, others, begin) for others in ((0, 1, 3, 4), (1, 3), (0, 1), (0, 3, 4)) for begin in (start, None)]
    alone = [regressions.fits([search])[0] for search in searches]
    assert regressions.fits(searches) == alone
    candidates = [[1, 3, 4]] * len(alone)
    together = regressions.main_gains(alone, candidates)
    assert [list(gains) for gains in together] == [list(regressions.main_gains([fit], [[1, 3, 4]])[0]) for fit in alone]


def test_threads_change_nothing():
    data, _ = simulate.small_network(200, seed=3)
    searches = [(i, tuple(j for j in range(7) if j != i), None) for i in range(7)]
    one, many = (SmoothRegressions(data, threads).fits(searches) for threads in (1, 4))
    assert one == many


def cosines_of_ranks(values):
    """The block that the reference was computed with, whose cosines are those of (r - 1/2) / n."""
    block = features.block_of(values)
    place = (average_ranks(values) - 0.5) / len(values)
    for slot in range(3, 16):
        cosine = np.cos(np.pi * (slot - 1) * place)
        cosine -= cosine.mean()
        cosine -= block[:, 0] * (block[:, 0] @ cosine) / len(values)
        block[:, slot] = cosine / cosine.std()
    return block


@pytest.mark.parametrize("name", ["nonlin_gaussian", "nonlin_t", "nonlin_uniform", "lin_gaussian", "lin_t"])
def test_reference_scores(name, monkeypatch):
    # from another implementation of the same scores, given with six decimals
    monkeypatch.setattr(smooth, "blocks_of", lambda data: np.array([cosines_of_ranks(x) for x in data.values.T]))
    monkeypatch.setattr(smooth, "places_of_jumps", lambda *_: np.array([]))
    expected = reference.load("functional_anova.json")[name]
    data = reference.table(f"inputs/{name}_n500.csv")
    regressions = SmoothRegressions(data)
    one = [[data.column(part) for part in key.split("|")] for key in expected["gain_of_one_column"]]
    fits = regressions.fits([(i, (j,), None) for i, j in one])
    assert [fit.gain for fit in fits] == pytest.approx(list(expected["gain_of_one_column"].values()), abs=1e-6)
    true = expected["gain_of_true_neighbours"]
    fits = regressions.fits([(data.column(i), data.columns_of(row["given"]), None) for i, row in true.items()])
    assert [fit.gain for fit in fits] == pytest.approx([row["gain"] for row in true.values()], abs=1e-6)


def test_an_empty_fit_has_no_columns(regressions):
    assert regressions.empty(4) == ColumnFit(4, ((), (), (), ()), 0.0)
    assert regressions.empty(4).columns() == frozenset()
