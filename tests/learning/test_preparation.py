from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from pyknnmi import DataError, Dataset, PyknnmiWarning, learn, register_transform
from pyknnmi.components import Transform
from pyknnmi.learning.preparation import transformed

VALUES = np.random.default_rng(4).standard_normal((80, 3))
POSITIVE = np.column_stack([np.abs(VALUES), VALUES[:, :1] - 5])


def test_values_that_a_transform_makes_missing_are_its_own(registry):
    @register_transform("log")
    def log(column):
        with np.errstate(invalid="ignore"):
            return np.log(column)

    for missing in ("raise", "drop"):
        with pytest.raises(
            DataError, match=r"^the transform 'log' makes missing values \(NaN\) of numbers in column X4: leave"
        ):
            learn(POSITIVE, "log+iamb+fisher-z", missing=missing)


@dataclass(frozen=True, kw_only=True)
class Logarithm(Transform):
    """Refuses what has none."""

    name: ClassVar[str] = "logarithm"

    def apply(self, dataset):
        with np.errstate(all="ignore"):
            return Dataset(np.log(dataset.values), dataset.names)


@pytest.mark.parametrize(("value", "problem"), [(-1.0, "missing values"), (0.0, "infinite values")])
def test_an_error_about_data_names_the_transform(value, problem):
    data = Dataset.of([[1.0, 2], [3, value], [2, 1]])
    with pytest.raises(DataError, match=rf"^logarithm: transforming: {problem}.* in column 'X2' \(1\)"):
        transformed(Logarithm(), data)


@pytest.mark.filterwarnings("ignore:knn-cmi")
@pytest.mark.parametrize(
    "test", ["fisher-z", "fisher-z(correlation=spearman)", "fisher-z(correlation=kendall)", "knn-cmi(permutations=40)"]
)
def test_a_column_that_becomes_constant_depends_on_nothing(registry, test):
    register_transform("sign", lambda column: np.where(column < 0, -1.0, 1.0))
    mixed = np.column_stack([POSITIVE[:, 0], VALUES[:, 1], VALUES[:, 1] + VALUES[:, 2]])
    with pytest.warns(PyknnmiWarning, match="^after the transform .sign. column X1 is constant: it depends on"):
        found = learn(mixed, f"sign+iamb+{test}")
    # with the constant taken out beforehand
    assert found.graph.edges == (("X2", "X3"),)
    assert learn(Dataset(mixed[:, 1:], ("X2", "X3")), f"sign+iamb+{test}").graph.edges == found.graph.edges
