"""The commands about plugins."""

from __future__ import annotations

import importlib.metadata
import json
from types import SimpleNamespace

from click.testing import CliRunner

import pyknnmi
from pyknnmi.cli import main


def run(*arguments):
    return CliRunner().invoke(main, arguments)


def test_list_names_what_is_built_in():
    result = run("plugins")
    assert result.exit_code == 0
    assert result.output.startswith("built in ")
    assert "knn-cmi" in result.output
    listed = json.loads(run("plugins", "--json").output)
    assert listed[0]["name"] == "built in"
    assert not listed[0]["problem"]


def test_check_all_passes_and_prints_a_line_for_each():
    result = run("plugins", "check", "--all")
    assert result.exit_code == 0, result.output
    assert "knn-cmi" in result.output
    assert "FAILED" not in result.output


def test_check_prints_every_problem_with_the_checks_that_found_it(registry):
    @pyknnmi.register_ci_test("divides")
    def divides(x, y, z):
        """Divides by zero."""
        return 1 / 0

    @pyknnmi.register_ci_test("large")
    def large(x, y, z):
        """Has no p-value."""
        return 2.0

    result = run("plugins", "check", "registered here")
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    problem = "divides: testing 'a' and 'b' given nothing: ZeroDivisionError: division by zero"
    checks = "answers, p-values, same-answers-again, threads, seed, associations, missing-values"
    assert lines[0] == f"registered here  divides  FAILED {checks}: {problem}"
    problem = "large: testing 'a' and 'b' given nothing: returned the p-value 2.0: it must be a number in [0, 1]"
    assert f"registered here  large    FAILED {checks}: {problem}" in lines
    assert result.stderr == "Error: some components do not keep the contract\n"


def test_check_reports_hooks_without_their_mark(monkeypatch, registry):
    def pyknnmi_learners():
        return []

    @pyknnmi.components.hookimpl
    def pyknnmi_ci_tests():
        return []

    module = SimpleNamespace(pyknnmi_ci_tests=pyknnmi_ci_tests, pyknnmi_learners=pyknnmi_learners, pyknnmi_version=1)
    entry = SimpleNamespace(name="mine", dist=None, load=lambda: module)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group, name="mine": [entry] * (name == "mine"))
    pyknnmi.registry.registry._registry.cache_clear()
    result = run("plugins", "check", "mine")
    assert result.exit_code == 2
    assert (
        result.stdout
        == "mine  pyknnmi_learners  FAILED: it is never called: put @pyknnmi.components.hookimpl before it\n"
    )


def test_check_needs_one_name_or_all():
    assert "there is no plugin 'bild in'" in run("plugins", "check", "bild in").output
    assert run("plugins", "check").exit_code == 2
    assert run("plugins", "check", "built in", "--all").exit_code == 2


def test_new_writes_a_project_and_says_what_next(tmp_path):
    result = run("plugins", "new", "mine", "--in", str(tmp_path))
    assert result.exit_code == 0
    assert "pip install -e" in result.output
    assert (tmp_path / "pyknnmi-mine" / "pyknnmi_mine.py").exists()
    assert run("plugins", "new", "mine", "--in", str(tmp_path)).exit_code == 2


def test_components_whose_package_is_missing_are_not_checked(monkeypatch):
    monkeypatch.setattr("importlib.metadata.distributions", list)
    result = run("plugins", "check", "bridges")
    assert result.exit_code == 0, result.output
    assert "bridges  causal-learn  not checked: it needs causal-learn" in result.output
