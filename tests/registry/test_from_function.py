from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from pyknnmi import (
    CIResult,
    ParameterError,
    PluginError,
    PyknnmiWarning,
    ci_test,
    learn,
    register_ci_test,
    register_learner,
    register_transform,
)
from pyknnmi.registry.from_function import component_from_function
from pyknnmi.testing import check_ci_test, check_learner, check_transform

DATA = np.random.default_rng(7).standard_normal((60, 4)) @ np.triu(np.ones((4, 4)))


def correlation_test(x, y, z, *, shrink: float = 1.0):
    """Correlation against the normal; z is not looked at."""
    r = np.corrcoef(x, y)[0, 1] * shrink
    statistic = abs(math.atanh(r)) * math.sqrt(len(x) - 3)
    return statistic, math.erfc(statistic / math.sqrt(2))


def test_a_test_in_one_line(registry):
    register_ci_test("corr", correlation_test)
    answer = ci_test(DATA, 0, 1, test="corr")
    expected = ci_test(DATA, 0, 1, test="fisher-z")
    assert answer.statistic == pytest.approx(expected.statistic)
    assert answer.p_value == pytest.approx(expected.p_value)
    assert answer.decided_by == "corr"
    assert learn(DATA, "iamb+corr").graph.edges
    check_ci_test(registry.get("corr")())


def test_keyword_arguments_become_parameters(registry):
    register_ci_test("corr", correlation_test)
    assert str(registry.get("corr")()) == "corr(shrink=1.0,alpha=0.05)"
    assert ci_test(DATA, 0, 1, test="corr(shrink=0)").p_value == 1.0
    assert ci_test(DATA, 0, 1, test="corr(alpha=1e-300)").independent
    with pytest.raises(ParameterError, match=r"corr: alpha = 1\.5 must be between 0 and 1"):
        registry.get("corr")(alpha=1.5)


def test_an_own_alpha_is_handed_over(registry):
    @register_ci_test("strict")
    def strict(x, y, z, *, alpha: float = 0.01):
        return CIResult(statistic=alpha, p_value=0.5, independent=False, n=len(x), decided_by="me")

    assert str(registry.get("strict")()) == "strict(alpha=0.01)"
    assert ci_test(DATA, 0, 1, test="strict(alpha=0.2)").statistic == 0.2


def test_arrays_that_a_test_gets(registry):
    shapes = []

    @register_ci_test("look")
    def look(x, y, z):
        shapes.append((x.shape, y.shape, z.shape))
        return 0.5

    ci_test(DATA, 0, 1, [2, 3], test="look")
    ci_test(DATA, 0, 1, test="look")
    assert shapes == [((60,), (60,), (60, 2)), ((60,), (60,), (60, 0))]


def test_a_p_value_alone_ranks_by_its_logarithm(registry):
    register_ci_test("p-only", lambda x, y, z: 0.25)
    answer = ci_test(DATA, 0, 1, test="p-only")
    assert (answer.statistic, answer.p_value, answer.independent) == (-np.log(0.25), 0.25, True)
    register_ci_test("underflow", lambda x, y, z: 0.0)
    assert ci_test(DATA, 0, 1, test="underflow").statistic == -np.log(5e-324)


def test_a_learner_in_one_line(registry):
    @register_learner("strongest")
    def strongest(dataset, test, *, edges: int = 1):
        """Join the most strongly associated pairs."""
        pairs = [(test.associations(i, [j])[0], i, j) for i in range(dataset.p) for j in range(i)]
        return [(dataset.names[i], dataset.names[j]) for _, i, j in sorted(pairs)[-edges:]]

    result = learn(DATA, "strongest(edges=3)+fisher-z")
    assert len(result.graph.edges) == 3
    assert result.blankets == {}
    check_learner(registry.get("strongest")())


