"""The examples in docstrings are run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import pyknnmi

MODULES = [module.name for module in pkgutil.walk_packages(pyknnmi.__path__, "pyknnmi.") if module.name[-4:] != "core"]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples(name, registry):
    module = importlib.import_module(name)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    for example in doctest.DocTestFinder().find(module):
        runner.run(example, out=report.append)
    assert not report, "".join(report)
