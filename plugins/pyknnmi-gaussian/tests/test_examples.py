"""The examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pyknnmi_gaussian
import pytest

MODULES = [module.name for module in pkgutil.iter_modules(pyknnmi_gaussian.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(f"pyknnmi_gaussian.{name}")).failed == 0


def test_readme():
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    names = {}
    exec(code, names)
    assert np.argwhere(np.triu(names["graph"])).tolist() == [[0, 1], [3, 4]]


def test_public_names_are_sorted_and_documented():
    names = pyknnmi_gaussian.__all__
    assert names == sorted(names)
    assert all(getattr(pyknnmi_gaussian, name).__doc__ for name in names)
