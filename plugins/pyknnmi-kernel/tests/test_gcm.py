import numpy as np
import pytest
from pyknnmi_kernel import GCM
from scipy import stats

from pyknnmi import Dataset, ParameterError, Run, ci_test


def linear_answer(x, y, z):
    """Shah and Peters (2020), Eq. 3, with residuals of least squares."""
    design = np.column_stack([np.ones(len(x)), z])
    e, f = (v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y))
    products = e * f
    statistic = np.sqrt(len(x)) * products.mean() / np.sqrt((products**2).mean() - products.mean() ** 2)
    return abs(statistic), 2 * stats.norm.sf(abs(statistic))


@pytest.mark.parametrize("columns", [0, 1, 4])
@pytest.mark.parametrize("effect", [0.0, 3.0])
def test_linear_against_the_formula(common_cause, columns, effect):
    data = common_cause(80, max(columns, 1), 0, effect)
    z = tuple(range(2, 2 + columns))
    statistic, p_value = linear_answer(*data.values.T[:2], data.values[:, z])
    answer = GCM(regressor="linear").bind(data, Run()).test(0, 1, z)
    assert answer.statistic == pytest.approx(statistic, rel=1e-9)
    assert answer.p_value == pytest.approx(p_value, rel=1e-9)
    assert answer.log_p_value == pytest.approx(np.log(p_value), rel=1e-9)


def test_closed_form():
    """Products 1, 1, 1, -1 have the mean 1/2 and the standard deviation sqrt(3)/2."""
    data = Dataset.of([[1.0, 1], [1, 1], [-1, -1], [-1, 1]])
    values = data.values - data.values.mean(axis=0)
    products = values[:, 0] * values[:, 1]
    assert GCM().bind(data, Run()).test(0, 1, ()).statistic == pytest.approx(2 * products.mean() / products.std())
    signs = Dataset.of([[1.0, 1], [1, -1], [-1, -1], [-1, 1]])
    assert GCM().bind(signs, Run()).test(0, 1, ()).p_value == 1.0


@pytest.mark.parametrize("regressor", ["kernel-ridge", "linear"])
@pytest.mark.parametrize("columns", [1, 3])
def test_level(rejections, usual, regressor, columns):
    lower, upper = usual
    assert lower <= rejections(GCM(regressor=regressor), 100, columns) <= upper


def test_power(common_cause):
    found = 0
    for seed in range(20):
        values = common_cause(100, 2, seed).values.copy()
        values[:, 1] += 0.7 * (values[:, 0] - values[:, 2:].sum(axis=1) / np.sqrt(2))
        found += not GCM().bind(Dataset.of(values), Run()).test(0, 1, (2, 3)).independent
    assert found >= 19


def test_no_power_without_correlation():
    """As documented: x and its square are uncorrelated."""
    x = np.linspace(-1, 1, 201)
    assert GCM().bind(Dataset.of(np.column_stack([x, x**2])), Run()).test(0, 1, ()).p_value > 0.99


@pytest.mark.parametrize(
    "regressor", ["gradient-boosting", "sklearn.neighbors.KNeighborsRegressor", "sklearn.tree.DecisionTreeRegressor"]
)
def test_other_regressors(common_cause, regressor):
    data = common_cause(200, 2, 1)
    answer = GCM(regressor=regressor).bind(data, Run()).test(0, 1, (2, 3))
    assert 0 <= answer.p_value <= 1


def test_random_regressors_are_seeded_by_the_run(common_cause):
    data = common_cause(60, 2, 1)
    test = GCM(regressor="sklearn.ensemble.RandomForestRegressor")
    first, again, other = (test.bind(data, Run(seed=seed)) for seed in (1, 1, 2))
    assert first.test(0, 1, (2, 3)) == again.test(0, 1, (2, 3)) != other.test(0, 1, (2, 3))
    exchanged = test.bind(data.select([1, 0, 2, 3]), Run(seed=1))
    assert exchanged.test(0, 1, (2, 3)).statistic == first.test(0, 1, (2, 3)).statistic


@pytest.mark.parametrize(
    ("regressor", "message"),
    [
        ("sklearn.nowhere.Regressor", "cannot be made: ModuleNotFoundError"),
        ("sklearn.linear_model.NoSuch", "cannot be made: AttributeError"),
        ("sklearn.preprocessing.StandardScaler", "is no scikit-learn regressor"),
        ("sklearn.svm.SVC", "is no scikit-learn regressor"),
    ],
)
def test_paths_that_lead_to_no_regressor(common_cause, regressor, message):
    with pytest.raises(ParameterError, match=message):
        GCM(regressor=regressor).bind(common_cause(20, 1, 0), Run())


@pytest.mark.parametrize("parameter", [{"regressor": "kernel-rigde"}, {"regressor": "os.system('x')"}, {"alpha": 0}])
def test_bad_parameters(parameter):
    with pytest.raises(ParameterError, match=next(iter(parameter))):
        GCM(**parameter)


def test_a_path_in_a_spec(common_cause):
    data = common_cause(50, 1, 0)
    answer = ci_test(data, "x", "y", "z0", test="gcm(regressor='sklearn.linear_model.LinearRegression')")
    assert answer.statistic == pytest.approx(GCM(regressor="linear").bind(data, Run()).test(0, 1, (2,)).statistic)


def test_duplicates_and_few_rows():
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, 50))
    two_valued = np.repeat([-1.0, 1.0], 25)
    data = Dataset.of(np.column_stack([x, x, y, two_valued, two_valued, np.ones(50)]))
    bound = GCM(regressor="linear").bind(data, Run())
    assert bound.test(0, 1, ()).p_value < 1e-4
    assert bound.test(0, 2, (1,)).p_value == 1.0  # x is explained by its duplicate
    assert bound.test(0, 5, ()).p_value == 1.0
    answer = bound.test(3, 4, ())
    assert np.isfinite(answer.statistic)
    assert answer.p_value == 0.0
    assert 0 <= GCM().bind(Dataset.of(data.values[:2, :3]), Run()).test(0, 2, (1,)).p_value <= 1
