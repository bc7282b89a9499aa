"""The grammar of a pipeline: from a spec string to components that fit together."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from pyknnmi.errors import ParameterError, collected_warnings
from pyknnmi.learning.one_run import learn_graph
from pyknnmi.learning.presets import PRESETS
from pyknnmi.learning.result import LearnResult
from pyknnmi.learning.stages import Stages
from pyknnmi.protocols.ci_tests import CITest
from pyknnmi.protocols.spec import Spec
from pyknnmi.protocols.transforms import Transform
from pyknnmi.protocols.wrappers import Wrapper
from pyknnmi.registry.registry import KINDS, Registry, default_registry
from pyknnmi.run import Run
from pyknnmi.search.constraints import Constraints
from pyknnmi.search.learners import Learner
from pyknnmi.search.store import Store

__all__ = ["DEFAULT_SPEC", "Pipeline"]

_log = logging.getLogger("pyknnmi")
DEFAULT_SPEC = "iamb+knn-cmi"
_ORDER = "a spec is any wrappers, any transforms, then one learner, then its CI test"
_MAY_FOLLOW = {
    "wrapper": ("wrapper", "transform", "learner"),
    "transform": ("transform", "learner"),
    "learner": ("test",),
    "test": (),
}
_IN_WORDS = {"wrapper": "a wrapper", "transform": "a transform", "learner": "a learner", "test": "a CI test"}


@dataclass(frozen=True)
class Pipeline(Stages):
    """Components that fit together: transforms, a learner, the CI test that it uses, and wrappers round them all.

    Examples
    --------
    >>> str(Pipeline.parse("iamb(rule=or)+fisher-z"))
    'iamb(rule=or,exhaustive=false,max_conditioning=none,adjust=none)+fisher-z(alpha=0.05,correlation=pearson)'
    """

    @classmethod
    def parse(cls, text: str, registry: Registry | None = None) -> Self:
        """Return the pipeline that a spec string describes, or the name of a preset.

        Raises
        ------
        SpecError
            Bad grammar, an unknown name, a bad parameter or a wrong order; the place is marked.
        """
        spec = Spec.parse(text)
        if str(spec) in PRESETS:
            spec = Spec.parse(PRESETS[str(spec)].spec)
        for call in spec.calls:
            if call.name in PRESETS:
                raise spec.error(f"'{call.name}' is a preset: it stands alone, for {PRESETS[call.name].spec}", call)
        registry = registry or default_registry()
        components = [registry.component_of(spec, call) for call in spec.calls]
        kinds = [component.kind for component in components]
        for kind, following, call in zip(kinds, kinds[1:], spec.calls, strict=False):
            if following not in _MAY_FOLLOW[kind]:
                raise spec.error(
                    f"'{call.name}' is {_IN_WORDS[kind]} and {_IN_WORDS[following]} follows: {_ORDER}", call
                )
        stages = {kind: [c for c in components if c.kind == kind] for kind in KINDS}
        if not stages["learner"]:
            raise spec.error(f"a learner is missing: {_ORDER}", spec.calls[-1])
        learner = cast(Learner, stages["learner"][0])
        test = cast(CITest, stages["test"][0]) if stages["test"] else None
        try:
            transforms = tuple(cast(list[Transform], stages["transform"]))
            return cls(learner, test, transforms, tuple(cast(list[Wrapper], stages["wrapper"])))
        except ParameterError as error:
            raise spec.error(str(error), spec.calls[kinds.index("learner")]) from None

    @property
    def preset(self) -> str | None:
        """The name of the preset that this pipeline is, if it is one."""
        return next((name for name, preset in PRESETS.items() if str(Pipeline.parse(preset.spec)) == str(self)), None)

    def learn(
        self,
        data: Any,
        run: Run | None = None,
        constraints: Constraints | None = None,
        *,
        orient: bool = False,
        calibrate: int = 0,
        store: Store | None = None,
    ) -> LearnResult:
        """Return the Markov network of `data`; see `pyknnmi.learn`. `calibrate` draws are made for a question."""
        _log.info("learning %s", self)
        with collected_warnings() as messages:
            result = learn_graph(self, data, run, constraints, orient=orient, calibrate=calibrate, store=store)
        _log.info("learned %r", result)
        return replace(result, warnings=tuple(messages))
