from __future__ import annotations

import numpy as np
import pytest

import pyknnmi
from pyknnmi import Dataset, ParameterError


def effect_of_three(seed, n=100):
    random = np.random.default_rng(seed)
    z = random.standard_normal((n, 3))
    x, y = z.sum(axis=1) + 0.5 * random.standard_normal((2, n))
    return np.column_stack([x, y, z])


GIVEN_ALL = [(0, 1, [2, 3, 4])]


def test_a_test_that_rejects_too_often_is_found():
    found = pyknnmi.calibrate(effect_of_three(1), "knn-cmi(permutations=99)", GIVEN_ALL, draws=15)
    (row,) = found.sizes
    assert (row.size, row.questions, row.draws) == (3, 1, 15)
    assert row.rejections == found.questions[0].rejections
    assert row.rate > 0.5  # knn-cmi rejects this null in most data sets
    assert row.verdict == "rejects too often"
    assert not found.holds
    assert row.r_squared > 0.8  # of 12 / 13, which is the share of z
    assert "residual-dependence" in found.advice
    assert str(found).count("rejects too often") == 1


def test_a_test_that_holds_its_level_is_believed():
    found = pyknnmi.calibrate(effect_of_three(1), "fisher-z", GIVEN_ALL, draws=60)
    assert found.holds  # fisher-z is right for linear effects with normal noise
    assert found.sizes[0].low < 0.05 < found.sizes[0].high


def test_a_test_that_rejects_too_seldom_is_found():
    @pyknnmi.register_ci_test("never")
    def never(x, y, z):
        return 1.0

    found = pyknnmi.calibrate(effect_of_three(1), "never(alpha=0.5)", GIVEN_ALL, draws=15)
    assert found.sizes[0].verdict == "rejects too seldom"  # none of 15 at level .5: .00003


def test_the_questions_of_a_search_are_tried_by_size():
    data, _ = pyknnmi.simulate.small_network(80, seed=1)
    result = pyknnmi.learn(data, "iamb+fisher-z", calibrate=True)
    rows = result.calibration.sizes
    assert [row.size for row in rows] == list(range(len(rows)))
    assert all(row.draws in (25, 50, 75, 100) for row in rows)
    assert result.calibration == pyknnmi.calibrate(data, "iamb+fisher-z")
    assert pyknnmi.learn(data, "iamb+fisher-z").calibration is None


def test_categories_and_missing_values():
    table = effect_of_three(2)
    table[:5, 1] = np.nan
    table[:, 4] = table[:, 4] > 0
    kinds = ("continuous",) * 4 + ("discrete",)
    dataset = Dataset(table, ("a", "b", "c", "d", "e"), kinds, has_missing=True)
    spec, questions = "residual-dependence(permutations=40)", [("a", "b", ["c", "e"])]
    found = pyknnmi.calibrate(dataset, spec, questions, draws=4, missing="drop-per-test")
    assert found.questions[0].given == ("c", "e")


def test_a_pipeline_without_a_test_is_refused():
    data, _ = pyknnmi.simulate.small_network(50, seed=1)
    with pytest.raises(ParameterError, match="uses no CI test"):
        pyknnmi.learn(data, "functional-anova", calibrate=True)


def test_a_test_without_a_level_is_refused():
    data, _ = pyknnmi.simulate.small_network(50, seed=1)
    with pytest.raises(ParameterError, match="has no alpha"):
        pyknnmi.calibrate(data, "separation(graph='X1 -- X2')", [(0, 1, [2])])


@pytest.mark.parametrize("questions", [None, [(0, 1, []), (0, 2, [1])]])
def test_the_test_warns_of_the_columns_and_not_of_the_synthetic_ones(questions):
    values = effect_of_three(1, n=60)[:, :3].round()  # other shares of the rows are alike in each draw
    spec = "pairwise+knn-cmi(permutations=20)" if questions is None else "knn-cmi(permutations=20)"
    with pytest.warns(pyknnmi.PyknnmiWarning) as caught:
        pyknnmi.calibrate(values, spec, questions, draws=5)
    told = [str(found.message) for found in caught if "share a value" in str(found.message)]
    assert [sum(f"'X{i}'" in text for text in told) for i in (1, 2, 3)] == [1, 1, 1]
