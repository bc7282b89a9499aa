"""A plugin for pyknnmi: the CI test `permuted-correlation` and the learner `chow-liu`."""

from __future__ import annotations

from pyknnmi.components import CITest, Learner, hookimpl
from pyknnmi_example.chow_liu import ChowLiu
from pyknnmi_example.permuted_correlation import PermutedCorrelation

__all__ = ["ChowLiu", "PermutedCorrelation"]


@hookimpl
def pyknnmi_ci_tests() -> list[type[CITest]]:
    """Return the CI tests of this plugin."""
    return [PermutedCorrelation]


@hookimpl
def pyknnmi_learners() -> list[type[Learner]]:
    """Return the learners of this plugin."""
    return [ChowLiu]
