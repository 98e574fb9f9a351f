# SPDX-License-Identifier: Apache-2.0
"""The parameter `limits` that every driver has: where goals may lie."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bam_core.errors import Conflict, OutOfRange, WrongShape
from bam_ros.driver.servo_bus import ServoBus

Range = tuple[float, float]
"""Lowest and highest angle, rad."""

_LARGEST = 8.0 * math.pi  # rad; four turns: a number beyond is more often meant in degrees

HALF_TURN = (-math.pi, math.pi)
"""Default limits, rad: what a command in degrees, or of another turn, does not reach."""

OFF_LIMITS = 0.1
"""Angle beyond its limits at which a joint is still switched on, rad: an arm at its stop may be."""


def parse_limits(values: Sequence[float], joints: Sequence[str]) -> tuple[Range, ...]:
    """Return the range of every joint, rad.

    Args:
        values: lowest and highest angle of each joint one after the other, or one pair for all.
        joints: their names.

    Raises:
        WrongShape: there is neither one pair nor one per joint.
        OutOfRange: a range is empty or not a number.
    """
    pairs = list(zip(values[::2], values[1::2], strict=False))
    if len(values) not in (2, 2 * len(joints)):
        raise WrongShape(
            "limits",
            len(values),
            "lowest and highest angle, once for all or for each joint",
            printed=f"{len(values)} numbers for {len(joints)} joint_names",
            advice="correct the parameter",
        )
    for low, high in pairs:
        if not low < high:
            raise OutOfRange(
                "limits",
                (low, high),
                "the lowest angle, then the highest",
                printed=f"{low:g} to {high:g} rad",
                advice="correct the parameter",
            )
    return tuple(pairs * (len(joints) if len(pairs) == 1 else 1))


def limit_warnings(bus: ServoBus, limits: Sequence[Range]) -> list[str]:
    """Return one line for each joint whose limits look like degrees, or are wider than what the servo takes.

    Args:
        bus: open.
        limits: of the user, one range per joint.
    """
    lines = []
    for name, (least, most), (low, high) in zip(bus.names, bus.position_limits, limits, strict=True):
        if _LARGEST < max(abs(low), abs(high)) < math.inf:
            lines.append(f"limits: {low:g} to {high:g} rad for joint {name!r} (expected rad; degrees?)")
        elif (low, high) != HALF_TURN and (low < least or high > most) and not math.isinf(max(-low, high)):
            lines.append(
                f"limits: {low:g} to {high:g} rad for joint {name!r} are wider than what the servo takes"
                f" ({least:.4g} to {most:.4g} rad), which counts"
            )
    return lines


def joint_limits(bus: ServoBus, limits: Sequence[Range]) -> tuple[Range, ...]:
    """Return where the goals of each joint may lie, rad: within what the bus takes and within `limits`.

    Args:
        bus: open.
        limits: of the user, one range per joint.

    Raises:
        Conflict: that leaves a joint no angle.
    """
    ranges = []
    for name, (least, most), (low, high) in zip(bus.names, bus.position_limits, limits, strict=True):
        if max(least, low) >= min(most, high):
            raise Conflict(
                "limits",
                f"{low:g} to {high:g} rad for joint {name!r} leave no angle that the servo takes",
                expected=f"some of {least:.4g} to {most:.4g} rad",
                advice="correct the parameter, or the servo's own limits",
            )
        ranges.append((max(least, low), min(most, high)))
    return tuple(ranges)
