# SPDX-License-Identifier: Apache-2.0
"""What a servo's registers make of its control law: what the driver sets, what limits it, what no model has.

Identification assumes a proportional controller that follows its goal at once, up to a limit of its duty.
Profiles, feed-forward gains and the like are therefore off while a driver is at work, and hold afterwards
what they held before. Limits that protect a servo are never raised; the driver reports them instead.
"""

from __future__ import annotations

from typing import Protocol

from bam_core.servo.firmware_library import find_firmware
from bam_ros.dynamixel.control_table import ControlTable

_PWM_LIMITS, _TORQUE_LIMITS = ("pwm_limit", "goal_pwm"), ("max_torque", "torque_limit")
"""Registers that limit a servo's duty: what it keeps without power, and what is in force."""
_REVERSE, _SLAVE = 1, 2  # bits of drive_mode
_PWM_SLOPE = "pwm_slope"


class Registers(Protocol):
    """The registers of one servo."""

    def read(self, register: str) -> int:
        """Return a register's count; raises BamError."""

    def write(self, register: str, count: int) -> None:
        """Write a register's count; raises BamError."""


class BorrowedRegisters:
    """RAM registers of one servo that a driver has changed, and what they held before.

    It outlives the connection: a register that still holds what the driver wrote before the port vanished is
    not taken for the user's.

    Attributes:
        torque_limit: of a Protocol 1.0 servo before a shutdown set it to 0, counts; 0 where it is not known.
        pointers: address of its first indirect address, and what they held; None: they were not changed.
    """

    def __init__(self) -> None:
        self.torque_limit = 0
        self.pointers: tuple[int, bytes] | None = None
        self._before: dict[str, int] = {}
        self._set: dict[str, int] = {}

    def set(self, servo: Registers, register: str, count: int) -> None:
        """Write a register where it holds something else, and remember what; raises BamError."""
        held = servo.read(register)
        if held != self._set.get(register):
            self._before[register] = held
        if held != count:
            servo.write(register, count)
        self._set[register] = count

    def restore(self, servo: Registers) -> None:
        """Write what registers held before; raises BamError, and then may be called again."""
        for register in tuple(self._before):
            count = self._before[register]
            if servo.read(register) != count:
                servo.write(register, count)
            del self._before[register], self._set[register]


def limit_registers(table: ControlTable) -> tuple[str, ...]:
    """Return the registers that limit a servo's duty; none where it has no such registers."""
    return next(
        (pair for pair in (_PWM_LIMITS, _TORQUE_LIMITS) if all(register in table for register in pair)), ()
    )


def limit_in_force(servo: Registers, table: ControlTable, borrowed: BorrowedRegisters) -> int:
    """Return the largest duty that a servo's `limit_registers` allow, counts; raises BamError.

    A Protocol 1.0 servo whose torque limit a shutdown has set to 0 gets the one before back when torque goes
    on, or `max_torque` where that is not known.
    """
    if limit_registers(table) == _PWM_LIMITS:
        return min(abs(servo.read("goal_pwm")), servo.read("pwm_limit"))
    most = servo.read("max_torque")
    borrowed.torque_limit = servo.read("torque_limit") or borrowed.torque_limit
    return min(borrowed.torque_limit or most, most)


def own_duty(table: ControlTable) -> float:
    """Return the largest duty, 0..1, that a servo's firmware applies."""
    return find_firmware(table.position_firmware).demand_limit if table.position_firmware else 1.0


def duty_of(limit: int, table: ControlTable) -> float:
    """Return the largest duty, 0..1, under a limit in counts.

    Protocol 1.0 servos scale their largest duty by it, Protocol 2.0 servos cut their duty off there.
    """
    own, share = own_duty(table), limit * table[limit_registers(table)[0]].unit.scale
    return own * share if table.protocol == 1 else min(own, share)


def unmodelled_settings(servo: Registers, name: str, table: ControlTable) -> list[str]:
    """Return a line for each setting under which a servo does not follow the model of its firmware.

    They are in the EEPROM and someone's intention, so that they stay as they are. Raises BamError.

    Args:
        servo: to be asked.
        name: of its joint.
        table: its control table.
    """
    lines = []
    if not table.position_firmware:
        lines.append(
            f"{name}: no model here has the control law of {table.title} ({table.law}); command it, but do"
            " not identify it"
        )
    mode = servo.read("drive_mode") if "drive_mode" in table else 0
    if mode & _REVERSE:
        lines.append(
            f"{name}: reverse mode, positive is clockwise (expected counter-clockwise);"
            " clear bit 0 of its register drive_mode"
        )
    if mode & _SLAVE and table["drive_mode"].high & _SLAVE:
        lines.append(
            f"{name}: slave of another servo, whose duty it applies (expected its own control law);"
            " clear bit 1 of its register drive_mode"
        )
    if _PWM_SLOPE in table and servo.read(_PWM_SLOPE) != table[_PWM_SLOPE].initial:
        lines.append(
            f"{name}: {_PWM_SLOPE} is {servo.read(_PWM_SLOPE)} (expected {table[_PWM_SLOPE].initial}, as its"
            f" firmware was measured); write that into its register {_PWM_SLOPE}"
        )
    return lines
