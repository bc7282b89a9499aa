"""The recipe for R, where R and reticulate are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import pyknnmi

PAGE = Path(__file__).parent.parent.parent / "docs" / "bridges.md"


def _r(code, folder):
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable}
    return subprocess.run(
        ["Rscript", "-e", code], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_recipe(tmp_path):
    if _r("library(reticulate)", tmp_path).returncode:
        pytest.skip("R's package reticulate is not installed")
    data, _ = pyknnmi.simulate.small_network(100, seed=2)
    pd.DataFrame(data.values, columns=data.names).to_csv(tmp_path / "network.csv", index=False)
    recipe = re.search(r"^```r\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
    questions = "; ".join(f'cat("p", p_value("X1", "X2", names[{given}]), "")' for given in ("0", "3", "3:4"))
    found = _r(f"{recipe}\n{questions}", tmp_path)
    assert found.returncode == 0, found.stderr
    answers = [float(word) for word in re.findall(r"\bp (\S+)", found.stdout)]
    table = pyknnmi.bind(data, "knn-cmi")
    expected = [table.test("X1", "X2", given).p_value for given in ([], ["X3"], ["X3", "X4"])]
    assert answers == pytest.approx(expected, rel=1e-5)
