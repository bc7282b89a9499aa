"""Between tests that return p-values and ours."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from pyknnmi.data.dataset import Dataset
from pyknnmi.errors import ParameterError
from pyknnmi.protocols.ci_tests import BoundTest, CIResult, CITest
from pyknnmi.run import Run

__all__ = ["PValueTest", "alpha_of", "p_value_to_decide"]


def alpha_of(component: CITest) -> float:
    """Return the level at which a test decides; the other package gets the same."""
    alpha = getattr(component, "alpha", None)
    if not isinstance(alpha, float):
        raise ParameterError(f"{component.name} has no alpha, at which the other package could decide", "test")
    return alpha


def p_value_to_decide(answer: CIResult, alpha: float) -> float:
    """Return the p-value, for a package that calls p = alpha dependent: there it is raised by its last bit.

    Our tests call p = alpha independent, and permutations make such p-values.
    """
    return math.nextafter(alpha, 1.0) if answer.independent and answer.p_value == alpha else answer.p_value


class PValueTest(BoundTest):
    """A test of another package, bound to data: it returns p-values, and may use NumPy's global generator.

    The statistic is minus the logarithm of the p-value. Where p-values are zero in floating point, candidates tie.
    """

    def __init__(self, component: CITest, dataset: Dataset, run: Run) -> None:
        self._name = component.name
        self._alpha = alpha_of(component)
        self._dataset = dataset
        self._run = run

    @abstractmethod
    def p_value(self, x: int, y: int, z: tuple[int, ...]) -> float:
        """Return the p-value for columns x and y given the columns z."""

    def test(self, x: int, y: int, z: tuple[int, ...]) -> CIResult:
        """Return the answer for columns x and y given the columns z."""
        names = self._dataset.names
        generator = self._run.generator(names[x], names[y], [names[i] for i in z])
        with _seeded(int(generator.integers(2**32))):
            p_value = min(max(float(self.p_value(x, y, z)), 0.0), 1.0)
        return CIResult(
            statistic=0.0 - math.log(max(p_value, 5e-324)),  # 0.0 - gives 0.0 for p = 1, and not -0.0
            p_value=p_value,
            independent=not p_value < self._alpha,
            n=self._dataset.n,
            decided_by=self._name,
        )


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed NumPy's global generator for a while, and put it back as it was."""
    before = np.random.get_state()  # noqa: NPY002 (other packages use it)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
