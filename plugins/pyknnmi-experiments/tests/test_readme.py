"""The examples of the README, of docstrings, and of the command line are run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pyknnmi_experiments
import pytest
import test_documentation

README = Path(__file__).parents[1] / "README.md"


def test_python_examples(tmp_path, monkeypatch):
    test_documentation.test_python_examples(README, tmp_path, monkeypatch)


def test_console_examples(tmp_path, monkeypatch):
    test_documentation.test_console_examples(README, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(pyknnmi_experiments.__path__)])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"pyknnmi_experiments.{name}")).failed == 0
