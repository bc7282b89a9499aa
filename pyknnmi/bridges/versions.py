"""Which versions of other packages the bridges know."""

from __future__ import annotations

from importlib import metadata

from pyknnmi.errors import MissingPackageError

__all__ = ["KNOWN", "require"]

KNOWN = {"causal-learn": "0.1.4", "dowhy": "0.14", "pgmpy": "1.1"}
"""The series of each package that its bridge was tested with."""


def require(distribution: str) -> None:
    """Raise `MissingPackageError` unless a package is installed in a version of the known series."""
    series = KNOWN[distribution]
    install = f"install {distribution} {series}, such as with pip install '{distribution}=={series}.*'"
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        raise MissingPackageError(f"{distribution} is not installed: {install}") from None
    if not f"{version}.".startswith(f"{series}."):
        raise MissingPackageError(
            f"{distribution} {version} is installed, and this bridge knows {series} and its patches only: {install}"
        )
