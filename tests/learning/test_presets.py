from __future__ import annotations

import pytest

import pyknnmi
from pyknnmi import Pipeline, SpecError
from pyknnmi.learning.presets import PRESETS


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_a_preset_is_its_spec(preset):
    assert str(Pipeline.parse(preset.name)) == str(Pipeline.parse(preset.spec))
    assert Pipeline.parse(preset.name).preset == preset.name


def test_the_default_is_the_method_of_the_paper_with_tests_that_may_end_early():
    assert str(Pipeline.parse("paper")) == str(Pipeline.parse("iamb+knn-cmi(stop=never)"))


def test_a_result_of_a_preset_names_the_spec():
    data, _ = pyknnmi.simulate.small_network(100, seed=1)
    result = pyknnmi.learn(data, "fast")
    assert result.spec == str(Pipeline.parse(PRESETS["fast"].spec))


def test_a_preset_stands_alone():
    with pytest.raises(SpecError, match="'recommended' is a preset: it stands alone, for functional-anova"):
        Pipeline.parse("ranks+recommended")
    with pytest.raises(SpecError, match="'fast' is a preset"):
        Pipeline.parse("fast(alpha=0.1)")
    assert Pipeline.parse("iamb+fisher-z").preset is None
