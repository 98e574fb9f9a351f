# SPDX-License-Identifier: Apache-2.0
"""Hardware errors of servos in one line, with what to do."""

from __future__ import annotations

CURES = {
    "INPUT_VOLTAGE": "check the supply and its cable against the servo's voltage limits",
    "OVERHEATING": "let the servo cool down, then reduce load or duty cycle",
    "OVERLOAD": "free the shaft or reduce the load",
    "ENCODER": "reboot the servo; if it persists its position sensor is broken",
    "ELECTRICAL_SHOCK": "check wiring and supply current, then reboot the servo",
    "ANGLE_LIMIT": "keep goals within the servo's position limits",
    "RANGE": "keep written values within their registers' ranges",
    "CHECKSUM": "check cable length, termination and baud rate",
    "INSTRUCTION": "check that the configured protocol matches the servo's firmware",
    "DRIVE": "see /diagnostics for its name, then reboot the servo",
}
"""Name of a bit of `ServoStates.hardware_error` -> what to do, in the order in which they are reported."""


def hardware_error_line(joint: str, name: str, bit: int) -> str:
    """Return the line of an error.

    Args:
        joint: of the servo.
        name: of `CURES`.
        bit: of `ServoStates.hardware_error`.
    """
    return f"{joint}: hardware error {name.lower().replace('_', ' ')} (bit {bit:#x}); {CURES[name]}"
