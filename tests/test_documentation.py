"""The README and the guides are run as tests: Python examples as doctests, console examples as commands."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from pyknnmi.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SLOW = {"start.md"}
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> str:
    return "\n".join(body for tag, body in FENCE.findall(page.read_text(encoding="utf-8")) if tag == language)


def pages(prompt: str) -> pytest.MarkDecorator:
    """Give a test those pages that have examples."""
    marks = {page: [pytest.mark.slow] if page.name in SLOW else [] for page in PAGES}
    found = [page for page in PAGES if prompt in page.read_text(encoding="utf-8")]
    return pytest.mark.parametrize("page", [pytest.param(page, id=page.name, marks=marks[page]) for page in found])


@pages("\n>>> ")
def test_python_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(blocks(page, "python"), {}, page.name, str(page), 0)
    report: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(optionflags=flags, verbose=False).run(examples, out=report.append)
    assert not report, "".join(report)


@pytest.mark.filterwarnings("ignore::pyknnmi.PyknnmiWarning")  # printed beside the output, on the error stream
@pages("\n$ pyknnmi ")
def test_console_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for table in (ROOT / "docs" / "data").glob("*.csv"):
        (tmp_path / table.name).write_bytes(table.read_bytes())
    for command, expected in re.findall(r"^\$ pyknnmi (.*)\n((?:(?!\$ ).*\n)*)", blocks(page, "console"), re.MULTILINE):
        result = CliRunner().invoke(main, shlex.split(command))
        assert result.exit_code == 0, f"{command}\n{result.output}"
        checker = doctest.OutputChecker()
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert checker.check_output(expected, result.output, flags), f"{command}\n{result.output}"
