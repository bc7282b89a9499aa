"""The examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pyknnmi_gaussian
import pytest

MODULES = [module.name for module in pkgutil.iter_modules(pyknnmi_gaussian.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(f"pyknnmi_gaussian.{name}")).failed == 0


def test_public_names_are_sorted_and_documented():
    names = pyknnmi_gaussian.__all__
    assert names == sorted(names)
    assert all(getattr(pyknnmi_gaussian, name).__doc__ for name in names)
