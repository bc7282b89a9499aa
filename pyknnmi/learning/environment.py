"""What is installed, for reports of problems."""

from __future__ import annotations

import platform
import re
from importlib import metadata

from pyknnmi.numbers.estimators import build_info
from pyknnmi.registry.registry import default_registry

__all__ = ["Versions", "show_versions"]


class Versions(dict[str, str]):
    """Versions by name, which are shown one a line."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {version}" for name, version in self.items())


def show_versions() -> Versions:
    """Return the versions of Python, the machine, pyknnmi, its core, its plugins, and the packages that it can use.

    At a prompt or in a notebook they are shown one a line. Please add them to a report of a problem.

    Examples
    --------
    >>> import pyknnmi
    >>> pyknnmi.show_versions()["pyknnmi"] == pyknnmi.show_versions()["plugin built in"]
    True
    """
    found = Versions(pyknnmi=metadata.version("pyknnmi"), python=platform.python_version(), machine=platform.platform())
    for name, value in build_info().items():
        found[f"core {name}"] = str(value)
    for plugin in default_registry().plugins():
        found[f"plugin {plugin.name}"] = plugin.problem or plugin.version
    names = {re.split(r"[^\w.-]", required, maxsplit=1)[0] for required in metadata.requires("pyknnmi") or []}
    for name in sorted(names - {"pyknnmi"}):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
