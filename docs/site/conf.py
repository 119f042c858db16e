"""Sphinx's settings for the documentation site, which tools/docs.py builds."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import tapemagic

project = "tapemagic"
author = "the tapemagic authors"
project_copyright = "the tapemagic authors"
release = version = tapemagic.__version__

root_doc = "index"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
default_role = "py:obj"

nb_execution_mode = "off"
nb_mime_priority_overrides = [("html", "text/html", 0)]
nb_merge_streams = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = False
napoleon_use_rtype = False
python_maximum_signature_line_length = 88
add_module_names = False
maximum_signature_line_length = 88

html_theme = "furo"
html_title = "tapemagic"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
linkcheck_timeout = 20

REFERENCE = re.compile(r"\[(\d+)\]_")
FOOTNOTE = re.compile(r"^\.\. \[(\d+)\] ")


def plain_references(*event: Any) -> None:
    """Take the marks of footnotes from a docstring: on one page, those of all docstrings would meet."""
    lines: list[str] = event[-1]
    lines[:] = [FOOTNOTE.sub(r"   [\1] ", REFERENCE.sub(r"[\1]", line)) for line in lines]


def is_no_method(*event: Any) -> bool | None:
    """Whether to leave out a member of a class: a plain value, or a function of another library.

    Values that matter stand in the docstring of the class, below Attributes.
    """
    value, skipped = event[3], event[4]
    if isinstance(value, property | cached_property):
        return skipped
    module = getattr(value, "__module__", None) or "builtins"
    return skipped if callable(value) and module.startswith("tapemagic") else True


def setup(app: Any) -> None:
    """Register what Sphinx is to call before it reads a docstring."""
    app.connect("autodoc-process-docstring", plain_references, priority=400)
    app.connect("autodoc-skip-member", is_no_method)
