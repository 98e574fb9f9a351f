# SPDX-License-Identifier: Apache-2.0
"""`make docs`: the site, from these pages and those that `tools/site_pages` writes beside them."""

from __future__ import annotations

import re
from typing import Any

from pygments.formatters import HtmlFormatter
from sphinx.highlighting import PygmentsBridge

from bam_core import __version__

project = "bam_bench"
author = "bam_bench maintainers"
copyright = "bam_bench maintainers, Apache-2.0"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["site"]
nitpicky = False

# Markdown as code hosts show it, and the directives of Sphinx where a page needs them.
myst_enable_extensions = ["colon_fence", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4  # links such as uncertainty.md#three-sets-of-logs

# Docstrings say units, shapes and types in words; names in single backticks are code.
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "bam_bench"
html_static_path = ["site"]
html_css_files = ["style.css"]
html_extra_path = ["extra"]  # pages that are ready: the report of the example
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1d4ed8", "color-brand-content": "#1d4ed8"},
    "dark_css_variables": {"color-brand-primary": "#8fb4ff", "color-brand-content": "#8fb4ff"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

_CODE = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"([|*]|(?<=\w)_(?!\w))")  # |e| and k_t· are no references, 2*x is no emphasis


def _as_text(_app: Any, _what: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Docstrings are plain text but for names in backticks."""
    for i, line in enumerate(lines):
        parts = _CODE.split(line)
        parts[::2] = [_MARKUP.sub(r"\\\1", part) for part in parts[::2]]
        lines[i] = "".join(parts)


_OPTION = re.compile(r"(?<=[\s>])(--?[a-zA-Z][\w-]*)(?=[\s<:=]|$)")


class _Formatter(HtmlFormatter):
    """Marks options of commands, which style.css keeps in one line."""

    def _format_lines(self, tokens: Any) -> Any:
        for is_code, line in super()._format_lines(tokens):
            yield is_code, _OPTION.sub(r'<span class="option">\1</span>', line)


def setup(app: Any) -> None:
    """Register the above, before Napoleon reads docstrings."""
    PygmentsBridge.html_formatter = _Formatter
    app.connect("autodoc-process-docstring", _as_text, priority=1)
