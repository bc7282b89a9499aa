import numpy as np
import pytest
from pyknnmi_kernel import KCI
from scipy import stats

from pyknnmi import Dataset, ParameterError, Run, simulate

QUESTIONS = [(0, 1, ()), (0, 5, ()), (0, 3, (2,)), (1, 4, (2, 5)), (0, 2, (1, 3, 4))]


@pytest.fixture(scope="module")
def data():
    return simulate.small_network(150, seed=1)[0]


@pytest.mark.parametrize(("x", "y", "z"), QUESTIONS)
def test_against_the_formulas_with_dense_matrices(data, x, y, z):
    values = (data.values - data.values.mean(axis=0)) / data.values.std(axis=0, ddof=1)
    n = len(values)
    centring = np.eye(n) - 1 / n

    def kernel(points, width):
        squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        return centring @ np.exp(-squares / (2 * width**2)) @ centring

    if z:
        width = 1.2 * np.sqrt(len(z))
        residual = 1e-3 * np.linalg.inv(kernel(values[:, z], width) + 1e-3 * np.eye(n))
        together = np.column_stack([values[:, x], values[:, z] / 2])
        first = residual @ kernel(together, width) @ residual
        second = residual @ kernel(values[:, [y]], width) @ residual
        mean, variance = np.trace(first * second), 2 * ((first * second) ** 2).sum()
    else:
        first, second = kernel(values[:, [x]], 0.8), kernel(values[:, [y]], 0.8)
        mean = np.trace(first) * np.trace(second) / n
        variance = 2 * np.trace(first @ first) * np.trace(second @ second) / n**2
    statistic = np.trace(first @ second)
    gamma = stats.gamma(mean**2 / variance, scale=variance / mean)
    answer = KCI(small_sample=False).bind(data, Run()).test(x, y, z)
    assert answer.statistic == pytest.approx(statistic, rel=1e-8)
    assert answer.p_value == pytest.approx(gamma.sf(statistic), rel=1e-7)
    corrected = KCI().bind(data, Run()).test(x, y, z)
    assert corrected.statistic == answer.statistic
    if z:
        inner = residual @ residual - 1 / n
        statistic /= (inner**2).sum() / (np.diag(inner) ** 2).sum()
    assert corrected.p_value == pytest.approx(gamma.sf(statistic), rel=1e-6)


@pytest.mark.parametrize("bandwidth", ["empirical", "median"])
@pytest.mark.parametrize("n", [150, 300])
@pytest.mark.parametrize(("x", "y", "z"), QUESTIONS)
@pytest.mark.filterwarnings("ignore")
def test_against_causal_learn(bandwidth, n, x, y, z):
    """Causal-learn leaves out eigenvalues below 1e-5 of the largest, which moves its p-values a little.

    It takes the median distance of columns that are not yet standardised, so they are standardised before.
    """
    peer = pytest.importorskip("causallearn.utils.KCI.KCI")
    values = stats.zscore(simulate.small_network(n, seed=2)[0].values, ddof=1)
    answer = KCI(bandwidth=bandwidth, small_sample=False).bind(Dataset.of(values), Run()).test(x, y, z)
    test = (peer.KCI_CInd if z else peer.KCI_UInd)(est_width=bandwidth)
    arguments = [values[:, [x]], values[:, [y]], *([values[:, list(z)]] if z else [])]
    p_value, statistic = test.compute_pvalue(*arguments)
    assert answer.statistic == pytest.approx(statistic, rel=1e-9)
    assert answer.p_value == pytest.approx(p_value, rel=1e-3 if z else 1e-6, abs=1e-15)
    if z and n == 150:
        test.thresh = 1e-13
        assert answer.p_value == pytest.approx(test.compute_pvalue(*arguments)[0], rel=1e-5, abs=1e-15)


