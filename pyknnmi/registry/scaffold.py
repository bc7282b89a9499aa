"""Starts a plugin project: a CI test, a learner, and tests that run the conformance kit."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from importlib.resources import files
from pathlib import Path

from pyknnmi.data.files import make_folder, replace_file
from pyknnmi.errors import DataError, ParameterError

__all__ = ["new_plugin"]


def new_plugin(name: str, parent: str | os.PathLike[str] = ".") -> Path:
    """Write a working plugin project ``pyknnmi-NAME`` and return its folder.

    Parameters
    ----------
    name : str
        Lower-case words joined by ``-``, such as ``rank-tests``.
    parent : path
        The folder to make it in.

    Raises
    ------
    ParameterError
        A name of another form.
    DataError
        The folder is there already; nothing is written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ParameterError(f"'{name}': give a plugin a lower-case name, words joined by '-'", "name")
    module = f"pyknnmi_{name.replace('-', '_')}"
    folder = Path(parent) / f"pyknnmi-{name}"
    if folder.exists():
        raise DataError(f"'{folder}' is there already: choose another name, or remove it")
    words = {
        "name": name,
        "distribution": f"pyknnmi-{name}",
        "module": module,
        "prefix": "".join(word.capitalize() for word in name.split("-")),
    }
    contents = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{module}.py": "module.py",
        f"tests/test_{module}.py": "test_module.py",
    }
    make_folder(parent)
    part = Path(parent) / f"{folder.name}.{secrets.token_hex(4)}.part"  # it gets its name once it is whole
    try:
        for target, source in contents.items():
            text = files("pyknnmi.registry").joinpath("templates", f"{source}.template").read_text(encoding="utf-8")
            for key, word in words.items():
                text = text.replace(f"{{{key}}}", word)
            make_folder((part / target).parent)
            replace_file(part / target, text)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder
