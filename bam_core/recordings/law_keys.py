# SPDX-License-Identifier: Apache-2.0
"""Settings of a servo that change its control law, as headers of recordings name them.

No law here has most of them. So a recording with one of them is read where the setting has no effect, and
refused elsewhere: its motion would be explained by friction and motor constants that the servo does not have.
Recorders name them as registers, in sections (`gains: {p: 16}`) and lists (`pid: [16, 0, 32]`), and as text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from bam_core.errors import Conflict, OutOfRange, Unsupported

_WHOLE = (100.0, 1000.0, 1023.0)  # %, of Feetech's and of Dynamixel's protocol 1.0 registers

GAINS = ("kp", "ki", "kd")
"""Our names of the gains, in the order in which recorders list them."""

WITHOUT_EFFECT: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "offset": (0.0,),
        "max_torque": _WHOLE,
        "torque_limit": _WHOLE,
        "pwm_limit": (885.0, 1.0),
        "goal_pwm": (885.0, 1.0),
        "current_limit": (),
        "goal_current": (),
        "acceleration": (0.0,),
        "goal_speed": (0.0,),
        "goal_velocity": (0.0,),
        "moving_speed": (0.0,),
        "profile_acceleration": (0.0,),
        "profile_velocity": (0.0,),
        "feedforward": (0.0,),
        "feedforward_1st_gain": (0.0,),
        "feedforward_2nd_gain": (0.0,),
        "punch": (0.0,),
        "pwm_slope": (140.0,),
        "start_torque": (9.0, 16.0),  # as STS servos come; see docs/reference/feetech.md
        "dead_band": (0.0, 1.0),
        "compliance_margin": (0.0, 1.0),
        "compliance_slope": (),
        "drive_mode": (0.0, 4.0, 8.0, 12.0),  # a profile by time, torque on by a goal
        "operating_mode": (0.0, 3.0, 4.0),  # position control of Feetech's and of Dynamixel's servos
    }
)
"""Name of a setting -> its values that leave the law as it is."""

CURRENT_POSITION_MODE = 5.0
"""Operating mode of Dynamixels in which the position controller asks for a current."""

_WHY = {
    "offset": "angles would be wrong",
    "operating_mode": "position control",
    "drive_mode": "no reverse, no slave",
}

_MODES = {"position": 3.0, "extended_position": 4.0, "current_based_position": CURRENT_POSITION_MODE}
"""Operating mode in words -> its number; "control" and "mode" are left out."""
_OFF = ("", "none", "off", "no", "false", "unlimited", "default", "factory", "inf")
_LIST = "pid"  # a list of the three gains
_LEAST_LETTERS = 2  # of P, I and D in one section; one alone may be anything
_ROUNDING = 1e-3
_CURRENTS = ("current_limit", "goal_current")

_OTHER_NAMES = {
    **{
        name: gain
        for letter, gain in zip("pid", GAINS, strict=True)
        for name in (
            f"{letter}_gain",
            f"{letter}_coefficient",
            f"{gain}_gain",
            f"position_{letter}_gain",
            *(f"{section}_{name}" for section in ("gains", "pid") for name in (letter, gain)),
        )
    },
    "homing_offset": "offset",
    "torque_max": "max_torque",
    "max_torque_limit": "max_torque",
    "max_pwm": "pwm_limit",
    "max_current": "current_limit",
    "current_max": "current_limit",
    "goal_current_raw": "goal_current",
    "current_limit_raw": "current_limit",
    "control_mode": "operating_mode",
    "kff": "feedforward",
    "ff": "feedforward",
    "feedforward_gain": "feedforward",
    "feedforward_1st": "feedforward_1st_gain",
    "feedforward_2nd": "feedforward_2nd_gain",
    "minimum_startup_force": "start_torque",
    "min_startup_force": "start_torque",
    "deadband": "dead_band",
    "dead_zone": "dead_band",
    **{
        f"{side}_{setting}": name
        for side in ("cw", "ccw")
        for setting, name in (
            ("dead_zone", "dead_band"),
            ("compliance_margin", "compliance_margin"),
            ("compliance_slope", "compliance_slope"),
        )
    },
    "dead_band_positive": "dead_band",
    "dead_band_negative": "dead_band",
}
"""As registers and other recorders call a setting -> its name here."""


def setting_name(key: str) -> str:
    """Return our name of a setting, whatever its spelling; other keys in small letters with underscores."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", key.strip())  # maxTorque
    plain = re.sub(r"[^a-z0-9]+", "_", words.lower())
    return _OTHER_NAMES.get(plain, plain)


def is_setting(key: str) -> bool:
    """Return whether a key is a gain, a setting of the law, or a section or list of such."""
    return setting_name(key) in (*GAINS, *WITHOUT_EFFECT, _LIST)


