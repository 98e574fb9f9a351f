# SPDX-License-Identifier: Apache-2.0
"""One Feetech servo on the bus: made ready, its control law, its measured state in SI units."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from bam_core.errors import Conflict
from bam_core.servo.firmware_library import find_firmware
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.servo_bus import RegisterValue
from bam_ros.dynamixel.errors import NoMode
from bam_ros.dynamixel.register import Register
from bam_ros.dynamixel.servo import DynamixelServo
from bam_ros.feetech.control_table import FAST_FACTOR, SLOW_UNIT

ALL_ANSWERS = 1
"""Status return level at which a servo confirms every packet; at 0 it answers pings and reads only."""
_LOCKED = 1
_FASTEST_AT_0 = 0x08  # bit of phase: clear where a goal_velocity of 0 means stop
_PLAIN_DEAD_BAND = 1  # counts; what the control law of the firmware has
# 1/1000 of the duty: the law was measured with an offset of 9 at kp 32; a published dump of an SO-101 has 16.
# What the register does is not documented. Recordings show none that is the same at every kp, see
# docs/reference/feetech.md.
_USUAL_START_TORQUE = (9, 16)


class FeetechServo(DynamixelServo):
    """One servo of the STS or SMS series; arguments and attributes as DynamixelServo.

    The lock of its EEPROM stays on, so that nothing that this driver writes survives power-off. It has no
    watchdog: when its master is gone it holds its last goal. The guardian process of the bus is all there is.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._speed_factor = 1

    def prepare(self) -> None:
        """Release the servo and set it up to follow positions, velocities or duties at once.

        Raises:
            NoMode: it takes no current.
            Conflict: its settings do not fit, such as several turns.
            BamError: no answer.
        """
        if self.read("status_return_level") != ALL_ANSWERS:
            self.link.write_unconfirmed(self.id, self.table["torque_enable"], 0)
            self.link.write_unconfirmed(self.id, self.table["status_return_level"], ALL_ANSWERS)
        self.release()
        self.warnings.clear()
        self.ensure("lock", _LOCKED)
        mode = self.table.mode(self.kind)
        if mode is None:
            raise NoMode(self.name, self.table, self.kind)
        for register, count in mode.items():
            self._borrowed.set(self, register, count)
        phase = self.read("phase")
        self._speed_factor = 1 if phase & SLOW_UNIT else FAST_FACTOR
        fastest = self.read("max_velocity_limit") * FAST_FACTOR // self._speed_factor
        by_velocity = self.kind is CommandKind.VELOCITY
        self._borrowed.set(self, "goal_velocity", 0 if by_velocity or phase & _FASTEST_AT_0 else fastest)
        if self.kind is CommandKind.DUTY:
            self._borrowed.set(self, "goal_pwm", 0)
        self._borrowed.set(self, "goal_acceleration", 0)
        self._read_law()
        resolution = self.read("angle_resolution")
        if resolution != 1:
            raise Conflict(
                self.name,
                f"its register angle_resolution is {resolution}: it counts several turns",
                expected="1",
                advice="write 1 into register 30",
            )
        if self._by_position:
            self._read_limits()
            return
        unit = self.table[self.goal_register].unit.scale
        if by_velocity:
            self.setpoint_limit = unit * FAST_FACTOR * self.read("max_velocity_limit")
        else:
            self.setpoint_limit = unit * self.read("torque_limit")

    def setpoint_count(self, setpoint: float) -> int:
        """Return the count of its goal register; a velocity in the unit that its register phase selects."""
        return super().setpoint_count(setpoint / self._setpoint_factor)

    def setpoint_si(self, count: int) -> float:
        """Return the velocity or duty of a count of its goal register."""
        return super().setpoint_si(count) * self._setpoint_factor

    @property
    def _setpoint_factor(self) -> int:
        return self._speed_factor if self.kind is CommandKind.VELOCITY else 1

    def firmware(self) -> str:
        """Return the version of its firmware, read from it; raises BamError."""
        return f"{self.read('firmware_major_version')}.{self.read('firmware_minor_version')}"

    def _read_law(self) -> None:
        super()._read_law()
        lines = self._unmodelled()
        if lines:
            self.law = replace(self.law, unmodelled="; ".join(lines))
            self.warnings += lines
        self.warnings += self._unverified()

    def _read_limits(self) -> None:
        """Read the position limits; raises Conflict where they allow no position mode."""
        low, high = (
            self.table["goal_position"].to_si(self.read(f"{end}_position_limit")) for end in ("min", "max")
        )
        if not low < high:
            raise Conflict(
                self.name,
                f"not in position mode (angle limits {low:.3g} and {high:.3g} rad)",
                advice="write 0 and 4095 into its registers 9 and 11",
            )
        step = self.table["goal_position"].unit.scale
        self._ends, self.limits = (low, high), (low - step, high + step)

    def _unmodelled(self) -> list[str]:
        """Return a line for each setting that the control law of the firmware does not have."""
        lines = []
        for register in ("dead_band_positive", "dead_band_negative"):
            count = self.read(register)
            if count > _PLAIN_DEAD_BAND:
                lines.append(
                    f"{self.name}: {register} is {count} (expected {_PLAIN_DEAD_BAND}, as its firmware was"
                    f" measured); write that into its register {self.table[register].address}"
                )
        protection = find_firmware(self.table.position_firmware).protection
        if protection is not None:
            wanted = {
                "overload_torque": protection.threshold,
                "protection_time": protection.time,
                "holding_torque": protection.limit,
            }
            for register, value in wanted.items():
                count, expected = self.read(register), self.table[register].from_si(value)
                if count != expected:
                    lines.append(
                        f"{self.name}: {register} is {count} (expected {expected}, the factory's); recordings"
                        " of overload differ from the model"
                    )
        return lines

    def _unverified(self) -> list[str]:
        """Return a line for each setting whose effect on the control law no document gives."""
        lines = []
        least, most = _USUAL_START_TORQUE
        start = self.read("start_torque")
        if not least <= start <= most:
            lines.append(
                f"{self.name}: start_torque is {start} (expected {least} to {most}, as servos come);"
                " small errors move it otherwise than its model; write one of them into its register"
                f" {self.table['start_torque'].address}"
            )
        if limit := self.read("integral_limit"):
            lines.append(
                f"{self.name}: integral_limit is {limit} (expected 0, the factory's); with an I gain, it"
                " holds smaller loads than its model; write that into its register"
                f" {self.table['integral_limit'].address}"
            )
        return lines

    def meaning(self, register: Register, count: int) -> RegisterValue:
        """Return what a count of a register means on this servo; its register phase scales speeds."""
        held = super().meaning(register, count)
        return replace(held, value=held.value * self._speed_factor) if held.unit == "rad/s" else held

    def measured(self, data: bytes) -> list[float] | None:
        """Return what its block holds; the current with the sign of the duty: servos report its magnitude."""
        measured = self.block.measured(data)
        if measured is not None:
            position, velocity, current, duty, *others = measured
            measured = [position, velocity * self._speed_factor, math.copysign(current, duty), duty, *others]
        return measured