@pytest.mark.parametrize(
    ("x", "y", "z", "statistic", "p_value"),
    [
        (0, 1, (), 75.8417686, 1.334759334e-05),
        (0, 5, (), 8.206809135, 0.409004089),
        (0, 3, (2,), 3.921874157, 0.7774),
        (1, 4, (2, 5), 0.1782542701, 0.3634),
        (0, 2, (1, 3, 4), 1.091322249, 0.093),
        (1, 6, (2, 3), 54.96164959, 0.0),
        (3, 5, (4,), 0.5422009813, 0.5004),
    ],
)
def test_against_the_r_package(data, x, y, z, statistic, p_value):
    """The numbers are those of U_KCI and KCIT of the R package RCIT (2018), run in R 4.2.2 on this data.

    Given z, it takes the share of 5000 draws of its own; the difference of two such shares has a standard error of
    at most 0.01.
    """
    null = {"null": "spectral", "draws": 5000} if z else {"null": "gamma"}
    answer = KCI(bandwidth="joint", small_sample=False, **null).bind(data, Run()).test(x, y, z)
    assert answer.statistic == pytest.approx(statistic, rel=1e-8)
    assert answer.p_value == (pytest.approx(p_value, abs=0.04) if z else pytest.approx(p_value, rel=1e-8))


@pytest.mark.parametrize(("x", "y", "z"), [(0, 5, ()), (0, 3, (2,)), (0, 2, (1, 3, 4))])
def test_spectral_null_agrees_with_the_gamma_distribution(data, x, y, z):
    """A proportion of 1000 draws has a standard error of at most 0.016."""
    gamma = KCI().bind(data, Run()).test(x, y, z)
    spectral = KCI(null="spectral").bind(data, Run(seed=4)).test(x, y, z)
    assert spectral.statistic == gamma.statistic
    assert spectral.p_value == pytest.approx(gamma.p_value, abs=0.06)
    assert spectral.decided_by == "spectral"


def test_spectral_null_is_seeded_by_the_run(data):
    test = KCI(null="spectral", draws=200)
    answers = [test.bind(data, Run(seed=seed)).test(0, 3, (2,)).p_value for seed in (1, 1, 2)]
    assert answers[0] == answers[1] != answers[2]
    assert test.bind(data, Run()).test(0, 1, ()).p_value == 1 / 201


@pytest.mark.parametrize("z", [(), (2,), (2, 4)])
def test_associations_rank_as_p_values(data, z):
    bound = KCI().bind(data, Run())
    candidates = [y for y in range(1, 7) if y not in z]
    scores = bound.associations(0, candidates, z)
    p_values = np.array([bound.test(0, y, z).p_value for y in candidates])
    # column 0 is first by name, so `associations` and `test` take the same column together with z
    order = np.argsort(-scores)
    assert all(np.diff(np.log(p_values[order])) > -0.1)


@pytest.mark.parametrize("bandwidth", ["empirical", "joint", "median"])
@pytest.mark.parametrize("columns", [1, 3])
def test_level(rejections, usual, bandwidth, columns):
    found = rejections(KCI(bandwidth=bandwidth), 100, columns)
    assert found <= usual[1]


def test_level_of_the_published_test_is_too_high(rejections, usual):
    assert rejections(KCI(small_sample=False), 200, 5) > usual[1]


def test_power(rejections):
    """Dependence without correlation, given z."""
    assert rejections(KCI(), 200, 1, effect=1.0, repeats=20) >= 19


def test_duplicates_and_few_rows():
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, 50))
    data = Dataset.of(np.column_stack([x, x, y, y, np.ones(50)]))
    bound = KCI().bind(data, Run())
    assert bound.test(0, 1, ()).p_value < 1e-10
    assert bound.test(0, 4, ()).p_value == 1.0
    for question in [(0, 2, (3,)), (0, 1, (2, 3)), (0, 2, (1, 3)), (0, 2, (4,)), (0, 4, (2,))]:
        assert 0 <= bound.test(*question).p_value <= 1
    tiny = KCI().bind(Dataset.of(data.values[:3, :3]), Run())
    assert 0 <= tiny.test(0, 2, (1,)).p_value <= 1


@pytest.mark.parametrize("parameter", [{"alpha": 0}, {"penalty": 0.0}, {"draws": 0}, {"bandwidth": "mean"}])
def test_bad_parameters(parameter):
    with pytest.raises(ParameterError, match=next(iter(parameter))):
        KCI(**parameter)
