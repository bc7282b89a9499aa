"""The README and the guides are run as tests: Python examples as doctests, console examples as commands.

Their links lead somewhere, and what newcomers read has short sentences.
"""

from __future__ import annotations

import csv
import doctest
import re
import runpy
import shlex
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
from click.testing import CliRunner
from prose import long_sentences, paragraphs

from pyknnmi.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EVERY_PAGE = sorted(
    page
    for pattern in ("*.md", "docs/*.md", "docs/*/*.md", "benchmarks/*.md", "plugins/*/*.md")
    for page in ROOT.glob(pattern)
    if "generated" not in page.relative_to(ROOT).parts
)
GENERATED = {"generated/reference", "generated/api.*"}  # by docs/reference_pages.py
SLOW = {"start.md"}
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Languages of blocks that are not run here, and what runs them.
RUN_ELSEWHERE = {
    "pycon": "tests/bridges, where the other package is installed",
    "r": "tests/bridges/test_r.py, where R is installed",
    "cmake": "cpp/examples, by `make test-cpp`",
    "text": "no code",
}


def of_page(pages):
    return pytest.mark.parametrize("page", pages, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(page: Path, language: str) -> str:
    return "\n".join(body for tag, body in FENCE.findall(page.read_text(encoding="utf-8")) if tag == language)


def pages(prompt: str) -> pytest.MarkDecorator:
    """Give a test those pages that have examples."""
    marks = {page: [pytest.mark.slow] if page.name in SLOW else [] for page in PAGES}
    found = [page for page in PAGES if prompt in page.read_text(encoding="utf-8")]
    return pytest.mark.parametrize("page", [pytest.param(page, id=page.name, marks=marks[page]) for page in found])


@pages("\n>>> ")
@pytest.mark.usefixtures("registry")
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


@of_page([page for page in EVERY_PAGE if page.name not in ("CHANGELOG.md", "CONTRIBUTING.md")])
def test_every_page_says_first_what_it_is_for(page):
    title, first = [part for part in paragraphs(page.read_text(encoding="utf-8")) if part][:2]
    assert title.startswith("# ")
    assert re.match(r"[\w*`]", first), "no heading, list or table"
    assert first.rstrip("*").endswith((".", ":", "?"))


@of_page([*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "docs" / "results" / "README.md"])
def test_no_sentence_is_too_long(page):
    assert not long_sentences(paragraphs(page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and Sphinx make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@of_page(EVERY_PAGE)
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        address = urlsplit(link)
        if address.scheme:
            assert address.scheme == "https", link
            assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", address.netloc), link
            continue
        target = (page.parent / address.path).resolve() if address.path else page
        if str(target.relative_to(ROOT)).startswith("docs/generated"):
            assert target.with_suffix("").relative_to(ROOT / "docs").as_posix() in GENERATED, link
            continue
        assert target.exists(), link
        assert not address.fragment or address.fragment in anchors(target), link


@of_page([page for page in EVERY_PAGE if FENCE.search(page.read_text(encoding="utf-8"))])
def test_every_block_is_run_or_its_commands_exist(page):
    for language, body in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python" and ROOT / "plugins" not in page.parents:  # theirs are run by their own tests
            assert body.startswith(">>> "), body
        elif language == "console":
            assert body.startswith("$ pyknnmi "), body
        elif language == "toml":
            entry = tomllib.loads(body)["project"]["entry-points"]["pyknnmi"]
            example = (ROOT / "plugins/pyknnmi-example/pyproject.toml").read_text(encoding="utf-8")
            assert entry == tomllib.loads(example)["project"]["entry-points"]["pyknnmi"]
        else:
            assert language in {"python", "sh", *RUN_ELSEWHERE}, language


COMMAND = re.compile(r"^pyknnmi ((?:[^`\n\\]|\\\n)+)", re.MULTILINE)


@of_page([page for page in EVERY_PAGE if "pyknnmi " in page.read_text(encoding="utf-8")])
def test_commands_that_are_only_shown_exist(page):
    """The commands in shell blocks and within sentences have these names and options."""
    text = page.read_text(encoding="utf-8")
    shown = [*COMMAND.findall(blocks(page, "sh")), *re.findall(r"`pyknnmi ((?:\\\n|[^`])+)`", FENCE.sub("", text))]
    context = click.Context(main)
    for line in shown:
        name, *words = shlex.split(line.replace("\\\n", " "), comments=True)
        if name.isupper() or name.startswith("-") or name in ("experiment", "figures"):
            continue  # those of pyknnmi-experiments are tested there
        command = main.get_command(context, name)
        assert command, line
        if isinstance(command, click.Group) and words:
            command = command.get_command(context, words[0]) or command
        options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options, line


def test_targets_of_make_that_pages_name_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in EVERY_PAGE:
        named = re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert {name for name in named if page.name != "CHANGELOG.md"} <= targets, page


def test_the_tables_of_levels_and_powers_are_as_their_program_wrote_them():
    pytest.importorskip("scipy")
    program = runpy.run_path(str(ROOT / "benchmarks" / "real_tables.py"))
    page = (ROOT / "docs" / "which_spec.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader(program["FOUND"].read_text(encoding="utf-8").splitlines()))
    assert page.count("<!-- real_tables ") == len({(row["part"], row["rows"]) for row in rows})
    assert program["written"](page, rows) == page


def test_the_gallery_shows_what_its_program_wrote():
    gallery = ROOT / "docs" / "gallery"
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for row in csv.DictReader((gallery / "tables.csv").read_text(encoding="utf-8").splitlines()):
        figures = f"{row['edges']} | {row['CPU seconds']} | {row['commit']} |"
        assert f"| {row['table']} | {row['rows']}, {row['columns']} | `{row['spec']}` | {figures}\n" in page
        assert f"gallery/{row['table']}.svg)" in page
