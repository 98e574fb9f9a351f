# SPDX-License-Identifier: Apache-2.0
"""The servos that BAM's program knows, and what its parameter files hold of a control law.

Names, supplies, gains and limits are those of github.com/Rhoban/bam: its main branch of 2026-08, the branch
`add_sts3215_12v_params`, and for the XC330 a parameter file of apirrone/Open_Duck_Mini.

| key of BAM | here |
|---|---|
| error_gain_ratio | effect firmware_gain: ratio · BAM's gain / gain of the firmware - 1 |
| max_velocity | effect goal_slew_time, its reciprocal |
| command_delay | bench effect command_delay |
| current_limit | current_limit of a firmware that asks for a current |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.firmware_laws import CurrentFirmware, VoltageFirmware

RATIO, SPEED, DELAY, CURRENT = "error_gain_ratio", "max_velocity", "command_delay", "current_limit"

LAW_KEYS: Mapping[str, str] = MappingProxyType({RATIO: "-", SPEED: "rad/s", DELAY: "s", CURRENT: "A"})
"""Keys that are neither motor nor friction -> their unit."""

_STS_SPEED = 3400.0 * 2.0 * math.pi / 4096.0  # rad/s; BAM's program takes it where a file has none


@dataclass(frozen=True, kw_only=True)
class BamActuator:
    """A servo of BAM's program.

    Attributes:
        servo: the library's, with the law that BAM's program simulates, the supply and the search ranges.
        gain: duty per unit of kp and rad of error in BAM's program, 1/rad; None: that of the servo.
        defaults: keys of `LAW_KEYS` that its parameter files have -> what its program takes without them.
    """

    servo: str
    gain: float | None = None
    defaults: Mapping[str, float] = field(default_factory=dict)


_UNLIMITED = 1e4  # rad/s
_FEETECH_GAIN = 0.166  # 1/rad per unit of kp, measured by BAM's authors with an oscilloscope

ACTUATORS: Mapping[str, BamActuator] = MappingProxyType(
    {
        "erob80_100": BamActuator(servo="erob80_100"),
        "erob80_50": BamActuator(servo="erob80_50"),
        "feetech_hls": BamActuator(servo="published/hls2915", defaults={CURRENT: 1.37}),
        "mx106": BamActuator(servo="mx106"),
        "mx64": BamActuator(servo="mx64"),
        "sts3215": BamActuator(
            servo="published/sts3215_7v4", gain=_FEETECH_GAIN, defaults={RATIO: 1.0, SPEED: _STS_SPEED}
        ),
        "sts321512v": BamActuator(
            servo="published/sts3215_12v", gain=_FEETECH_GAIN, defaults={RATIO: 1.0, SPEED: _STS_SPEED}
        ),
        "waveshare_st3025": BamActuator(servo="published/st3025", gain=_FEETECH_GAIN, defaults={RATIO: 1.0}),
        "xc330m288t": BamActuator(servo="published/xc330"),
        "xl320": BamActuator(servo="xl320"),
        "xl330": BamActuator(servo="xl330"),
    }
)
"""What BAM's program and our library both know, by BAM's name."""

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "feetech_sts3215_12V": "sts321512v",
        "feetech_sts3215_7_4V": "sts3215",
        "sts3215_12V": "sts321512v",
        "sts3215_7_4V": "sts3215",
        "xc330": "xc330m288t",
    }
)
"""Other names, such as those of BAM's folders -> the name in ACTUATORS."""

BAM_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "sts3215": "sts321512v",
        "sts3215_7v4": "sts3215",
        "hls2915": "feetech_hls",
        "st3025": "waveshare_st3025",
        "xc330": "xc330m288t",
    }
)
"""Name of a servo here -> BAM's, where they differ: BAM's sts3215 is the version for 7.4 V."""


def bam_name(text: str) -> str:
    """Return BAM's name of an actuator, whose letters may be small or capital, and which may be an alias."""
    known = {name.lower(): name for name in (*ACTUATORS, *ALIASES, *UNSUPPORTED)}
    name = known.get(text.strip().lower(), text)
    return ALIASES.get(name, name)


UNSUPPORTED: Mapping[str, str] = MappingProxyType(
    {
        "unitree_go1": "it asks for a torque, and its file has no motor (kt, R)",
        "xl330i": "its law holds the current of the supply (duty · motor current), which no law here does",
    }
)
"""Actuators of BAM whose law cannot be expressed here -> why."""


def law_effects(
    given: Mapping[str, float], firmware: PositionFirmware, gain: float | None
) -> tuple[PositionFirmware, dict[str, float], float]:
    """Return firmware, effects of the servo, and delay of commands [s] that keys of BAM's amount to.

    Args:
        given: those of `LAW_KEYS` that count.
        firmware: of the servo.
        gain: BAM's, see `BamActuator`.
    """
    effects: dict[str, float] = {}
    if RATIO in given and isinstance(firmware, VoltageFirmware):
        base = firmware.duty_per_kp_rad
        effects["firmware_gain"] = given[RATIO] * (base if gain is None else gain) / base - 1.0
    if SPEED in given:
        effects["goal_slew_time"] = 1.0 / given[SPEED]
    if CURRENT in given and isinstance(firmware, CurrentFirmware):
        firmware = replace(firmware, current_limit=given[CURRENT])
    return firmware, effects, given.get(DELAY, 0.0)


def law_keys(
    firmware: PositionFirmware, effects: ServoEffects, bench_effects: BenchEffects, actuator: BamActuator
) -> dict[str, float]:
    """Return the keys with which BAM's program simulates this firmware; the reverse of `law_effects`.

    A set-point that jumps is written as one that is faster than any servo.
    """
    keys: dict[str, float] = {}
    if RATIO in actuator.defaults and isinstance(firmware, VoltageFirmware):
        base = firmware.duty_per_kp_rad
        gain = base if actuator.gain is None else actuator.gain
        keys[RATIO] = (1.0 + effects.firmware_gain) * base / gain
    if SPEED in actuator.defaults:
        keys[SPEED] = min(effects.goal_speed_limit(firmware.goal_speed_limit), _UNLIMITED)
    if bench_effects.command_delay > 0.0:
        keys[DELAY] = bench_effects.command_delay
    if CURRENT in actuator.defaults and isinstance(firmware, CurrentFirmware):
        keys[CURRENT] = firmware.current_limit
    return keys
