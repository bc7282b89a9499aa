"""The hooks by which pyknnmi finds the learners."""

from __future__ import annotations

from pyknnmi.components import Learner, hookimpl

from .glasso import GraphicalLasso
from .neighbourhood import NeighbourhoodSelection


@hookimpl
def pyknnmi_learners() -> list[type[Learner]]:
    """Return the two learners."""
    return [GraphicalLasso, NeighbourhoodSelection]
