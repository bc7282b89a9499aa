"""The components that ship, offered through the same hooks as anybody's."""

from __future__ import annotations

from pyknnmi import CITest, Learner, Transform, hookimpl
from pyknnmi.builtin.fisher_z import FisherZTest
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.builtin.knn_cmi import KnnCMI
from pyknnmi.builtin.nonparanormal import Nonparanormal
from pyknnmi.builtin.ranks import Ranks
from pyknnmi.builtin.separation import Separation
from pyknnmi.builtin.standardize import Standardize


@hookimpl
def pyknnmi_ci_tests() -> list[type[CITest]]:
    return [FisherZTest, KnnCMI, Separation]


@hookimpl
def pyknnmi_learners() -> list[type[Learner]]:
    return [IAMB]


@hookimpl
def pyknnmi_transforms() -> list[type[Transform]]:
    return [Nonparanormal, Ranks, Standardize]
