"""pyknnmi in other packages for causal discovery, and their tests in pyknnmi.

`pyknnmi.bridges.causal_learn`, `pyknnmi.bridges.pgmpy` and `pyknnmi.bridges.dowhy` run the other package's search with
a test of pyknnmi. The other way round, ``causal-learn``, ``pgmpy`` and ``dowhy`` are CI tests in a spec, such as
``iamb+causal-learn(test=kci)``. A package is imported when it is used.
"""

from __future__ import annotations

from pyknnmi.bridges.causal_learn import CausalLearn
from pyknnmi.bridges.dowhy import DoWhy
from pyknnmi.bridges.pgmpy import Pgmpy
from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.registry.hookspecs import hookimpl


@hookimpl
def pyknnmi_ci_tests() -> list[type[CITest]]:
    """Offer the tests of other packages."""
    return [CausalLearn, DoWhy, Pgmpy]
