"""A new plugin project works as it is written."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pyknnmi import DataError, ParameterError
from pyknnmi.registry.scaffold import new_plugin


def test_files_and_names(tmp_path):
    folder = new_plugin("rank-tests", tmp_path)
    assert folder == tmp_path / "pyknnmi-rank-tests"
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == ["README.md", "pyknnmi_rank_tests.py", "pyproject.toml", "tests/test_pyknnmi_rank_tests.py"]
    assert 'rank-tests = "pyknnmi_rank_tests"' in (folder / "pyproject.toml").read_text()
    with pytest.raises(DataError, match="is there already"):
        new_plugin("rank-tests", tmp_path)


@pytest.mark.parametrize("name", ["", "Rank", "rank_tests", "../x", "3d"])
def test_bad_names(tmp_path, name):
    with pytest.raises(ParameterError, match="lower-case name"):
        new_plugin(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_its_own_tests_pass_once_it_is_found(tmp_path):
    folder = new_plugin("rank-tests", tmp_path)
    # an installed distribution, as importlib.metadata sees it
    info = tmp_path / "pyknnmi_rank_tests-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pyknnmi-rank-tests\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[pyknnmi]\nrank-tests = pyknnmi_rank_tests\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(tmp_path), *sys.path])}
    for command in (["-m", "pytest", "-q", str(folder)], ["-m", "pyknnmi", "plugins", "check", "rank-tests"]):
        run = subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, text=True, cwd=folder, check=False
        )
        assert run.returncode == 0, run.stdout + run.stderr
