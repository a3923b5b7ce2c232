"""Settings of Sphinx. Nothing is loaded from the network, when it is built or when it is read."""

import re
import sys
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import tracealyze

project = "tracealyze"
author = "the tracealyze authors"
version = release = tracealyze.__version__
html_title = f"tracealyze {release}"
html_short_title = "tracealyze"
html_theme = "furo"
html_static_path = ["static"]
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0b57a4", "color-brand-content": "#0b57a4"},
    "dark_css_variables": {"color-brand-primary": "#7ab8ff", "color-brand-content": "#7ab8ff"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3
highlight_language = "none"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
toc_object_entries_show_parents = "hide"
# In docstrings, one backtick marks code.
default_role = "code"
nitpicky = False


_COLUMNS = re.compile(r"\S {3,}\S")


def _as_written(_app, _what, _name, _object, _options, lines):
    """A paragraph of a docstring that has columns of text is a table: show it as it is written."""
    found = []
    for is_blank, group in groupby(lines, key=lambda line: not line.strip()):
        paragraph = list(group)
        is_table = not is_blank and not paragraph[0].startswith(" ") and any(map(_COLUMNS.search, paragraph))
        found += ["::", "", *(f"    {line}" for line in paragraph)] if is_table else paragraph
    lines[:] = found


def setup(app):
    app.connect("autodoc-process-docstring", _as_written)
