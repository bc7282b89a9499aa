"""Bare numbers: nearest-neighbour estimates, permutation tests, correlations and ranks of arrays.

Every function takes anything that NumPy makes an array of, checks it, and raises errors of pyknnmi. Information is in
nats.
"""

from __future__ import annotations

from pyknnmi.numbers.correlation import (
    CorrelationKind,
    FisherZResult,
    PartialCorrelation,
    PartialCorrelations,
    correlation_matrix,
    fisher_z,
    standardized,
)
from pyknnmi.numbers.estimators import (
    conditional_mutual_information,
    conditional_mutual_informations,
    entropy,
    estimate_of_counts,
    mutual_information,
    neighbor_counts,
)
from pyknnmi.numbers.indicators import indicators
from pyknnmi.numbers.permutations import (
    PermutationResult,
    permutation_test,
    permuted_rows,
    permuted_statistics,
    swapped_rows,
)
from pyknnmi.numbers.ranks import average_ranks
from pyknnmi.numbers.samples import EstimatorName
from pyknnmi.numbers.serial import block_length, common_season, same_season, season_length
from pyknnmi.numbers.ties import cells_suit, tied_share

__all__ = [
    "CorrelationKind",
    "EstimatorName",
    "FisherZResult",
    "PartialCorrelation",
    "PartialCorrelations",
    "PermutationResult",
    "average_ranks",
    "block_length",
    "cells_suit",
    "common_season",
    "conditional_mutual_information",
    "conditional_mutual_informations",
    "correlation_matrix",
    "entropy",
    "estimate_of_counts",
    "fisher_z",
    "indicators",
    "mutual_information",
    "neighbor_counts",
    "permutation_test",
    "permuted_rows",
    "permuted_statistics",
    "same_season",
    "season_length",
    "standardized",
    "swapped_rows",
    "tied_share",
]
