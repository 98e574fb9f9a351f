# SPDX-License-Identifier: Apache-2.0
"""CiA 402 (IEC 61800-7-201) as pure logic: status words, ways to a state, fault reset, counts and angles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum, IntEnum

from bam_ros.erob.objects import COUNTS_PER_TURN


class DriveState(Enum):
    """State of a drive's power state machine."""

    NOT_READY = "not ready to switch on"
    SWITCH_ON_DISABLED = "switch on disabled"
    READY_TO_SWITCH_ON = "ready to switch on"
    SWITCHED_ON = "switched on"
    OPERATION_ENABLED = "operation enabled"
    QUICK_STOP_ACTIVE = "quick stop active"
    FAULT_REACTION_ACTIVE = "fault reaction active"
    FAULT = "fault"
    UNKNOWN = "unknown"  # a status word that the profile does not have

    @property
    def is_fault(self) -> bool:
        """Whether only a fault reset leads out of it."""
        return self in (DriveState.FAULT, DriveState.FAULT_REACTION_ACTIVE)


class Mode(IntEnum):
    """Modes of operation (0x6060) in which the master sets a target in every cycle."""

    CYCLIC_TORQUE = 10

    @property
    def supported_bit(self) -> int:
        """Its bit in the supported modes of a drive (0x6502)."""
        return 1 << (self - 1)


_STATES_4F = {
    0x00: DriveState.NOT_READY,
    0x40: DriveState.SWITCH_ON_DISABLED,
    0x0F: DriveState.FAULT_REACTION_ACTIVE,
    0x08: DriveState.FAULT,
}
_STATES_6F = {
    0x21: DriveState.READY_TO_SWITCH_ON,
    0x23: DriveState.SWITCHED_ON,
    0x27: DriveState.OPERATION_ENABLED,
    0x07: DriveState.QUICK_STOP_ACTIVE,
}
_STATES = tuple(
    _STATES_4F.get(word & 0x4F) or _STATES_6F.get(word & 0x6F) or DriveState.UNKNOWN for word in range(128)
)

DISABLE_VOLTAGE = 0x0000
SHUTDOWN = 0x0006
SWITCH_ON = 0x0007
ENABLE_OPERATION = 0x000F
FAULT_RESET = 0x0080

_NEXT_TOWARDS_ENABLED = {
    DriveState.SWITCH_ON_DISABLED: SHUTDOWN,
    DriveState.READY_TO_SWITCH_ON: SWITCH_ON,
    DriveState.SWITCHED_ON: ENABLE_OPERATION,
    DriveState.OPERATION_ENABLED: ENABLE_OPERATION,
}


def decode_status(word: int) -> DriveState:
    """Return the state of a status word (0x6041)."""
    return _STATES[word & 0x7F]


def is_line_fault(code: int) -> bool:
    """Return whether a fault code (0x603F) blames the bus: communication, its protocol, its clock."""
    return code & 0xFF00 in (0x7500, 0x8100, 0x8200, 0x8700, 0xA000)


def next_controlword(state: DriveState, *, enable: bool) -> int:
    """Return the control word (0x6040) of the next transition on the way to torque on, or to torque off.

    A fault is not left this way, and a quick stop goes through "switch on disabled".
    """
    return _NEXT_TOWARDS_ENABLED.get(state, DISABLE_VOLTAGE) if enable else DISABLE_VOLTAGE


class PowerSwitch:
    """Leads a drive to torque on or off, one control word per cycle; resets a fault only on request.

    Drives take a fault reset on the rising edge of its bit, so every attempt begins with the bit at zero.
    """

    def __init__(self) -> None:
        self._resetting = False
        self._edge = False

    @property
    def resetting(self) -> bool:
        """Whether a reset was asked for and the fault is still there."""
        return self._resetting

    def reset_fault(self) -> None:
        """Ask for a fault reset with the next cycles."""
        self._resetting = True
        self._edge = False

    def give_up(self) -> None:
        """Ask for no reset any more."""
        self._resetting = self._edge = False

    def controlword(self, state: DriveState, *, enable: bool) -> int:
        """Return the control word for the next cycle."""
        if not state.is_fault:
            self.give_up()
            return next_controlword(state, enable=enable)
        if not self._resetting or state is DriveState.FAULT_REACTION_ACTIVE:
            return DISABLE_VOLTAGE
        self._edge = not self._edge
        return DISABLE_VOLTAGE if self._edge else FAULT_RESET


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """Counts of a drive as angles of its joint: θ = direction·(counts·2π/counts_per_turn) - zero.

    The home offset of the drive (0x607C) is already in its counts; `zero` is what the joint needs beside it.

    Attributes:
        counts_per_turn: counts per turn of the output shaft.
        zero: angle that the drive reports as 0, where the arm hangs straight down, rad: what is taken off.
        direction: 1, or -1 where the drive counts clockwise.
    """

    counts_per_turn: int = COUNTS_PER_TURN
    zero: float = 0.0
    direction: int = 1

    @property
    def resolution(self) -> float:
        """One count, rad."""
        return 2.0 * math.pi / self.counts_per_turn

    def angle(self, counts: int) -> float:
        """Return the joint's angle, rad."""
        return self.direction * counts * self.resolution - self.zero

    def rate(self, counts_per_second: float) -> float:
        """Return the joint's velocity, rad/s."""
        return self.direction * counts_per_second * self.resolution

    def counts(self, angle: float) -> int:
        """Return the counts nearest to an angle of the joint in rad."""
        return round(self.direction * (angle + self.zero) / self.resolution)

    def limits(self) -> tuple[float, float]:
        """Return the lowest and highest angle that 32 bits of counts hold, rad."""
        ends = self.angle(-(2**31)), self.angle(2**31 - 1)
        return min(ends), max(ends)
