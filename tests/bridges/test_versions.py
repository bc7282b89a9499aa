"""Packages that are missing, or of a version that is not known."""

from __future__ import annotations

from importlib import metadata

import pytest

from pyknnmi import MissingPackageError
from pyknnmi.bridges.versions import KNOWN, require


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize(("version", "known"), [("{}", True), ("{}.1", True), ("{}1", False), ("9", False)])
def test_versions(name, version, known, monkeypatch):
    installed = version.format(KNOWN[name])
    monkeypatch.setattr(metadata, "version", lambda _: installed)
    if known:
        require(name)
    else:
        with pytest.raises(MissingPackageError, match=f"{name} {installed} is installed, and this bridge knows"):
            require(name)


def test_a_package_that_is_missing(monkeypatch):
    monkeypatch.setitem(KNOWN, "no-such-package", "1.0")
    with pytest.raises(MissingPackageError, match=r"not installed: install no-such-package 1.0, such as with pip"):
        require("no-such-package")
