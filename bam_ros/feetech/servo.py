# SPDX-License-Identifier: Apache-2.0
"""One Feetech servo on the bus: made ready, its control law, its measured state in SI units."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from bam_core.errors import Conflict
from bam_core.servo.firmware import find_firmware
from bam_ros.dynamixel.servo import DynamixelServo, Measured
from bam_ros.feetech.control_table import FAST_FACTOR, SLOW_UNIT

ALL_ANSWERS = 1
"""Status return level at which a servo confirms every packet; at 0 it answers pings and reads only."""
_POSITION_MODE, _LOCKED = 0, 1
_FASTEST_AT_0 = 0x08  # bit of phase: clear where a goal_velocity of 0 means stop
_PLAIN_DEAD_BAND = 1  # counts; what the control law of the firmware has


class FeetechServo(DynamixelServo):
    """One servo of the STS or SMS series; arguments and attributes as DynamixelServo.

    The lock of its EEPROM stays on, so that nothing that this driver writes survives power-off. It has no
    watchdog: when its master is gone it holds its last goal. The guardian process of the bus is all there is.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._speed_factor = 1

    def prepare(self) -> None:
        """Release the servo and set it up to follow positions at once.

        Raises:
            Conflict: its settings do not fit, such as several turns.
            BamError: no answer.
        """
        if self.read("status_return_level") != ALL_ANSWERS:
            self.link.write_unconfirmed(self.id, self.table["torque_enable"], 0)
            self.link.write_unconfirmed(self.id, self.table["status_return_level"], ALL_ANSWERS)
        self.release()
        self.warnings.clear()
        self.ensure("lock", _LOCKED)
        self._borrowed.set(self, "operating_mode", _POSITION_MODE)
        phase = self.read("phase")
        self._speed_factor = 1 if phase & SLOW_UNIT else FAST_FACTOR
        fastest = self.read("max_velocity_limit") * FAST_FACTOR // self._speed_factor
        self._borrowed.set(self, "goal_velocity", 0 if phase & _FASTEST_AT_0 else fastest)
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
        self._read_limits()

    def _read_law(self) -> None:
        super()._read_law()
        lines = self._unmodelled()
        if lines:
            self.law = replace(self.law, unmodelled="; ".join(lines))
            self.warnings += lines

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

    def decode(self, data: bytes, error: int) -> Measured:
        """Return the state from the block of `MEASURED` registers and the status packet's error byte.

        The current has the sign of the duty: these servos report its magnitude only.
        """
        state = super().decode(data, error)
        return state._replace(
            velocity=state.velocity * self._speed_factor, current=math.copysign(state.current, state.duty)
        )
