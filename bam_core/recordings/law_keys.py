# SPDX-License-Identifier: Apache-2.0
"""Settings of a servo that change its control law, as headers of recordings name them.

No law here has them. So a recording with one of them is read where the setting has no effect, and refused
elsewhere: its motion would be explained by friction and motor constants that the servo does not have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from bam_core.errors import Conflict, Unsupported

_WHOLE = (100.0, 1000.0, 1023.0)  # %, of Feetech's and of Dynamixel's protocol 1.0 registers

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
        "profile_acceleration": (0.0,),
        "profile_velocity": (0.0,),
        "feedforward_1st_gain": (0.0,),
        "feedforward_2nd_gain": (0.0,),
        "operating_mode": (0.0, 3.0, 4.0),  # position control of Feetech's and of Dynamixel's servos
    }
)
"""Name of a setting -> its values that leave the law as it is."""

_WHY = {
    "offset": "angles would be wrong",
    "operating_mode": "position control",
}


_OTHER_NAMES = {
    **{
        name: gain
        for letter, gain in (("i", "ki"), ("d", "kd"))
        for name in (f"{letter}_gain", f"{letter}_coefficient", f"position_{letter}_gain")
    },
    "homing_offset": "offset",
    "torque_max": "max_torque",
    "max_torque_limit": "max_torque",
}
"""As registers and other recorders call a setting -> its name here."""


def setting_name(key: str) -> str:
    """Return our name of a setting, whatever its spelling; other keys in small letters with underscores."""
    plain = re.sub(r"[^a-z0-9]+", "_", key.strip().lower())
    return _OTHER_NAMES.get(plain, plain)


def with_usual_names(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return a header whose integral and derivative gains are `ki` and `kd`, whatever it calls them.

    Raises:
        Conflict: it has two values of one gain.
    """
    renamed = dict(header)
    for key, value in header.items():
        name = setting_name(key)
        if name in ("ki", "kd") and key != name:
            if renamed.get(name, value) != value:
                raise Conflict(
                    key,
                    f"is {value}, and {name} is {renamed[name]}",
                    expected="one value",
                    advice="remove one of them",
                )
            renamed[name] = renamed.pop(key)
    return renamed


def require_no_other_law(header: Mapping[str, Any]) -> None:
    """Refuse a setting that changes the law.

    Args:
        header: name -> value; other names and values that are no numbers are passed over.

    Raises:
        Unsupported: naming the setting.
    """
    for key, value in header.items():
        name = setting_name(key)
        if name not in WITHOUT_EFFECT:
            continue
        neutral = WITHOUT_EFFECT[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            continue
        if not any(math.isclose(value, good) for good in neutral):
            allowed = " or ".join(f"{good:g}" for good in neutral) or "none"
            raise Unsupported(
                key,
                f"is {value:g}, which changes the control law",
                expected=f"{allowed}: {_WHY.get(name, 'no law here has this setting')}",
                advice="record without it, or remove the key where it had no effect",
            )
