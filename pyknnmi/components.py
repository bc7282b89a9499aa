"""What authors of components need: the bases to derive from, what they are given and what they return.

Bare estimates, correlations and ranks are in `pyknnmi.numbers`; `pyknnmi.testing` checks a component.
"""

from __future__ import annotations

from pyknnmi.auditing.finding import AuditFinding
from pyknnmi.data.columns import Kind
from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import DataError, ParameterError, PluginError, PyknnmiError, PyknnmiWarning, warn, without_warnings
from pyknnmi.graphs.graph import Graph
from pyknnmi.graphs.partially_directed import PartiallyDirectedGraph
from pyknnmi.locks import Lock
from pyknnmi.protocols.ci_tests import BoundTest, CIResult, CITest, warn_of_stopped
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.learned_graph import Evidence, LearnedGraph
from pyknnmi.protocols.transforms import Transform
from pyknnmi.protocols.wrappers import Inner, Learned, Wrapper
from pyknnmi.registry.hookspecs import hookimpl
from pyknnmi.run import Run, check_memory
from pyknnmi.search.learners import BlanketLearner, Learner
from pyknnmi.search.tester import Finding, Tester

__all__ = [
    "AuditFinding",
    "BlanketLearner",
    "BoundTest",
    "CIResult",
    "CITest",
    "Component",
    "DataError",
    "Dataset",
    "Evidence",
    "Finding",
    "Graph",
    "Inner",
    "Kind",
    "Learned",
    "LearnedGraph",
    "Learner",
    "Lock",
    "ParameterError",
    "PartiallyDirectedGraph",
    "PluginError",
    "PyknnmiError",
    "PyknnmiWarning",
    "Run",
    "Tester",
    "Transform",
    "Wrapper",
    "check_memory",
    "hookimpl",
    "warn",
    "warn_of_stopped",
    "without_warnings",
]
