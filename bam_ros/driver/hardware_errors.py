# SPDX-License-Identifier: Apache-2.0
"""Hardware errors that servos report: the bits of `bam_bench/msg/ServoStates`, each with its cure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag
from types import MappingProxyType

from bam_bench.msg import ServoStates


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

_CURES: Mapping[HardwareError, str] = MappingProxyType(
    {
        HardwareError.INPUT_VOLTAGE: "check the supply and its cable against the servo's voltage limits",
        HardwareError.OVERHEATING: "let the servo cool down, then reduce load or duty cycle",
        HardwareError.OVERLOAD: "free the shaft or reduce the load",
        HardwareError.ENCODER: "reboot the servo; if it persists its position sensor is broken",
        HardwareError.ELECTRICAL_SHOCK: "check wiring and supply current, then reboot the servo",
        HardwareError.ANGLE_LIMIT: "keep goals within the servo's position limits",
        HardwareError.RANGE: "keep written values within their registers' ranges",
        HardwareError.CHECKSUM: "check cable length, termination and baud rate",
        HardwareError.INSTRUCTION: "check that the configured protocol matches the servo's firmware",
        HardwareError.DRIVE: "see /diagnostics for its name, then reboot the servo",
    }
)


def describe_hardware_errors(joint: str, bits: int) -> tuple[str, ...]:
    """Return one line per error bit that is set: the joint, the error's name, what to do."""
    return tuple(
        f"{joint}: hardware error {(error.name or '').lower().replace('_', ' ')} (bit {error:#x}); {cure}"
        for error, cure in _CURES.items()
        if bits & error
    )
