from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyknnmi import SpecError
from pyknnmi.protocols.spec import Call, Spec, format_value

names = st.from_regex(r"[a-z][a-z0-9]{0,3}(-[a-z0-9]{1,3}){0,2}", fullmatch=True)
identifiers = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.booleans() | st.none() | numbers | st.text(max_size=8)
calls = st.builds(
    Call, names, st.lists(st.tuples(identifiers, values), max_size=4, unique_by=lambda a: a[0]).map(tuple)
)
specs = st.lists(calls, min_size=1, max_size=4).map(lambda calls: Spec(tuple(calls)))


@given(specs)
def test_what_is_written_is_read_back(spec):
    found = Spec.parse(str(spec))
    assert found == spec
    assert str(found) == str(spec)
    for call, original in zip(found.calls, spec.calls, strict=True):
        assert [type(v) for _, v in call.arguments] == [type(v) for _, v in original.arguments]


@given(st.text(st.sampled_from("ab1-+(),='e. \t\n0_XÅ"), max_size=14))
def test_any_text_is_read_or_refused_with_a_place(text):
    try:
        spec = Spec.parse(text)
    except SpecError as caught:
        error = caught
    else:
        assert Spec.parse(str(spec)) == spec
        return
    assert error.text == text
    assert 0 <= error.position <= len(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e+3", 1000.0),
        ("1E-2", 0.01),
        ("-5", -5),
        ("+5", 5),
        (".5", 0.5),
        ("2.", 2.0),
        ("0123", 123),
        ("true", True),
        ("false", False),
        ("none", None),
        ("word-2", "word-2"),
        ("'true'", "true"),
        ("'it''s, a + (b)'", "it's, a + (b)"),
        ("''", ""),
        (str(2**70), 2**70),
    ],
)
def test_values(text, value):
    (call,) = Spec.parse(f"name( key = {text} )").calls
    assert call.arguments == (("key", value),)
    assert type(call.arguments[0][1]) is type(value)


def test_space_does_not_count():
    assert Spec.parse(" a ( b = 1 , c = x )\n+ d ") == Spec.parse("a(b=1,c=x)+d")
    assert str(Spec.parse("a()")) == "a"


CHOICES = "a number, true, false, none, a lower-case word, or text in single quotes"


@pytest.mark.parametrize(
    ("text", "problem", "position"),
    [
        ("", "expected a component's name", 0),
        ("  ", "expected a component's name", 2),
        ("+a", "expected a component's name", 0),
        ("a+", "expected a component's name", 2),
        ("A", "lower case", 0),
        ("a b", "expected '+' and another component, or the end", 2),
        ("iamb+knn_cmi", "words joined by '-'", 5),
        ("iambX", "words joined by '-'", 0),
        ("a(", "expected a parameter's name, as in k=3", 2),
        ("a(b", "expected '=' and a value after 'b', as in k=3", 3),
        ("a(b=", CHOICES, 4),
        ("a(b=1", "expected ',' or ')'", 5),
        ("a(b=1,)", "expected a parameter's name", 6),
        ("a(b=1 c=2)", "expected ',' or ')'", 6),
        ("a(b='x)", CHOICES, 4),
        ("a(b=1x)", CHOICES, 4),
        ("a(b=1.2.3)", CHOICES, 4),
        ("a(b=Word)", CHOICES, 4),
        ("a(b=two_words)", CHOICES, 4),
        ("a(b=5%)", "expected ',' or ')'", 5),
        ("a(b=1,b=2)", "'b' is given twice", 6),
        ("a(b=1e999)", "too large", 4),
        ("a(b=" + "9" * 5000 + ")", "too large", 4),
        ("a(b=٣)", CHOICES, 4),
        ("a)", "expected '+'", 1),
    ],
)
def test_errors_show_the_place(text, problem, position):
    with pytest.raises(SpecError) as caught:
        Spec.parse(text)
    assert problem in caught.value.problem
    assert caught.value.position == position
    assert str(caught.value).endswith(f"\n  {text}\n  {' ' * position}^")


def test_errors_survive_pickling():
    error = SpecError("no", "a+b", 2)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.problem, copy.text, copy.position) == (str(error), "no", "a+b", 2)


def test_error_about_a_parameter_points_at_it():
    spec = Spec.parse("a + b(c=1)")
    assert spec.error("bad", spec.calls[1], "c").position == 6
    assert spec.error("bad", spec.calls[1]).position == 4
    assert spec.error("bad", spec.calls[1], "unwritten").position == 0


@given(numbers)
def test_numbers_are_written_without_loss(value):
    assert Spec.parse(f"a(b={format_value(value)})").calls[0].arguments[0][1] == value
    assert math.isfinite(value)
