from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyknnmi import ParameterError, PluginError
from pyknnmi.builtin.fisher_z import FisherZ
from pyknnmi.builtin.iamb import IAMB
from pyknnmi.builtin.knn_cmi import KnnCMI
from pyknnmi.components import CITest, Component
from pyknnmi.protocols.spec import Spec


@dataclass(frozen=True, kw_only=True)
class Everything(Component):
    """A component with a parameter of every type.

    More about it.
    """

    name: ClassVar[str] = "everything"
    kind: ClassVar[str] = "test"

    flag: bool = False
    count: int = 3
    share: float = 0.5
    text: str = "word"
    choice: Literal["one", "two-three"] = "one"
    limit: int | None = None

    def check(self):
        self.require(self.count > 0, "count", "at least 1")


parameters = st.fixed_dictionaries(
    {},
    optional={
        "flag": st.booleans(),
        "count": st.integers(1),
        "share": st.floats(allow_nan=False, allow_infinity=False),
        "text": st.text(max_size=9),
        "choice": st.sampled_from(["one", "two-three"]),
        "limit": st.none() | st.integers(),
    },
)


@given(parameters)
def test_the_spec_makes_the_same_component(given_parameters):
    component = Everything(**given_parameters)
    (call,) = Spec.parse(str(component)).calls
    assert Everything.from_call(call) == component
    assert len(call.arguments) == 6, "the canonical form writes every parameter"
    assert pickle.loads(pickle.dumps(component)) == component


def test_canonical_form():
    written = "everything(flag=false,count=3,share=0.5,text=word,choice=one,limit=none)"
    assert str(Everything()) == written
    assert str(KnnCMI()).startswith("knn-cmi(k=3,permutations=200,alpha=0.05,screen=0.001,standardize=true")


def test_whole_numbers_serve_as_floats_and_numpy_numbers_become_pythons():
    component = Everything(share=1, count=np.int64(4), limit=np.int8(2))
    assert (component.share, component.count, component.limit) == (1.0, 4, 2)
    assert [type(v) for v in (component.share, component.count, component.limit)] == [float, int, int]
    assert Everything(share=np.float32(0.5)) == Everything()


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("flag", 1, "everything: flag = 1 must be true or false"),
        ("count", 2.0, "everything: count = 2.0 must be a whole number"),
        ("count", True, "everything: count = true must be a whole number"),
        ("count", 0, "everything: count = 0 must be at least 1"),
        ("share", "half", "everything: share = half must be a number"),
        ("share", float("inf"), "everything: share = inf must be a number"),
        ("share", float("nan"), "everything: share = nan must be a number"),
        ("text", 5, "everything: text = 5 must be text"),
        ("text", None, "everything: text = none must be text"),
        ("choice", "three", "everything: choice = three must be one of one, two-three"),
        ("limit", "many", "everything: limit = many must be a whole number or none"),
        ("limit", [1], r"everything: limit = \[1\] must be a whole number or none"),
    ],
)
def test_bad_values(parameter, value, message):
    with pytest.raises(ParameterError, match=message) as caught:
        Everything(**{parameter: value})
    assert caught.value.parameter == parameter


def test_unknown_parameter():
    (call,) = Spec.parse("everything(cuont=3)").calls
    message = r"everything has no parameter 'cuont'; did you mean 'count'\? \(it has flag, count, share, text, choice"
    with pytest.raises(ParameterError, match=message) as caught:
        Everything.from_call(call)
    assert caught.value.parameter == "cuont"


def test_summary_is_the_first_line():
    assert Everything.summary() == "A component with a parameter of every type."


def test_parameters_say_what_they_take():
    allowed = [(p.name, p.allowed, p.default) for p in Everything.parameters()]
    assert allowed == [
        ("flag", "true or false", False),
        ("count", "a whole number", 3),
        ("share", "a number", 0.5),
        ("text", "text", "word"),
        ("choice", "one of one, two-three", "one"),
        ("limit", "a whole number or none", None),
    ]


def test_components_are_values():
    assert FisherZ(alpha=0.1) == FisherZ(alpha=0.1)
    assert hash(IAMB()) == hash(IAMB(rule="and"))
    assert FisherZ() != FisherZ(alpha=0.1)
    with pytest.raises(AttributeError):
        IAMB().rule = "or"


class NoName(CITest):
    def bind(self, dataset, run):
        raise NotImplementedError


class BadName(NoName):
    name = "Bad_Name"


class NoDataclass(NoName):
    name = "no-dataclass"


@dataclass(kw_only=True)
class NotFrozen(NoName):
    name: ClassVar[str] = "not-frozen"


@dataclass(frozen=True)
class Positional(NoName):
    name: ClassVar[str] = "positional"
    k: int = 3


@dataclass(frozen=True, kw_only=True)
class NoDefault(NoName):
    name: ClassVar[str] = "no-default"
    k: int


@dataclass(frozen=True, kw_only=True)
class Factory(NoName):
    name: ClassVar[str] = "factory"
    k: list[int] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class UpperCase(NoName):
    name: ClassVar[str] = "upper-case"
    K: int = 3


@dataclass(frozen=True, kw_only=True)
class WrongDefault(NoName):
    name: ClassVar[str] = "wrong-default"
    k: int = "three"


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (NoName, "NoName: name = None: give a lower-case name, words joined by '-'"),
        (BadName, "name = 'Bad_Name'"),
        (NoDataclass, r"NoDataclass: decorate it with @dataclass\(frozen=True, kw_only=True\)"),
        (NotFrozen, "decorate it with"),
        (Positional, "give field 'k' a default, keyword-only"),
        (NoDefault, "give field 'k' a default, keyword-only"),
        (Factory, "give field 'k' a default, keyword-only"),
        (UpperCase, "no spec can set 'K': give it a lower-case name"),
        (WrongDefault, "the default of 'k' is not a whole number"),
    ],
)
def test_classes_that_break_the_contract(cls, message):
    with pytest.raises(PluginError, match=message):
        cls.verify()
