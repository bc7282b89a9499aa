"""RCoT: the randomized conditional correlation test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pyknnmi_kernel.random_features import RandomFeatureTest


@dataclass(frozen=True, kw_only=True)
class RCoT(RandomFeatureTest):
    """Randomized conditional correlation test: are random features of x and of y correlated given z?

    `rcit` with x alone in place of x together with z: a little less general, symmetric, and closer to its level in
    small samples. Formulas, limits and parameters are those of `rcit`.

    Parameters
    ----------
    alpha : float, in (0, 1)
        Dependent when p < alpha.
    features : int, at least 1
        Random features of x and of y.
    conditioning_features : int, at least 1
        Random features of z; at most half as many as there are rows are used.
    null : lpb, hbe or gamma
        How the tail of the weighted sum is computed.
    small_sample : bool
        Divide the statistic by how much too large it is on average under independence; ``false`` is the published test.

    References
    ----------
    Strobl, Zhang and Visweswaran (2019), "Approximate kernel-based conditional independence tests for fast
    non-parametric causal discovery", Journal of Causal Inference 7, doi:10.1515/jci-2018-0017.
    """

    name: ClassVar[str] = "rcot"
    extended: ClassVar[bool] = False
