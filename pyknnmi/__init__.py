"""pyknnmi: learn which variables depend on which, without assuming a distribution."""

from __future__ import annotations

from pyknnmi import simulate
from pyknnmi.ci_tests import BoundTest, CIResult, CITest
from pyknnmi.columns import Kind
from pyknnmi.component import Component
from pyknnmi.constraints import Constraints
from pyknnmi.correlation import (
    CorrelationKind,
    FisherZ,
    PartialCorrelation,
    PartialCorrelations,
    correlation_matrix,
    fisher_z,
    standardized,
)
from pyknnmi.data import Dataset
from pyknnmi.errors import (
    DataError,
    DataTypeError,
    ParameterError,
    PluginError,
    PyknnmiError,
    PyknnmiWarning,
    SpecError,
    StoppedError,
    UnknownNameError,
    warn,
)
from pyknnmi.estimators import (
    Estimator,
    PermutationCount,
    build_info,
    conditional_mutual_information,
    conditional_mutual_informations,
    entropy,
    mutual_information,
    neighbor_counts,
    permutation_test,
    thread_count,
)
from pyknnmi.exports import write_result
from pyknnmi.graph import Graph
from pyknnmi.hookspecs import hookimpl
from pyknnmi.learners import BlanketLearner, Evidence, Learned, Learner
from pyknnmi.partially_directed import PartiallyDirectedGraph
from pyknnmi.pipeline import Pipeline, learn
from pyknnmi.question import ci_test
from pyknnmi.ranking import average_ranks
from pyknnmi.reading import read_table
from pyknnmi.registry import (
    Plugin,
    Registry,
    default_registry,
    register_ci_test,
    register_learner,
    register_transform,
)
from pyknnmi.result import LearnResult, PairEvidence
from pyknnmi.run import Progress, Run
from pyknnmi.spec import Spec
from pyknnmi.store import Store, StoreSummary
from pyknnmi.tester import Search, Tester
from pyknnmi.transforms import Transform

__all__ = [
    "BlanketLearner",
    "BoundTest",
    "CIResult",
    "CITest",
    "Component",
    "Constraints",
    "CorrelationKind",
    "DataError",
    "DataTypeError",
    "Dataset",
    "Estimator",
    "Evidence",
    "FisherZ",
    "Graph",
    "Kind",
    "LearnResult",
    "Learned",
    "Learner",
    "PairEvidence",
    "ParameterError",
    "PartialCorrelation",
    "PartialCorrelations",
    "PartiallyDirectedGraph",
    "PermutationCount",
    "Pipeline",
    "Plugin",
    "PluginError",
    "Progress",
    "PyknnmiError",
    "PyknnmiWarning",
    "Registry",
    "Run",
    "Search",
    "Spec",
    "SpecError",
    "StoppedError",
    "Store",
    "StoreSummary",
    "Tester",
    "Transform",
    "UnknownNameError",
    "average_ranks",
    "build_info",
    "ci_test",
    "conditional_mutual_information",
    "conditional_mutual_informations",
    "correlation_matrix",
    "default_registry",
    "entropy",
    "fisher_z",
    "hookimpl",
    "learn",
    "mutual_information",
    "neighbor_counts",
    "permutation_test",
    "read_table",
    "register_ci_test",
    "register_learner",
    "register_transform",
    "simulate",
    "standardized",
    "thread_count",
    "warn",
    "write_result",
]
