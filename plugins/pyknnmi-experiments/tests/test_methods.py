from __future__ import annotations

import pytest
from pyknnmi_experiments import parse_methods

from pyknnmi import ParameterError, SpecError


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["iamb+fisher-z"], ["iamb+fisher-z"]),
        (["iamb + fisher-z ;iamb( rule = or )+fisher-z;"], ["iamb+fisher-z", "iamb(rule=or)+fisher-z"]),
        (["a=iamb+fisher-z; b.2 = ranks+iamb+knn-cmi(k=5, alpha=1e-2)"], ["a", "b.2"]),
        (["knnMI_AND=iamb+knn-cmi", "fisherZ_OR=iamb(rule=or)+fisher-z"], ["knnMI_AND", "fisherZ_OR"]),
    ],
)
def test_names(texts, names):
    assert [method.name for method in parse_methods(texts)] == names


def test_spec_is_complete():
    (method,) = parse_methods(["or=iamb(rule=or)+fisher-z(alpha=0.01)"])
    assert "rule=or" in method.spec
    assert "alpha=0.01" in method.spec


def test_semicolon_in_quotes_does_not_separate():
    with pytest.raises(SpecError, match="rule = 'and;or'"):
        parse_methods(["iamb(rule='and;or')+fisher-z"])


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ([" ; "], ParameterError, "no method is given"),
        (["a=iamb+fisher-z;a=iamb+knn-cmi"], ParameterError, "two methods are called 'a'"),
        (["a=iamb+fisher-zz"], SpecError, "did you mean 'fisher-z'"),
        (["=iamb+fisher-z"], SpecError, "expected a component's name"),
    ],
)
def test_bad_methods(texts, error, message):
    with pytest.raises(error, match=message):
        parse_methods(texts)
