"""The components that ship, offered through the same hooks as anybody's."""

from __future__ import annotations

from pyknnmi.builtin.calibrated import Calibrated
from pyknnmi.builtin.fast_iamb import FastIAMB
from pyknnmi.builtin.fdr import FDR
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.functional_anova import FunctionalANOVA
from pyknnmi.builtin.grow_shrink import GrowShrink
from pyknnmi.builtin.gsmn import GSMN
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.builtin.iamb_fdr import IAMBFDR
from pyknnmi.builtin.inter_iamb import InterIAMB
from pyknnmi.builtin.knn_cmi import KnnCMI
from pyknnmi.builtin.mmpc import MMPC
from pyknnmi.builtin.nonparanormal import Nonparanormal
from pyknnmi.builtin.pairwise import Pairwise
from pyknnmi.builtin.pc_stable import PCStable
from pyknnmi.builtin.ranks import Ranks
from pyknnmi.builtin.residual_dependence import ResidualDependence
from pyknnmi.builtin.separation import Separation
from pyknnmi.builtin.si_hiton_pc import SIHitonPC
from pyknnmi.builtin.smooth_gcm import SmoothGCM
from pyknnmi.builtin.stability import Stability
from pyknnmi.builtin.standardize import Standardize
from pyknnmi.components import CITest, Learner, Transform, Wrapper, hookimpl


@hookimpl
def pyknnmi_ci_tests() -> list[type[CITest]]:
    return [Calibrated, FisherZ, KnnCMI, ResidualDependence, Separation, SmoothGCM]


@hookimpl
def pyknnmi_learners() -> list[type[Learner]]:
    return [FastIAMB, FunctionalANOVA, GSMN, GrowShrink, IAMB, IAMBFDR, InterIAMB, MMPC, PCStable, Pairwise, SIHitonPC]


@hookimpl
def pyknnmi_transforms() -> list[type[Transform]]:
    return [Nonparanormal, Ranks, Standardize]


@hookimpl
def pyknnmi_wrappers() -> list[type[Wrapper]]:
    return [FDR, Stability]
