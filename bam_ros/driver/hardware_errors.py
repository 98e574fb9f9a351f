# SPDX-License-Identifier: Apache-2.0
"""Hardware errors that servos report: the bits of `bam_bench/msg/ServoStates`."""

from __future__ import annotations

from enum import IntFlag

from bam_bench.msg import ServoStates

from bam_ros.text.hardware_error_words import CURES, hardware_error_line


class HardwareError(IntFlag):
    """Error bits of `ServoStates.hardware_error`."""

    INPUT_VOLTAGE = ServoStates.ERROR_INPUT_VOLTAGE
    OVERHEATING = ServoStates.ERROR_OVERHEATING
    OVERLOAD = ServoStates.ERROR_OVERLOAD
    ENCODER = ServoStates.ERROR_ENCODER
    ELECTRICAL_SHOCK = ServoStates.ERROR_ELECTRICAL_SHOCK
    ANGLE_LIMIT = ServoStates.ERROR_ANGLE_LIMIT
    RANGE = ServoStates.ERROR_RANGE
    CHECKSUM = ServoStates.ERROR_CHECKSUM
    INSTRUCTION = ServoStates.ERROR_INSTRUCTION
    DRIVE = ServoStates.ERROR_DRIVE


FATAL = (
    HardwareError.INPUT_VOLTAGE
    | HardwareError.OVERHEATING
    | HardwareError.OVERLOAD
    | HardwareError.ENCODER
    | HardwareError.ELECTRICAL_SHOCK
    | HardwareError.DRIVE
)
"""Errors of the servo itself, after which torque is released; the others concern a single packet."""


def describe_hardware_errors(joint: str, bits: int) -> tuple[str, ...]:
    """Return one line per error bit that is set: the joint, the error's name, what to do."""
    return tuple(
        hardware_error_line(joint, name, HardwareError[name]) for name in CURES if bits & HardwareError[name]
    )
