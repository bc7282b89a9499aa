"""The hooks by which pyknnmi finds the learners."""

from __future__ import annotations

import pyknnmi

from .glasso import GraphicalLasso
from .neighbourhood import NeighbourhoodSelection


@pyknnmi.hookimpl
def pyknnmi_learners() -> list[type[pyknnmi.Learner]]:
    """Return the two learners."""
    return [GraphicalLasso, NeighbourhoodSelection]
