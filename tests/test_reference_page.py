"""The reference holds every public name, parameter, hook, command and file, and says something of each."""

from __future__ import annotations

import inspect
import re

import pytest
from reference_pages import DOORS, door_page, doors, page

from pyknnmi.cli import main
from pyknnmi.learning.exports import DIRECTED_WRITERS, WRITERS
from pyknnmi.registry import hookspecs
from pyknnmi.registry.registry import Registry

PAGE = page()
CELLS = {match[1]: match[2].strip() for match in re.finditer(r"^\| \[?`([^`]+)`\S* \|(.*)\|$", PAGE, re.MULTILINE)}


@pytest.mark.parametrize(("door", "module"), list(doors()), ids=DOORS)
def test_every_public_name_is_there_and_described(door, module):
    section = PAGE.split(f"## `{door}`\n")[1].split("\n## ")[0]
    for name in module.__all__:
        row = re.search(rf"^\| \[`{name}`\]\S* \| (.+) \|$", section, re.MULTILINE)
        assert row, f"{door}.{name} is not in the reference"
        assert not row[1].startswith("None"), name
        own_page = door_page(door, module)
        assert inspect.ismodule(getattr(module, name)) or f" {name}\n" in own_page


@pytest.mark.parametrize("cls", Registry([]).components(), ids=lambda cls: cls.name)
def test_every_parameter_is_there_and_in_the_docstring(cls):
    section = PAGE.split(f"### `{cls.name}`, a {cls.kind}\n")[1].split("\n#")[0]
    documented = {name.strip() for line in re.findall(r"^(\w[\w, ]*) :", inspect.getdoc(cls), re.MULTILINE)
                  for name in line.split(",")}  # fmt: skip
    for parameter in cls.parameters():
        assert f"| `{parameter.name}` |" in section
        assert parameter.name in documented, f"{cls.name}: the docstring does not say what {parameter.name} is"


def test_every_hook_is_there():
    hooks = [name for name, _ in inspect.getmembers(hookspecs, inspect.isfunction) if name.startswith("pyknnmi_")]
    assert hooks
    assert all(f"| `{name}(" in PAGE for name in hooks)


def test_every_command_and_option_is_there_and_described():
    context = main.make_context("pyknnmi", ["--help"], resilient_parsing=True)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert getattr(parameter, "help", None), f"pyknnmi {name} {parameter.opts[0]} has no help"
                assert f"`{parameter.opts[0]}`" in PAGE


def test_every_file_is_there():
    assert all(CELLS[name] for name in (*WRITERS, *DIRECTED_WRITERS, "provenance.json", "result.json"))
