"""RCIT: the randomized conditional independence test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pyknnmi_kernel.random_features import RandomFeatureTest


@dataclass(frozen=True, kw_only=True)
class RCIT(RandomFeatureTest):
    """Randomized conditional independence test: KCI on a few random Fourier features, in time linear in n.

    A, B and C are random features of x together with z, of y, and of z. The statistic is n times the sum of the squares
    of cov(A, B) - cov(A, C) (cov(C, C) + 1e-10 I)^-1 cov(C, B). Under independence it is a weighted sum of chi-squared
    variables, whose weights are the eigenvalues of the second moments of the products of the residuals of A and B.

    Few features see few aspects of the dependence: power depends on the draw, and dependence with many turns may not be
    seen. The test rejects too often where z's features cannot follow how x and y depend on z: with wiggly dependence
    and several columns in z. `rcot` is the same without z beside x, and mostly as good; where x depends on y only
    through its interaction with z, take `rcit`. The statistic is not symmetric: of the two columns, the first by name
    is taken together with z.

    Parameters
    ----------
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    features : int, at least 1
        Random features of x and of y.
    conditioning_features : int, at least 1
        Random features of z; at most half as many as there are rows are used.
    null : lpb, hbe or gamma
        How the tail of the weighted sum is computed: Lindsay-Pilla-Basak, from eight moments; Hall-Buckley-Eagleson,
        from three; Satterthwaite-Welch, from two.
    small_sample : bool
        Divide the statistic by how much too large it is on average under independence, since the weights are
        estimated from residuals, and these are too small. ``false`` is the published test; with 200 rows and
        five columns in z it rejects in 15 of 100 independent cases at alpha = 0.05, and with ``true`` in about 5.

    References
    ----------
    Strobl, Zhang and Visweswaran (2019), "Approximate kernel-based conditional independence tests for fast
    non-parametric causal discovery", Journal of Causal Inference 7, doi:10.1515/jci-2018-0017. The bandwidth of each
    kernel is the median distance between (at most 500 of) the points, as in the authors' program.
    """

    name: ClassVar[str] = "rcit"
    extended: ClassVar[bool] = True
