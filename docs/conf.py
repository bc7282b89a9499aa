"""The documentation site: the Markdown pages of this folder, and a reference made from the docstrings."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "pyknnmi"
author = "The pyknnmi authors"
release = version = metadata.version("pyknnmi")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "data", "results/figures"]
default_role = "literal"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "pyknnmi"
html_show_sourcelink = False
html_sidebars = {"**": []}  # the bar above leads everywhere
html_theme_options = {"navbar_align": "left", "show_prev_next": True, "secondary_sidebar_items": ["page-toc"]}
html_last_updated_fmt = None


OUTSIDE = {
    "plugins/pyknnmi-experiments/README.md": "experiments.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages of the site for files outside this folder, to which pages link as they stand in the repository."""


def link_within_the_site(app, page, source):
    """Turn links of a page to files outside the folder into links to their pages."""
    here = (HERE / page).parent
    for outside, inside in OUTSIDE.items():
        was, now = (os.path.relpath(path, here) for path in (HERE.parent / outside, HERE / inside))
        source[0] = source[0].replace(f"]({was})", f"]({now})")


def link_from_outside(app, path, page, source):
    """Turn links of an included file, which lead from where it lies, into links from the page that includes it."""
    there = os.path.relpath(HERE, (HERE / path).parent)
    source[0] = source[0].replace(f"]({there}/", "](")
    for outside, inside in OUTSIDE.items():
        source[0] = source[0].replace(f"]({outside})", f"]({inside})")


def setup(app):
    """Write the pages that are made from the code before Sphinx looks for pages."""
    from reference_pages import write_pages

    write_pages(HERE / "generated")
    app.connect("source-read", link_within_the_site)
    app.connect("include-read", link_from_outside)
