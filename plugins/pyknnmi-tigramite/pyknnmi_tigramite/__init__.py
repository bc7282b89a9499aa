"""pyknnmi's tests in tigramite, and the other way round."""

from __future__ import annotations

from pyknnmi.components import CITest, hookimpl
from pyknnmi_tigramite.component import Tigramite
from pyknnmi_tigramite.tigramite_test import TigramiteTest

__all__ = ["Tigramite", "TigramiteTest"]


@hookimpl
def pyknnmi_ci_tests() -> list[type[CITest]]:
    """Return the CI tests of this plugin."""
    return [Tigramite]
