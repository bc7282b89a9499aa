"""A test of pyknnmi as a test of tigramite."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from tigramite.independence_tests.independence_tests_base import CondIndTest

import pyknnmi
from pyknnmi.components import CITest, ParameterError

_OFF = {"screen": None, "stop": "never", "stop_early": False}
"""What makes p-values right at the alpha of the test only."""


class TigramiteTest(CondIndTest):
    """Any CI test of pyknnmi, for PCMCI and the other methods of tigramite.

    Parameters
    ----------
    test : str or CITest, default "knn-cmi"
        A CI test's spec, such as ``knn-cmi(k=5)``. Its ``screen``, ``stop`` and ``stop_early`` are switched off, since
        tigramite decides at levels of its own.
    seed, threads
        As in `pyknnmi.bind`.
    **options
        Further arguments of tigramite's ``CondIndTest``.

    Attributes
    ----------
    component : CITest
        The test as it is used.
    """

    def __init__(self, test: str | CITest = "knn-cmi", *, seed: int = 0, threads: int = 0, **options: Any) -> None:
        if options.get("significance", "analytic") != "analytic":
            raise ParameterError("the p-values are those of the test: leave significance out", "significance")
        component: Any = pyknnmi.parse_test(test) if isinstance(test, str) else test
        off = {field.name: _OFF[field.name] for field in fields(component) if field.name in _OFF}
        self.component: CITest = replace(component, **off)
        self.two_sided = False
        self.residual_based = False
        self._resources: dict[str, Any] = {"seed": seed, "threads": threads}
        self._last: tuple[float, float] | None = None
        super().__init__(**options)

    @property
    def measure(self) -> str:
        """What tigramite calls the test."""
        return f"pyknnmi {self.component.name}"

    def get_dependence_measure(self, array: Any, xyz: Any, data_type: Any = None) -> float:
        """Return the statistic for the rows of an array; those with 0, 1, 2 in `xyz` are of x, y and z."""
        names = [f"{'xyz'[role]}{i}" for i, role in enumerate(xyz)]
        groups = [[name for name in names if name[0] == role] for role in "xyz"]
        types = np.zeros(np.shape(array)) if data_type is None else np.asarray(data_type)
        kinds: Any = tuple("discrete" if row.all() else "continuous" for row in types)
        table = pyknnmi.bind(pyknnmi.Dataset(array.T, tuple(names), kinds), self.component, **self._resources)
        answer = table.test(*groups)
        self._last = answer.statistic, answer.p_value
        return answer.statistic

    def get_analytic_significance(self, value: float, T: int, dim: int, xyz: Any) -> float:  # noqa: N803
        """Return the p-value that came with the statistic: tigramite calls for one after the other."""
        if self._last is None or self._last[0] != value:
            raise RuntimeError("tigramite called for the p-value of another statistic than the last")
        return self._last[1]
