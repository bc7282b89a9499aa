"""The rooms of the package, and who may enter which: read from the source, so nothing is imported by mistake."""

from __future__ import annotations

import ast
import inspect
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import pyknnmi
from pyknnmi import calibration, commands, components, numbers, regression, simulate, sklearn, testing
from pyknnmi.registry.registry import Registry

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pyknnmi"

DOORS = {
    door.__name__: door
    for door in (pyknnmi, calibration, commands, components, numbers, regression, simulate, sklearn, testing)
}
TOUCH_FILES = {
    "run",
    *("data.files", "data.sources", "learning.exports", "search.store", "registry.scaffold"),
    *("report.html", "report.plots"),
}
# A result draws itself, as data frames do: the one import upwards, within the methods that need it.
UPWARDS = {("learning.result", f"report.{module}") for module in ("plots", "html", "notebook")}
FILE_FUNCTIONS = {
    *("open", "connect", "mkdir", "unlink", "touch", "rmdir"),
    *("read_text", "read_bytes", "write_text", "write_bytes", "loadtxt", "savetxt", "savefig"),
}


def modules(folder, under=""):
    """Syntax trees by dotted name below the package."""
    found = {}
    for file in sorted((folder / under).rglob("*.py")):
        parts = file.relative_to(folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(file.read_text(encoding="utf-8"))
    return found


MODULES = modules(PACKAGE)
OWN = {name: tree for name, tree in MODULES.items() if name and not name.startswith("builtin")}
BUILT_IN = {name: tree for name, tree in MODULES.items() if name.startswith("builtin")}


def imports(tree):
    """Every (module, name) that is imported anywhere in a tree, in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.module, alias.name) for alias in node.names)


def own_imports(tree):
    """The modules of the package that a tree imports."""
    for module, name in imports(tree):
        if module == "pyknnmi" or module.startswith("pyknnmi."):
            inner = f"{module}.{name}".removeprefix("pyknnmi.").rstrip(".")
            yield inner if inner in {*MODULES, "_core"} else module.removeprefix("pyknnmi").lstrip(".")


def rooms():
    """The rooms in their order, lowest first, as the table in CONTRIBUTING.md gives them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("### Rooms of the package")[2].partition("\n\nThere are")[0]
    return re.findall(r"^\| `(\w+)/?` \|", table, re.MULTILINE)


ROOMS = rooms()


def room(name):
    top = name.split(".")[0]
    assert top in ROOMS, f"pyknnmi/{top} is in no room of the table in CONTRIBUTING.md: say where it belongs"
    return ROOMS.index(top)


def test_every_room_is_there_and_every_module_is_in_a_room():
    assert sorted(ROOMS) == sorted({name.split(".")[0] for name in MODULES if name} - {"__main__"})


@pytest.mark.parametrize("name", OWN)
def test_imports_point_one_way(name):
    for imported in own_imports(OWN[name]):
        if (name, imported) in UPWARDS:
            continue
        assert imported, f"{name} imports from the package's front door, which imports everything"
        if imported != "_core" and name != "__main__":
            assert room(imported) <= room(name), f"{name} imports {imported}"


def test_imports_have_no_circle():
    lower = {name: {other for other in own_imports(tree) if (name, other) not in UPWARDS} for name, tree in OWN.items()}
    TopologicalSorter({name: others - {name} for name, others in lower.items()}).prepare()


def importers(module):
    return {name for name, tree in MODULES.items() if any(m.split(".")[0] == module for m, _ in imports(tree))}


def test_only_the_estimators_and_the_regressions_import_the_core():
    importing = {name for name, tree in MODULES.items() if "_core" in {imported for _, imported in imports(tree)}}
    assert importing == {"numbers.estimators", "numbers.permutations", "regression.smooth"}
    assert not [name for name, tree in MODULES.items() if any(m == "pyknnmi._core" for m, _ in imports(tree))]


def test_only_the_registry_and_the_hook_specifications_import_pluggy():
    assert importers("pluggy") == {"registry.registry", "registry.hookspecs"}


def test_only_the_command_line_prints():
    for name, tree in MODULES.items():
        if name.split(".")[0] == "cli":
            continue
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert not [call for call in calls if isinstance(call, ast.Name) and call.id in ("print", "input")], name
        attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        buffered = {"stdout"} if name == "search.processes" else set()  # it sets how what workers print is buffered
        assert not attributes & {"stdout", "stderr", "echo"} - buffered, name


def test_no_lock_is_held_where_a_child_made_by_fork_would_wait_for_it():
    locks = {("functools", "cached_property"), *(("threading", name) for name in ("Lock", "Condition", "Event"))}
    for name, tree in [*MODULES.items(), *outsiders()]:
        attributes = {
            (node.value.id, node.attr)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        }
        assert name == "locks" or not locks & {*imports(tree), *attributes}, f"{name}: take pyknnmi.locks.Lock"


def test_only_reading_and_writing_modules_touch_files():
    for name, tree in MODULES.items():
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        called = {call.id if isinstance(call, ast.Name) else getattr(call, "attr", "") for call in calls}
        assert name in TOUCH_FILES or not called & FILE_FUNCTIONS, f"{name}: {called & FILE_FUNCTIONS}"


def outsiders():
    """The built-in components, and the packages of the plugins."""
    yield from BUILT_IN.items()
    for project in sorted((ROOT / "plugins").glob("*/pyproject.toml")):
        for package in sorted(project.parent.glob("pyknnmi_*")):
            yield from modules(project.parent, package.name).items()


@pytest.mark.parametrize(("name", "tree"), list(outsiders()), ids=lambda value: value if isinstance(value, str) else "")
def test_components_import_public_names_only(name, tree):
    for module, imported in imports(tree):
        if module.split(".")[0] == "pyknnmi" and not module.startswith("pyknnmi.builtin"):
            assert module in DOORS, f"{name} imports {module}"
            assert imported in ("", *DOORS[module].__all__), f"{name} imports {imported} from {module}"
        assert not module.startswith("pyknnmi.builtin") or name.startswith("builtin"), f"{name} imports {module}"


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_public_names_are_sorted_and_there(door):
    assert door.__all__ == sorted(door.__all__)
    assert all(hasattr(door, name) for name in door.__all__)


def guides_built_ins_and_plugins():
    """The words that users and authors read, and those of the components and plugins."""
    files = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(PACKAGE / "builtin").glob("*.py")]
    files += [file for file in (ROOT / "plugins").rglob("pyknnmi_*/**/*.py") if "build" not in file.parts]
    return {word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}


