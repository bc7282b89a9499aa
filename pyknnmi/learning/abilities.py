"""What the components of a pipeline can do: errors for all else, before anything is tested."""

from __future__ import annotations

from pyknnmi.errors import ParameterError
from pyknnmi.learning.stages import Stages
from pyknnmi.search.constraints import Constraints
from pyknnmi.search.store import Store

__all__ = ["check_abilities"]


def check_abilities(
    stages: Stages, constraints: Constraints, orient: bool, calibrate: int, store: Store | None
) -> None:
    """Raise an error for what these components cannot do, before anything is tested."""
    name = stages.learner.name
    if constraints.targets is not None and not stages.learner.takes_targets:
        raise ParameterError(
            f"the learner '{name}' searches for all columns at once: leave the targets out, or take a learner "
            "that searches column by column, such as iamb",
            "targets",
        )
    takes_constraints = stages.learner.uses_test or stages.learner.takes_constraints
    if not takes_constraints and (constraints.required or constraints.forbidden):
        raise ParameterError(
            f"the learner '{name}' uses no CI test, and edges are required or forbidden through the test: "
            "leave them out, or take a learner that uses one, such as iamb"
        )
    if orient and stages.test is None:
        raise ParameterError(
            f"the learner '{name}' uses no CI test, which orientation needs: leave orient out, or take a learner "
            "that uses one, such as pc-stable",
            "orient",
        )
    for what, wanted in (("orient", orient), ("calibrate", bool(calibrate))):
        if wanted and stages.wrappers:
            raise ParameterError(
                f"the wrapper '{stages.wrappers[0].name}' learns several graphs or changes one, and {what} is about "
                "one search: leave either out",
                what,
            )
    if calibrate and stages.test is None:
        raise ParameterError(
            f"the learner '{name}' uses no CI test, so there is none to calibrate: leave calibrate out", "calibrate"
        )
    if stages.test is None and store is not None:
        raise ParameterError(
            f"the learner '{name}' uses no CI test, and a store keeps the answers of one: leave the store out",
            "store",
        )
    if orient and constraints.targets is not None:
        raise ParameterError(
            "orientation needs the neighbours of every column: leave either orient or the targets out", "orient"
        )