def with_usual_names(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return a header whose gains are `kp`, `ki` and `kd`, whatever it calls them, in sections or lists too.

    Raises:
        Conflict: it has two values of one gain.
    """
    given = [(key, name, value) for key, name, value in _settings(header) if name in GAINS]
    aliases = {key for key, _, _ in given}
    aliases |= {key for key, ours in zip(header, _named_gains(header), strict=True) if key != ours}
    renamed = {key: value for key, value in header.items() if key in GAINS or key not in aliases}
    for key, name, value in given:
        if value is not None:
            if renamed.get(name, value) != value:
                raise Conflict(
                    key,
                    f"is {value}, and {name} is {renamed[name]}",
                    expected="one value",
                    advice="remove one of them",
                )
            renamed[name] = value
    return renamed


def passed_over(header: Mapping[str, Any]) -> list[str]:
    """Return keys of a header that hold no setting that is known here, sections included."""
    named = _named_gains(header)
    return [
        key
        for key, ours in zip(header, named, strict=True)
        if not any(is_setting(name) for _, name, _ in _settings({ours: header[key]}))
    ]


def largest_current(header: Mapping[str, Any], limit: float) -> float:
    """Return the largest current, A, that settings allow a servo whose law asks for one; infinite: not known.

    Args:
        header: name -> value.
        limit: of its firmware, A.

    Raises:
        OutOfRange: a value is beyond that, such as a register's count.
    """
    largest = math.inf
    for key, name, value in _settings(header):
        if name in _CURRENTS and (number := _number(name, value)) is not None:
            if not 0.0 < number <= limit * (1.0 + _ROUNDING):
                raise OutOfRange(key, value, f"A, above 0 and up to {limit:g}", advice="convert it")
            largest = min(largest, number)
    return largest


def require_no_other_law(header: Mapping[str, Any], *, of_current: bool = False) -> None:
    """Refuse a setting that changes the law.

    Args:
        header: name -> value, perhaps in sections; other names are passed over.
        of_current: whether the servo's law asks for a current: current-based position mode is its own, and
            `largest_current` has its limit.

    Raises:
        Unsupported: naming the setting.
    """
    for key, name, value in _settings(header):
        if name not in WITHOUT_EFFECT or (of_current and name in _CURRENTS):
            continue
        neutral = WITHOUT_EFFECT[name]
        if name == "operating_mode" and of_current:
            neutral = (CURRENT_POSITION_MODE,)
        number = _number(name, value)
        if number is None or any(math.isclose(number, good) for good in neutral):
            continue
        allowed = " or ".join(f"{good:g}" for good in neutral) or "none"
        why = _WHY.get(name, "no law here has this setting")
        advice = "record without it, or remove the key where it had no effect"
        if name == "operating_mode" and number == CURRENT_POSITION_MODE:
            advice = "name a servo with this law, as in motor: mx106_current"
        shown = f"{number:g}" if math.isfinite(number) else repr(value)
        raise Unsupported(
            key, f"is {shown}, which changes the control law", expected=f"{allowed}: {why}", advice=advice
        )


def _settings(header: Mapping[str, Any], section: str = "") -> Iterator[tuple[str, str, Any]]:
    """Give key, our name and value of all entries; those of sections as `SECTION.KEY`.

    An entry of a section is known by both names, as in `profile_velocity`, else by its own.
    Of a list of several values, all are given, one after the other.
    """
    for key, value in _named_gains(header).items():
        path = f"{section}.{key}" if section else str(key)
        joined = setting_name(path)
        name = joined if section and is_setting(joined) else setting_name(str(key))
        if isinstance(value, Mapping):
            if not section or section.count(".") < 1:
                yield from _settings(value, path)
        elif name == _LIST and isinstance(value, list | tuple) and len(value) == len(GAINS):
            yield from ((path, gain, number) for gain, number in zip(GAINS, value, strict=True))
        elif isinstance(value, list | tuple) and name in WITHOUT_EFFECT:
            yield from ((path, name, number) for number in value)
        else:
            yield path, name, value


def _named_gains(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return a section in which P, I and D are gains, where it has two of these letters at least."""
    letters = {str(key): str(key).lower() for key in section if str(key).lower() in tuple(_LIST)}
    if len(letters) < _LEAST_LETTERS:
        return {str(key): value for key, value in section.items()}
    return {
        f"k{letters[key]}" if (key := str(name)) in letters else key: value for name, value in section.items()
    }


def _number(name: str, value: Any) -> float | None:
    """Return the number of a setting; None: it is off or not known; infinite: other words."""
    if value is None or value is False:
        return None
    if isinstance(value, str):
        words = setting_name(value).strip("_")
        if words in _OFF:
            return None
        if name == "operating_mode":
            words = re.sub(r"_(control|mode)(?=_|$)", "", words)
            if words in _MODES:
                return _MODES[words]
        match = re.match(r"[-+]?\d+(\.\d+)?", value.strip())
        return float(match[0]) if match else math.inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.inf
    return None if math.isnan(value) else float(value)
