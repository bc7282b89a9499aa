"""The examples in docstrings are run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import pyknnmi

FILES = {
    module.name: Path(str(find_spec(module.name).origin))
    for module in pkgutil.walk_packages(pyknnmi.__path__, "pyknnmi.")
    if not module.name.endswith(("_core", "__main__"))
}
MODULES = [name for name, file in FILES.items() if ">>> " in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, registry):
    module = importlib.import_module(name)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    for example in doctest.DocTestFinder().find(module):
        runner.run(example, out=report.append)
    assert runner.tries > 0
    assert not report, "".join(report)
