"""The examples of docs/bridges.md that need another package are tested where that package is."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "bridges.md"


@pytest.fixture
def check_examples():
    """``check_examples(heading)`` runs the examples below a heading of the page."""

    def check(heading):
        text = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
        examples = "".join(re.findall(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        report = []
        test = doctest.DocTestParser().get_doctest(examples, {}, heading, str(PAGE), 0)
        failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
        assert not failed, "".join(report)
        assert tried > 3

    return check
