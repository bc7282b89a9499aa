"""Create a virtual environment with pip, or say what is missing: venv.py FOLDER."""

import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

OLDEST = (3, 11)


def main(folder: Path) -> None:
    """Create the environment, with pip even where Debian's python3-venv is not installed."""
    if sys.version_info < OLDEST:
        sys.exit(
            f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed, and {sys.executable} is "
            f"{sys.version_info[0]}.{sys.version_info[1]}. With another Python: make PYTHON=python3.12 ..."
        )
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        sys.exit(
            f"{sys.executable} has no C headers, which building needs. "
            "On Debian and Ubuntu: apt install python3-dev; on Fedora: dnf install python3-devel"
        )
    create = [sys.executable, "-m", "venv", "--clear", str(folder)]
    if importlib.util.find_spec("ensurepip"):
        subprocess.run(create, check=True)
    elif importlib.util.find_spec("pip"):
        subprocess.run([*create, "--without-pip"], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
        subprocess.run([*pip, "install", "--quiet", "pip"], check=True)
    else:
        sys.exit(f"{sys.executable} can make no virtual environment. On Debian and Ubuntu: apt install python3-venv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
