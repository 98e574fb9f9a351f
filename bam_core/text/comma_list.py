# SPDX-License-Identifier: Apache-2.0
"""Lists in one argument or parameter, such as "m1, m4"."""

from __future__ import annotations


def comma_list(text: str) -> list[str]:
    """Return the words between commas, without blanks around them and without empty ones."""
    return [word for word in map(str.strip, text.split(",")) if word]
