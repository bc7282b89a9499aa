"""The fixtures of the project's own tests."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_spec = spec_from_file_location("project_conftest", Path(__file__).parents[3] / "tests" / "conftest.py")
_project = module_from_spec(_spec)
_spec.loader.exec_module(_project)
registry, room = _project.registry, _project.room
