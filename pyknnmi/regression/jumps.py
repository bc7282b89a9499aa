"""Where the effects of a column jump.

Cosines can't follow a jump. A few rows at either side of it are explained badly, and in all effects of a column the
same ones: so they look like dependence between these effects. Steps at the right places can. A step is taken where
regressions with it have more evidence than those without, by more than chance gives to the best of all places.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pyknnmi.regression.features import step_at
from pyknnmi.regression.priors import MOST_STEPS, STEP_BACKGROUNDS, STEP_SIZES

__all__ = ["places_of_jumps"]

Values = NDArray[np.float64]

_LEAST_ROWS = 4  # on each side of a jump
_APART = 40  # two jumps have at least one row in so many between them
_SURE = 4.0  # nats that a step must gain, beside the logarithm of the number of places
_EACH = 3.0  # nats of each effect that do not count, as the best of all places always gains some


def places_of_jumps(column: Values, block: Values, effects: Values, evidence: Values, looks: int) -> Values:
    """Return values of a column such that its effects jump between the rows below one and the others.

    Parameters
    ----------
    column : ndarray, shape (n,)
    block : ndarray, shape (n, 16)
        Its features.
    effects : ndarray, shape (effects, n)
        Features of other columns that it may explain, of mean 0 and variance 1.
    evidence : ndarray, shape (effects,)
        That of regressions on the block, in nats, relative to regressions on nothing.
    looks : int
        So many effects of all columns are looked at.

    Returns
    -------
    ndarray
        At most 6, the clearest first.
    """
    n = len(column)
    order = np.argsort(column, kind="stable")
    column, features, effects = column[order], block[order], effects[:, order]
    places = np.arange(_LEAST_ROWS, n - _LEAST_ROWS + 1)  # rows below a step
    places = places[column[places - 1] < column[places]]
    found: list[int] = []
    while len(found) < MOST_STEPS and len(places):
        known = np.full(len(found), np.sqrt(STEP_SIZES[-1]))
        each = [_evidence(features, effects, np.append(d, known), places) for d in STEP_BACKGROUNDS]
        with_step = np.max(each, axis=0)
        gains = np.maximum(with_step - evidence[:, None] - _EACH, 0.0)
        gains = np.sort(gains, axis=0).sum(axis=0)  # sorted, so that the sum does not depend on the order of columns
        best = int(gains.argmax())
        if not gains[best] > _SURE + np.log(n * looks):
            break
        place = places[best]
        found.append(int(place))
        evidence = np.maximum(evidence, with_step[:, best])
        features = np.column_stack([features, step_at(column, column[place])])
        places = places[np.abs(places - place) > n / _APART]
    return column[found]


def _evidence(features: Values, effects: Values, deviations: Values, places: NDArray[np.intp]) -> Values:
    """Return the log evidence of regressions on features and a step at each place, shape (effects, places).

    The step has the size that suits it best. All are of sorted rows.
    """
    n = len(features)
    scaled = features[:, deviations > 0] * deviations[deviations > 0]
    gram = np.eye(scaled.shape[1]) + np.einsum("ni,nj->ij", scaled, scaled)
    inverse = np.linalg.inv(gram)
    right = np.einsum("ni,kn->ik", scaled, effects)
    fitted = np.einsum("ij,jk->ik", inverse, right)
    # All are centred, so that products with a step are sums over the rows below it, times what is between its levels.
    height = -1 / np.sqrt(places / n * (1 - places / n))
    sums = np.cumsum(scaled, axis=0)[places - 1] * height[:, None]
    own = n - np.einsum("ci,ci->c", np.einsum("ci,ij->cj", sums, inverse), sums)
    with_effects = np.cumsum(effects, axis=1)[:, places - 1] * height - np.einsum("ci,ik->kc", sums, fitted)
    left = n - np.einsum("ik,ik->k", right, fitted)
    best = np.full(with_effects.shape, -np.inf)
    for size in STEP_SIZES:
        share = (left[:, None] - size * with_effects**2 / (1 + size * own)) / n
        evidence = -0.5 * np.log1p(size * own) - 0.5 * (n - 1) * np.log(np.maximum(share, 1e-12))
        best = np.maximum(best, evidence)
    best -= 0.5 * np.linalg.slogdet(gram)[1]
    return best
