"""pyknnmi: learn which variables depend on which, without assuming a distribution.

This is the door for users. Authors of components find what they need in `pyknnmi.components`, bare estimates are in
`pyknnmi.numbers`, and `pyknnmi.testing` checks components.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Any

# What users find here. Each is imported when it is first used: help on the command line takes none of them.
if TYPE_CHECKING:
    from pyknnmi import components, numbers, simulate
    from pyknnmi.auditing import Audit, AuditFinding
    from pyknnmi.data.dataset import Dataset
    from pyknnmi.data.reading import read_table
    from pyknnmi.errors import (
        DataError,
        DataTypeError,
        MissingPackageError,
        ParameterError,
        PluginError,
        PyknnmiError,
        PyknnmiWarning,
        SpecError,
        StoppedError,
        UnknownNameError,
    )
    from pyknnmi.graphs.graph import Graph
    from pyknnmi.graphs.partially_directed import PartiallyDirectedGraph
    from pyknnmi.learning.bind import TableTest, bind, ci_test
    from pyknnmi.learning.calibrate import calibrate
    from pyknnmi.learning.environment import show_versions
    from pyknnmi.learning.exports import read_result, write_result
    from pyknnmi.learning.learn import learn
    from pyknnmi.learning.pipeline import Pipeline
    from pyknnmi.learning.preparation import audit
    from pyknnmi.learning.progress_bar import ProgressBar
    from pyknnmi.learning.result import LearnResult, PairEvidence
    from pyknnmi.learning.schema import provenance_schema, result_schema
    from pyknnmi.numbers.estimators import build_info, conditional_mutual_information, entropy, mutual_information
    from pyknnmi.protocols.ci_tests import CIResult
    from pyknnmi.registry.registry import parse_test, register_ci_test, register_learner, register_transform
    from pyknnmi.run import Progress, Run
    from pyknnmi.search.constraints import Constraints
    from pyknnmi.search.store import Store

__all__ = [
    "Audit",
    "AuditFinding",
    "CIResult",
    "Constraints",
    "DataError",
    "DataTypeError",
    "Dataset",
    "Graph",
    "LearnResult",
    "MissingPackageError",
    "PairEvidence",
    "ParameterError",
    "PartiallyDirectedGraph",
    "Pipeline",
    "PluginError",
    "Progress",
    "ProgressBar",
    "PyknnmiError",
    "PyknnmiWarning",
    "Run",
    "SpecError",
    "StoppedError",
    "Store",
    "TableTest",
    "UnknownNameError",
    "audit",
    "bind",
    "build_info",
    "calibrate",
    "ci_test",
    "components",
    "conditional_mutual_information",
    "entropy",
    "learn",
    "mutual_information",
    "numbers",
    "parse_test",
    "provenance_schema",
    "read_result",
    "read_table",
    "register_ci_test",
    "register_learner",
    "register_transform",
    "result_schema",
    "show_versions",
    "simulate",
    "write_result",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    home = _homes()[name]
    if home == __name__:
        return importlib.import_module(f"{home}.{name}")
    globals()[name] = getattr(importlib.import_module(home), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _homes() -> dict[str, str]:
    """Return the module of each public name, as the imports above give them."""
    nodes = ast.walk(ast.parse(inspect.getsource(sys.modules[__name__])))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}
