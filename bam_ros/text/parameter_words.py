# SPDX-License-Identifier: Apache-2.0
"""What the help of a node adds to the description of a parameter."""

from __future__ import annotations


def bounds_words(low: float | None, high: float | None, *, read_only: bool) -> str:
    """Return the range of a parameter, and whether it may change; begins with what separates it.

    Args:
        low: lowest value; None: it has no bounds.
        high: largest value; None likewise.
        read_only: it is read once.
    """
    changes = "" if read_only else "; may change while the node runs"
    return changes if low is None or high is None else f" [{low:g} to {high:g}]{changes}"
