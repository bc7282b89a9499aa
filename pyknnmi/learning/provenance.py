"""What a run rests on: the versions that took part, the full identity of a test, and all that repeats the run."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from pyknnmi.auditing import AuditFinding
from pyknnmi.errors import ParameterError
from pyknnmi.learning.result import LearnResult
from pyknnmi.numbers.estimators import build_info
from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.protocols.component import Component
from pyknnmi.registry.registry import BUILT_IN, HERE, default_registry
from pyknnmi.run import Run

__all__ = ["Provenance", "identity_of", "provenance", "versions"]


@dataclass(frozen=True)
class Provenance:
    """What a result rests on, and what is needed to repeat the run: the content of ``provenance.json``."""

    spec: str
    seed: int
    data_sha256: str
    rows: int
    columns: int
    rows_left_out: int
    repeats_left_out: int
    missing_values: bool
    findings: tuple[AuditFinding, ...]
    constant_columns: tuple[str, ...]
    required: tuple[tuple[str, str], ...]
    forbidden: tuple[tuple[str, str], ...]
    targets: tuple[str, ...] | None
    oriented: bool
    details: Mapping[str, object]
    counts: Mapping[str, int]
    warnings: tuple[str, ...]
    versions: Mapping[str, Any]
    seconds: float


def versions(components: Sequence[Component]) -> dict[str, Any]:
    """Return what took part in a run of these components."""
    registry = default_registry()
    known = {cls.name for cls in registry.components()}
    plugins = {
        plugin.name: plugin.version
        for component in components
        if component.name in known and (plugin := registry.plugin_of(component.name)).name != BUILT_IN
    }
    return {
        "pyknnmi": metadata.version("pyknnmi"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "plugins": plugins,
        "distributions": {name: metadata.version(name) for one in components for name in one.distributions},
        "core": build_info(),
    }


def identity_of(test: CITest, run: Run) -> str:
    """Return what identifies a test among all whose answers may differ.

    Raises
    ------
    ParameterError
        A test that comes from no installed plugin, so that no version says when it changed.
    """
    registry = default_registry()
    if type(test) not in registry.components("test") or registry.plugin_of(test.name).name == HERE:
        raise ParameterError(
            f"the test '{test.name}' does not come from an installed plugin, so a store cannot know whether it has "
            "changed: leave the store out, or put the test into a plugin (pyknnmi plugins new)",
            "store",
        )
    plugin = registry.plugin_of(test.name)
    packages = "".join(f" with {name} {metadata.version(name)}" for name in test.distributions)
    return f"{test} of {plugin.name} {plugin.version}{packages}{f', seed {run.seed}' if test.needs_seed else ''}"


def provenance(result: LearnResult) -> Provenance:
    """Return what a result rests on."""
    return Provenance(
        spec=result.spec,
        seed=result.seed,
        data_sha256=result.data_sha256,
        rows=result.shape[0],
        columns=result.shape[1],
        rows_left_out=result.rows_left_out,
        repeats_left_out=result.repeats_left_out,
        missing_values=result.has_missing,
        findings=result.findings,
        constant_columns=result.constant_columns,
        required=result.constraints.required,
        forbidden=result.constraints.forbidden,
        targets=result.constraints.targets,
        oriented=result.oriented is not None,
        details=result.details,
        counts=result.counts,
        warnings=result.warnings,
        versions=result.versions,
        seconds=result.seconds,
    )
