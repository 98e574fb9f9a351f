# SPDX-License-Identifier: Apache-2.0
"""The page of the examples: their list and their code."""

from __future__ import annotations

import re
from pathlib import Path

from site_pages.markdown import code

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def pages() -> dict[str, str]:
    """Return the page; links of the list lead to the code below it."""
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    parts = [re.sub(r"\]\((\w+)\.py\)", lambda match: f"](#{match[1].replace('_', '-')}-py)", listed)]
    for name in re.findall(r"\[(\w+)\.py\]", listed):
        slug = f"{name.replace('_', '-')}-py"
        parts.append(f"({slug})=\n## {name}.py\n")
        parts.append(code((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"), "python"))
    return {"reference/examples.md": "\n".join(parts)}
