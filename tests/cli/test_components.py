from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from pyknnmi.cli import main
from pyknnmi.learning.presets import PRESETS
from pyknnmi.registry.registry import default_registry


def invoke(*arguments):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_explain_says_which_spec_suits_a_table(tmp_path):
    path = tmp_path / "walks.csv"
    walks = np.random.default_rng(0).standard_normal((300, 2)).cumsum(axis=0)
    np.savetxt(path, walks, delimiter=",", header="a,b", comments="")
    text = invoke("explain", "iamb+fisher-z", "--data", str(path))
    assert f"for these data: pyknnmi learn {path} --spec 'iamb+knn-cmi(null=block)'\n" in text
    assert "null=block: whole stretches of rows are permuted" in text


def test_components_lists_all_of_them():
    lines = invoke("components").splitlines()
    for cls in default_registry().components():
        (line,) = (line for line in lines if line.startswith(f"  {cls.name} "))
        assert cls.summary() in line
        assert line.endswith("]")
    assert [line for line in lines if not line.startswith(" ")] == [
        *("Wrappers", "Transforms", "Learners", "CI tests", "Presets")
    ]
    for preset in PRESETS.values():
        assert any(preset.name in line and preset.summary in line and preset.spec in line for line in lines)


@pytest.mark.parametrize("name", [cls.name for cls in default_registry().components()])
def test_describe(name):
    shown = invoke("describe", name)
    cls = default_registry().get(name)
    assert shown.startswith(f"{name}, a {cls.kind} [")
    assert cls.summary() in shown
    for parameter in cls.parameters():
        assert f"\n{parameter.name}=" in shown
        assert parameter.allowed in shown


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_describe_says_what_a_preset_stands_for(preset):
    assert invoke("describe", preset.name) == f"{preset.name}, a preset for {preset.spec}\n\n{preset.summary}\n"


def test_describe_what_is_not_there():
    result = CliRunner().invoke(main, ["describe", "fisher"])
    assert result.exit_code == 2
    assert "there is no component 'fisher'; did you mean 'fisher-z'?" in result.stderr


def test_explain_takes_how_a_table_is_read(tmp_path):
    path = tmp_path / "data.csv"
    values = np.random.default_rng(0).normal(size=(40, 2)).tolist()
    path.write_text("id,x,y\n" + "".join(f"s{i},{-99 if i < 4 else x},{y}\n" for i, (x, y) in enumerate(values)))
    told = invoke("explain", "iamb+fisher-z", "--data", str(path), "--missing-marks=-99", "--missing=drop")
    command = next(line for line in told.splitlines() if line.startswith("for these data: "))
    assert command.endswith("data.csv --spec iamb+knn-cmi --missing-marks=-99 --missing=drop --ignore=id")
    assert (
        command.removeprefix("for these data:").strip()
        == invoke("audit", str(path), "--missing-marks=-99", "--missing=drop").splitlines()[-1].strip()
    )


def test_explain():
    shown = invoke("explain", "ranks+iamb(rule=or)+fisher-z")
    assert "1. ranks\n" in shown
    assert "2. iamb(rule=or,exhaustive=false,max_conditioning=none,adjust=none)\n" in shown
    assert shown.splitlines()[-1].startswith("in full: ranks+iamb(rule=or,")


def test_explain_a_preset():
    shown = invoke("explain", "recommended").splitlines()
    assert shown[0] == "recommended: " + PRESETS["recommended"].summary
    assert shown[-1].startswith("in full: functional-anova(")
    assert invoke("explain", "functional-anova").splitlines()[0] == shown[0]  # the same pipeline under its own name


@pytest.mark.parametrize(
    "given", ["--ignore=x", "--index=id", "--categories=x", "--missing-marks=-9", "--no-header", "--missing=drop"]
)
def test_explain_needs_a_table_to_read(given):
    result = CliRunner().invoke(main, ["explain", "iamb+fisher-z", given])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"{given} says how a table is read: name the table too (--data)" in result.stderr


def test_explain_what_cannot_be():
    result = CliRunner().invoke(main, ["explain", "knn-cmi+iamb"])
    assert result.exit_code == 2
    assert "a spec is any wrappers, any transforms, then one learner, then its CI test" in result.stderr