def types_named_by(thing):
    """The words in the annotations of a function or a class, and its bases."""
    members = [thing, *vars(thing).values()] if inspect.isclass(thing) else [thing]
    functions = [getattr(member, "fget", None) or getattr(member, "__func__", member) for member in members]
    annotations = [str(given) for one in functions for given in getattr(one, "__annotations__", {}).values()]
    return {*re.findall(r"\w+", " ".join(annotations)), *(base.__name__ for base in getattr(thing, "__bases__", ()))}


def test_every_public_name_is_needed():
    public = {name: getattr(door, name) for door in DOORS.values() for name in door.__all__}
    needed = guides_built_ins_and_plugins() & set(public)
    needed |= {name for name, thing in public.items() if inspect.isclass(thing) and issubclass(thing, Exception)}
    while further := {name for one in needed for name in types_named_by(public[one]) if name in public} - needed:
        needed |= further
    unneeded = sorted(set(public) - needed)
    assert not unneeded, f"no guide, built-in or plugin needs {unneeded}"


@pytest.mark.parametrize("cls", Registry([]).components(), ids=lambda cls: cls.name)
def test_a_component_its_file_and_its_test_share_a_name(cls):
    word = cls.name.replace("-", "_")
    assert cls.__module__ == f"pyknnmi.builtin.{word}"
    assert (ROOT / "tests" / "builtin" / f"test_{word}.py").exists()


def includes(header):
    pattern = re.compile(rf'^\s*#\s*include\s*[<"]{header}', re.MULTILINE)
    files = [*(ROOT / "cpp").rglob("*.?pp")]
    return {str(file.relative_to(ROOT / "cpp")) for file in files if pattern.search(file.read_text(encoding="utf-8"))}


def test_one_file_of_the_library_includes_nanoflann():
    assert len([file for file in includes("nanoflann") if file.startswith(("src", "include"))]) == 1


def test_only_the_bindings_include_pybind11():
    assert {file.split("/")[0] for file in includes("pybind11")} == {"bindings"}
