# SPDX-License-Identifier: Apache-2.0
"""Sentences whose lines do not break between a number and its unit."""

from __future__ import annotations

import re

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|mrad\b)")


def unbroken(text: str) -> str:
    """Return a text whose lines do not break between a number and its unit."""
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)
