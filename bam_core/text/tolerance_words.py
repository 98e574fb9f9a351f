# SPDX-License-Identifier: Apache-2.0
"""Tolerances of a bench or of a robot: what is refused, and how a user writes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bam_core.errors import OutOfRange, UnknownName, WrongType
from bam_core.errors.checks import require_not_negative
from bam_core.text.quantity import ANGLE, LENGTH, SHARE, TIME, quantity

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_LARGEST = 0.5
"""Of any of them: what is known no better is not known (50 %, 0.5 m, 0.5 rad, 0.5 s)."""

_UNITS = {"length": LENGTH, "centre": LENGTH, "zero": ANGLE, "delay": TIME, "expected_delay": TIME}
"""Of tolerances that are no shares."""

T = TypeVar("T", bound="DataclassInstance")


def require_tolerances(tolerances: DataclassInstance) -> None:
    """Raise BamError where one is negative, not finite or far beyond anything built."""
    values: dict[str, Any] = asdict(tolerances)
    require_not_negative("tolerance", **values)
    for name, value in values.items():
        if value > _LARGEST:
            raise OutOfRange(
                f"tolerance {name}",
                value,
                f"at most {_LARGEST:g}, a share or m, rad, s",
                printed=f"{value:g}",
                advice="give 0.03 for 3 %",
            )


def tolerances_from(words: Iterable[str], default: T) -> T:
    """Return the defaults changed by words such as "mass=0.03".

    Raises:
        BamError: a name is unknown, or a value is no number or out of range.
    """
    known = [field.name for field in fields(default)]
    values: dict[str, Any] = {}
    for word in words:
        name, separator, text = word.partition("=")
        if not separator:
            raise WrongType("--tolerance", word, "NAME=VALUE, as in mass=0.03")
        if name.strip() not in known:
            raise UnknownName("tolerance", name.strip(), known)
        units = _UNITS.get(name.strip(), SHARE)
        values[name.strip()] = quantity(f"--tolerance {name.strip()}", text, units)
    return replace(default, **values)