def test_a_transform_in_one_line(registry):
    register_transform("cube", lambda column, *, power=3: column**power)
    assert str(registry.get("cube")()) == "cube(power=3)"
    assert learn(DATA, "cube+iamb+fisher-z").graph == learn(DATA**3, "iamb+fisher-z").graph
    check_transform(registry.get("cube")())


class Correlation:
    def __call__(self, x, y, z, *, shrink: float = 0.5):
        return correlation_test(x, y, z, shrink=shrink)


@pytest.mark.parametrize("function", [functools.partial(correlation_test, shrink=0.5), Correlation()])
def test_any_callable_will_do(registry, function):
    register_ci_test("any", function)
    assert str(registry.get("any")()) == "any(shrink=0.5,alpha=0.05)"
    expected = correlation_test(DATA[:, 0], DATA[:, 1], None, shrink=0.5)
    assert ci_test(DATA, 0, 1, test="any").p_value == pytest.approx(expected[1])


def test_the_decorator_gives_the_function_back(registry):
    assert register_ci_test("corr")(correlation_test) is correlation_test
    assert register_ci_test("corr", correlation_test) is correlation_test


def test_processes_get_the_function_too(registry):
    def local(x, y, z, *, alpha: float = 0.05):
        return abs(np.corrcoef(x, y)[0, 1]), float(abs(np.corrcoef(x, y)[0, 1]) < 0.3)

    register_ci_test("local", local)
    assert learn(DATA, "iamb+local", jobs=2).evidence == learn(DATA, "iamb+local", jobs=1).evidence


def takes_degree(x, y, z, degree=2):
    return 0.5


@pytest.mark.parametrize(
    ("kind", "function", "message"),
    [
        ("test", lambda x, y, z, *, k: 0.5, "bad: give the argument 'k' a default"),
        ("test", lambda x, y, z, *, name="q": 0.5, "bad: a parameter cannot be called 'name': choose another name"),
        ("test", lambda x, y, z, *, check=2: 0.5, "a parameter cannot be called 'check'"),
        ("learner", lambda dataset, test, *, own=2: [], "a parameter cannot be called 'own'"),
        ("test", lambda x, y, z, *, k=[]: 0.5, r"the default of 'k' is \[\]: give a number, a boolean, text or None"),
        ("test", lambda x, y: 0.5, r"bad: a test is a function f\(x, y, z\); this one is f\(x, y\): too many"),
        ("learner", lambda dataset, test, run: [], r"a learner is a function f\(dataset, tester\); .*argument: 'run'"),
        ("transform", lambda: 0, r"a transform is a function f\(column\); this one is f\(\): too many"),
        ("test", "text", r"bad: a test is a function f\(x, y, z\); wrap it in one: 'text' is not a callable object"),
    ],
)
def test_functions_that_cannot_be_components(kind, function, message):
    with pytest.raises(PluginError, match=message):
        component_from_function(kind, "bad", function)


@pytest.mark.parametrize(
    ("kind", "function", "kept"),
    [("test", takes_degree, "degree"), ("transform", lambda column, axis=0, order=1: column, "axis, order")],
)
def test_what_always_has_its_default_is_warned_of(kind, function, kept):
    with pytest.warns(PyknnmiWarning, match=rf"good: {kept} will always have the default: put it after '\*'"):
        assert component_from_function(kind, "good", function).name == "good"


def test_functions_may_take_any_arguments_or_have_a_default_for_their_own():
    for function in (lambda *columns: 0.5, lambda x, y, z=None: 0.5, lambda *columns, **options: 0.5):
        assert component_from_function("test", "good", function).name == "good"


def test_refused():
    with pytest.raises(PluginError, match="no spec can set 'Degree': give it a lower-case name"):
        component_from_function("test", "bad", lambda x, y, z, *, Degree=2: 0.5).verify()  # noqa: N803
    with pytest.raises(PluginError, match="name = 'Bad Name'"):
        component_from_function("test", "Bad Name", correlation_test).verify()
