# SPDX-License-Identifier: Apache-2.0
"""Torque constants of servos on a bus, from the library: a bus reports models and currents."""

from __future__ import annotations

import math
from collections.abc import Container
from functools import cache

from bam_core.servo.model import load_servo, servo_names

_SPREAD = 0.1
"""Relative difference of torque constants between units of a type; the two XL330 here differ by 3 %."""


def torque_constant(servo: str, tables: Container[str]) -> float:
    """Return the torque constant at the output shaft, N·m/A; NaN where it is not known.

    That is where the library has no such servo, or several with one model number and other motors, as the
    STS3215 for 12 V and for 7.4 V.

    Args:
        servo: name of its control table.
        tables: names of all control tables; servos of the library with other names have none of their own.
    """
    named = [
        name
        for name in servo_names()
        if name == servo or (name.startswith(f"{servo}_") and name not in tables)
    ]
    constants = [_constant(name) for name in named]
    if servo not in named or max(constants) > (1.0 + _SPREAD) * min(constants):
        return math.nan
    return _constant(servo)


@cache
def _constant(servo: str) -> float:
    return load_servo(servo).motor.torque_constant
