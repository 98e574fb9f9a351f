# SPDX-License-Identifier: Apache-2.0
"""Checks that constructors of physical quantities share."""

from __future__ import annotations

import math

from bam_core.errors.kinds import OutOfRange, WrongValue

LONGEST_NAME = 100
"""Bytes of a name that names of files are made of; file systems take 255, with all that is added."""


def require_not_negative(owner: str, **quantities: float) -> None:
    """Raise OutOfRange unless every quantity is a finite number that is zero or more."""
    for name, value in quantities.items():
        if not _is_finite(value) or value < 0.0:
            raise OutOfRange(f"{owner} {name}", value, "a finite number >= 0")


def require_finite(owner: str, **quantities: float) -> None:
    """Raise OutOfRange unless every quantity is a finite number."""
    for name, value in quantities.items():
        if not _is_finite(value):
            raise OutOfRange(f"{owner} {name}", value, "a finite number")


def require_share(owner: str, **quantities: float) -> None:
    """Raise OutOfRange unless every quantity is a number from 0 to 1."""
    for name, value in quantities.items():
        if not _is_finite(value) or not 0.0 <= value <= 1.0:
            raise OutOfRange(f"{owner} {name}", value, "0 to 1")


def require_positive(owner: str, **quantities: float) -> None:
    """Raise OutOfRange unless every quantity is a finite number above zero."""
    for name, value in quantities.items():
        if not _is_finite(value) or value <= 0.0:
            raise OutOfRange(f"{owner} {name}", value, "a finite number > 0")


def require_file_name(thing: str, name: str) -> None:
    """Raise WrongValue unless files can be named after this name: it leads into no folder and hides none."""
    right = name.isprintable() and 0 < len(name.encode()) <= LONGEST_NAME and not name.startswith(".")
    if not right or "/" in name or "\\" in name:
        raise WrongValue(
            thing,
            name,
            f"1 to {LONGEST_NAME} bytes of printable text, not beginning with a point, without / and \\",
            advice="choose another, files are named after it",
        )


def _is_finite(value: object) -> bool:
    try:
        return math.isfinite(value)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        return False
