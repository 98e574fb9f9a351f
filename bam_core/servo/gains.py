# SPDX-License-Identifier: Apache-2.0
"""Gains of a position controller: one for all joints of a robot, or one per joint."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TypeAlias

from bam_core.errors import OutOfRange, UnknownName, WrongType
from bam_core.servo.plausible import require_plausible

Gain: TypeAlias = float | Mapping[str, float]
"""A gain of all joints, or joint -> gain; in what users give, names may be patterns with `*` and `?`."""

_EXPECTED = "a number, or one per joint as in pan=8,lift_*=32"


def gain_from_text(option: str, text: str) -> Gain:
    """Read a number, or JOINT=NUMBER words with commas; raises BamError."""
    if "=" not in text:
        return _number(option, text)
    gains: dict[str, float] = {}
    for word in text.split(","):
        joint, equals, number = (part.strip() for part in word.partition("="))
        if not equals or not joint:
            raise WrongType(option, word, _EXPECTED)
        gains[joint] = _number(f"{option} {joint}", number)
    return gains


def require_gain(what: str, gain: Gain, name: str) -> None:
    """Refuse a gain that no servo has; raises OutOfRange.

    Args:
        what: has the gain, as the line names it.
        gain: to check.
        name: "kp", which is above zero, "ki" or "kd".
    """
    for joint, value in gain.items() if isinstance(gain, Mapping) else [("", gain)]:
        thing = f"{what} of '{joint}'" if joint else what
        if not 0.0 <= value < math.inf or (name == "kp" and value == 0.0):
            expected = "a positive number" if name == "kp" else "0 or a positive number"
            raise OutOfRange(thing, value, expected)
        require_plausible(thing, name, value)


def require_acceleration(what: str, acceleration: Gain | None) -> None:
    """Refuse limits of a set-point's acceleration that no register has; raises OutOfRange.

    Args:
        what: has them, as the line names it.
        acceleration: rad/s²; 0: no limit; None: that of the firmware.
    """
    values = acceleration.values() if isinstance(acceleration, Mapping) else [acceleration]
    for value in values:
        if value is not None and value != 0.0:
            if not 0.0 < value < math.inf:
                raise OutOfRange(f"{what}, goal_acceleration", value, "0 (no limit) or above 0 rad/s²")
            require_plausible(f"{what}, goal_acceleration", "goal_acceleration_limit", value)


def gain_of(gain: Gain | None, joint: str) -> float | None:
    """Return the gain of one joint: a name counts more than a pattern, a later pattern than one before."""
    if not isinstance(gain, Mapping):
        return gain
    if joint in gain:
        return gain[joint]
    fitting = [value for pattern, value in gain.items() if fnmatchcase(joint, pattern)]
    return fitting[-1] if fitting else None


def over(base: Gain | None, gain: Gain | None, joints: Iterable[str], what: str) -> Gain | None:
    """Return the gains of joints where `gain` overrides `base`, as one number where all are alike.

    Raises:
        UnknownName: a name or pattern of `gain` is of no joint.
    """
    joints = tuple(joints)
    if isinstance(gain, Mapping):
        for pattern in gain:
            if not any(fnmatchcase(joint, pattern) for joint in joints):
                raise UnknownName(f"joint of {what}", pattern, joints)
    both = {joint: _first(gain_of(gain, joint), gain_of(base, joint)) for joint in joints}
    known = {joint: value for joint, value in both.items() if value is not None}
    if len(known) == len(joints) and len(set(known.values())) == 1:
        return next(iter(known.values()))
    return known or None


def gain_text(gain: Gain | None) -> str:
    """Return a gain as an option has it: "32", or "pan=8,lift=32"."""
    if isinstance(gain, Mapping):
        return ",".join(f"{joint}={value:.9g}" for joint, value in gain.items())
    return "unknown" if gain is None else f"{gain:g}"


def _first(own: float | None, base: float | None) -> float | None:
    return base if own is None else own


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise WrongType(option, text, _EXPECTED) from None
