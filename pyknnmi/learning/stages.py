"""The components of a pipeline, which fit together."""

from __future__ import annotations

from dataclasses import dataclass

from pyknnmi.errors import ParameterError
from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.protocols.component import Component
from pyknnmi.protocols.transforms import Transform
from pyknnmi.protocols.wrappers import Wrapper
from pyknnmi.search.learners import Learner

__all__ = ["Stages"]


@dataclass(frozen=True)
class Stages:
    """A learner, the CI test that it uses, the transforms before it, and the wrappers round them all."""

    learner: Learner
    test: CITest | None = None
    transforms: tuple[Transform, ...] = ()
    wrappers: tuple[Wrapper, ...] = ()

    def __post_init__(self) -> None:
        if self.learner.uses_test and self.test is None:
            raise ParameterError(
                f"the learner '{self.learner.name}' needs a CI test: write "
                f"'{self.learner.name}+knn-cmi', or another test's name"
            )
        if not self.learner.uses_test and self.test is not None:
            raise ParameterError(f"the learner '{self.learner.name}' uses no CI test: leave '{self.test.name}' out")

    def components(self) -> tuple[Component, ...]:
        """Return the stages in the order of a spec, in which they work: a wrapper goes round all that follow."""
        return (*self.wrappers, *self.transforms, self.learner, *([self.test] if self.test else []))

    def __str__(self) -> str:
        return "+".join(map(str, self.components()))
