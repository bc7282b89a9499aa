"""Kernel and regression tests of conditional independence for pyknnmi."""

from __future__ import annotations

from pyknnmi.components import CITest, hookimpl
from pyknnmi_kernel.gcm import GCM
from pyknnmi_kernel.kci import KCI
from pyknnmi_kernel.rcit import RCIT
from pyknnmi_kernel.rcot import RCoT

__all__ = ["GCM", "KCI", "RCIT", "RCoT"]


@hookimpl
def pyknnmi_ci_tests() -> list[type[CITest]]:
    """Return the CI tests of this plugin."""
    return [GCM, KCI, RCIT, RCoT]
