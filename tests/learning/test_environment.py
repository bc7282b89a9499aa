from __future__ import annotations

import platform
from importlib import metadata

import pyknnmi


def test_versions_are_those_installed():
    found = pyknnmi.show_versions()
    assert (found["numpy"], found["python"]) == (metadata.version("numpy"), platform.python_version())
    assert found["causal-learn"] in ("not installed", *_versions_of("causal-learn"))
    assert "plugin built in" in found
    assert any(line.split() == ["numpy", metadata.version("numpy")] for line in repr(found).splitlines())


def _versions_of(name):
    return [one.version for one in metadata.distributions() if one.metadata["Name"] == name]
