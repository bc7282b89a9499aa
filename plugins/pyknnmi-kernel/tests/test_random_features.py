import numpy as np
import pytest
from pyknnmi_kernel import RCIT, RCoT

from pyknnmi import Dataset, ParameterError, Run, simulate

BOTH = pytest.mark.parametrize("cls", [RCIT, RCoT])
QUESTIONS = [(0, 1, ()), (0, 5, ()), (0, 3, (2,)), (1, 4, (2, 5)), (0, 2, (1, 3, 4))]


@pytest.fixture(scope="module")
def data():
    return simulate.small_network(300, seed=1)[0]


def features_of(bound, x, y, z):
    extended = z if isinstance(bound._component, RCIT) else ()
    return bound._features_of(x, extended), bound._features_of(y, ()), bound._regression(z)._features if z else None


@BOTH
@pytest.mark.parametrize(("x", "y", "z"), QUESTIONS)
def test_statistic_against_the_formula(data, cls, x, y, z):
    bound = cls(small_sample=False).bind(data, Run(seed=3))
    first, second, given = features_of(bound, x, y, z)
    n = len(first)
    covariance = first.T @ second / (n - 1)
    if z:
        left, singular, _ = np.linalg.svd(given, full_matrices=False)
        shrunk = singular**2 / (singular**2 + (n - 1) * 1e-10)
        covariance -= (first.T @ left * shrunk) @ (left.T @ second) / (n - 1)
    assert bound.test(x, y, z).statistic == pytest.approx(n * (covariance**2).sum(), rel=1e-5)


@BOTH
@pytest.mark.parametrize("null", ["hbe", "gamma"])
@pytest.mark.parametrize(("x", "y", "z"), QUESTIONS)
@pytest.mark.filterwarnings("ignore")
def test_against_causal_learn_with_the_same_features(monkeypatch, data, cls, null, x, y, z):
    """It inverts a nearly singular matrix, hence the tolerance, and takes its second column together with z.

    Its 'lpd4' does not run with NumPy 2, and becomes 'hbe' there.
    """
    peer = pytest.importorskip("causallearn.utils.RCIT.RCIT")
    bound = cls(null=null, small_sample=False).bind(data, Run(seed=3))
    first, second, given = features_of(bound, x, y, z)
    test = peer.RCIT(approx=null, rcit=cls is RCIT) if z else peer.RIT(approx=null)
    drawn = iter([given, second, first] if z else [second, first])
    monkeypatch.setattr(test, "random_fourier_features", lambda *_, **__: next(drawn))
    columns = [(y,), (x,), *([z] if z else [])]
    p_value, statistic = test.compute_pvalue(*(data.values[:, list(one)] for one in columns))
    answer = bound.test(x, y, z)
    assert answer.statistic == pytest.approx(statistic, rel=1e-3)
    assert answer.p_value == pytest.approx(p_value, rel=5e-3, abs=1e-12)


@BOTH
@pytest.mark.parametrize(("x", "y", "z"), [(0, 5, ()), (0, 3, (2,))])
def test_distributions_under_independence_agree(data, cls, x, y, z):
    found = [cls(null=null).bind(data, Run()).test(x, y, z) for null in ("lpb", "hbe", "gamma")]
    assert len({answer.statistic for answer in found}) == 1
    assert np.ptp([answer.p_value for answer in found]) < 0.1
    assert [answer.decided_by for answer in found] == ["lpb", "hbe", "gamma"]


@BOTH
def test_features_depend_on_names_and_seed_only(data, cls):
    answer = cls().bind(data, Run(seed=1)).test(1, 3, (2, 4))
    assert cls().bind(data, Run(seed=2)).test(1, 3, (2, 4)) != answer
    part = data.select([1, 2, 3, 4])
    bound = cls().bind(part, Run(seed=1))
    bound.associations(0, (1, 2), ())
    assert bound.test(0, 2, (1, 3)) == answer


@BOTH
def test_features_of_different_roles_are_drawn_apart(data, cls):
    bound = cls(features=7, conditioning_features=7).bind(data, Run())
    column, given = bound._features_of(2, ()), bound._regression((2,))._features
    assert not np.allclose(column, given)
    assert not np.allclose(bound._features_of(3, ()), column)


@BOTH
@pytest.mark.parametrize("z", [(), (2,), (2, 4)])
def test_associations_rank_as_p_values(data, cls, z):
    bound = cls(null="gamma").bind(data, Run())
    candidates = [y for y in range(1, 7) if y not in z]
    scores = bound.associations(0, candidates, z)
    p_values = np.array([bound.test(0, y, z).p_value for y in candidates])
    assert all(np.diff(np.log(p_values[np.argsort(-scores)])) > -0.1)


@BOTH
@pytest.mark.parametrize(("n", "columns"), [(100, 1), (100, 3), (200, 5)])
def test_level(rejections, usual, cls, n, columns):
    lower, upper = usual
    assert lower <= rejections(cls(), n, columns) <= upper


@BOTH
def test_level_of_the_published_test_is_too_high(rejections, usual, cls):
    assert rejections(cls(small_sample=False), 100, 3) > usual[1]


@BOTH
def test_power(rejections, cls):
    """Dependence without correlation, given z."""
    assert rejections(cls(), 500, 1, effect=1.0, repeats=20) >= 10


@BOTH
def test_duplicates_and_few_rows(cls):
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, 50))
    data = Dataset.of(np.column_stack([x, x, y, y, np.ones(50)]))
    bound = cls().bind(data, Run())
    assert bound.test(0, 1, ()).p_value < 1e-4
    assert bound.test(0, 4, ()).p_value == 1.0
    for question in [(0, 2, (3,)), (0, 1, (2, 3)), (0, 2, (1, 3)), (0, 2, (4,)), (0, 4, (2,))]:
        assert 0 <= bound.test(*question).p_value <= 1
    tiny = cls().bind(Dataset.of(data.values[:3, :3]), Run())
    assert 0 <= tiny.test(0, 2, (1,)).p_value <= 1


@pytest.mark.parametrize("parameter", [{"alpha": 1.0}, {"features": 0}, {"conditioning_features": 0}, {"null": "lpd4"}])
def test_bad_parameters(parameter):
    with pytest.raises(ParameterError, match=next(iter(parameter))):
        RCIT(**parameter)
