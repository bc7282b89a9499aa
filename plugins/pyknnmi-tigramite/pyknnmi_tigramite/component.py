"""tigramite's tests in a spec."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pyknnmi.components import BoundTest, CIResult, CITest, Dataset, Run


@dataclass(frozen=True, kw_only=True)
class Tigramite(CITest):
    """A test of the package tigramite.

    The statistic is the absolute value of tigramite's.

    Parameters
    ----------
    test : parcorr, robust-parcorr
        As tigramite calls it, ``-`` for ``_``.
    alpha : float, in (0, 1)
        Dependent when p < alpha.

    References
    ----------
    Runge, Nowack, Kretschmer, Flaxman and Sejdinovic (2019), doi:10.1126/sciadv.aau4996.
    """

    name: ClassVar[str] = "tigramite"
    distributions: ClassVar[tuple[str, ...]] = ("tigramite",)

    test: Literal["parcorr", "robust-parcorr"] = "robust-parcorr"
    alpha: float = 0.05

    def check(self) -> None:
        """Check the range."""
        self.require(0 < self.alpha < 1, "alpha", "between 0 and 1")

    def bind(self, dataset: Dataset, run: Run) -> BoundTest:
        """Return the test on this data."""
        return _BoundTigramite(self, dataset)


class _BoundTigramite(BoundTest):
    def __init__(self, component: Tigramite, dataset: Dataset) -> None:
        self._alpha = component.alpha
        self._values = dataset.values
        module = importlib.import_module(f"tigramite.independence_tests.{component.test.replace('-', '_')}")
        self._theirs: Any = {"parcorr": "ParCorr", "robust-parcorr": "RobustParCorr"}[component.test]
        self._theirs = getattr(module, self._theirs)()

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        given = self._values[:, list(z)] if z else None
        value, p_value = self._theirs.run_test_raw(self._values[:, [x]], self._values[:, [y]], given)
        return CIResult(
            statistic=abs(float(value)),
            p_value=float(p_value),
            independent=not p_value < self._alpha,
            n=len(self._values),
            decided_by="tigramite",
        )
