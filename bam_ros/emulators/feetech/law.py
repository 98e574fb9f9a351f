# SPDX-License-Identifier: Apache-2.0
"""From the registers of a Feetech servo to the bench's commands: position, speed, duty and step modes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bam_core.servo.firmware_library import find_firmware
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.register_file import RegisterFile
from bam_ros.feetech.control_table import FAST_FACTOR, SLOW_UNIT

POSITION, SPEED, PWM, STEP = range(4)
"""Values of operating_mode."""
HLS_CURRENT, HLS_PWM = 2, 3
"""Those of HLS servos, which regulate their current."""
TORQUE_OFF, TORQUE_ON, DAMPING, CALIBRATE = 0, 1, 2, 128
"""Values of torque_enable."""
_REVERSED, _HLS_REVERSED = 0x81, 0x86  # bits of phase: driver and feedback, of HLS the current as well
# The maker's tables give P/4 and D/8: thousandths of full duty per count of error, and per count in a time
# that they do not give. P/4 is 0.163 duty/(rad·kp), beside 0.165 measured. With 20 ms, the register DTs of
# SCS servos, D/8 is the `kd_scale` of the library, 10 ms.
_I_OVER_P = 1.0 / 256.0  # per period; no document gives it
# HLS has P/8 and D/4. Assumed, for no document gives their units: thousandths of full duty, as of STS.
_HLS_P, _HLS_D = 0.5, 2.0  # of those of STS
_SPEED_P, _SPEED_I = 1e-3, 1e-4  # duty per rad/s, and per (rad/s)·tick, per unit; no document gives them


class FeetechLaw:
    """The control laws of one servo.

    Args:
        registers: of the servo.
    """

    def __init__(self, registers: RegisterFile) -> None:
        self._registers = registers
        table = registers.table
        firmware = find_firmware(table.position_firmware)
        unit = table["present_position"].unit
        self.counts_per_turn = round(2.0 * math.pi / unit.scale)
        self.centre = unit.zero
        self._bench_per_count = unit.scale * k.COUNTS_PER_RAD
        self._duty_per_kp = float(firmware.gains(1.0)[0]) / k.COUNTS_PER_RAD
        self._duty_per_kd = self._duty_per_kp * (firmware.kd_scale or 0.0) / k.TICK
        self._duty_limit = firmware.demand_limit
        self._speed_limit = firmware.goal_speed_limit
        self._is_hls = "goal_current" in table
        if self._is_hls:
            self._duty_per_kp *= _HLS_P
            self._duty_per_kd *= _HLS_D
        self.holding = False
        """Overload has reduced the duty to that of register holding_torque."""

    def sign(self) -> int:
        """Return -1 where both directions are reversed."""
        reversed_ = _HLS_REVERSED if self._is_hls else _REVERSED
        return -1 if self._registers.get("phase") & reversed_ == reversed_ else 1

    def offset(self) -> int:
        """Return the homing offset in counts: present position = actual position - offset."""
        table = self._registers.table
        if "homing_offset" not in table:
            return 0
        register = table["homing_offset"]
        return round(register.to_si(self._registers.get("homing_offset")) / register.unit.scale)

    def actual(self, count: int) -> int:
        """Return the encoder's count, 0 to one turn, for a bench count (0: arm down)."""
        return (self.centre + self.sign() * round(count / self._bench_per_count)) % self.counts_per_turn

    def to_register(self, count: int) -> int:
        """Return the present position for a bench count."""
        return (self.actual(count) - self.offset()) % self.counts_per_turn

    def to_count(self, register: int) -> float:
        """Return the bench count of a goal position."""
        magnitude = register & 0x7FFF
        counts = -magnitude if register & 0x8000 else magnitude
        low, high = self._registers.get("min_position_limit"), self._registers.get("max_position_limit")
        if low < high:
            counts = min(max(counts, low), high)
        return self.sign() * (counts + self.offset() - self.centre) * self._bench_per_count

    def velocity(self, name: str) -> float:
        """Return a speed register in rad/s."""
        return self._registers.table[name].to_si(self._registers.get(name)) * self.speed_factor()

    def speed_factor(self) -> int:
        """Return how many counts/s a unit of the speed registers is."""
        slow = self.centre == 512 or (not self._is_hls and self._registers.get("phase") & SLOW_UNIT)
        return 1 if slow else FAST_FACTOR

    def _duty(self, name: str) -> float:
        return self._registers.table[name].to_si(self._registers.get(name))

    def configure(self, commands: NDArray[np.float64]) -> None:
        """Fill the bench's commands from the registers, for a servo whose torque is on."""
        get, table = self._registers.get, self._registers.table
        mode = get("operating_mode") if "operating_mode" in table else POSITION
        limit = self._duty("torque_limit" if "torque_limit" in table else "max_torque")
        if self.holding:
            limit *= self._duty("holding_torque")
        commands[k.DUTY_LIMIT] = min(limit, self._duty_limit)
        commands[k.CURRENT_LIMIT] = math.inf
        acceleration = self._duty("goal_acceleration") if "goal_acceleration" in table else 0.0
        commands[k.PROFILE_ACCELERATION] = acceleration
        if get("torque_enable") == DAMPING:
            commands[k.MODE] = k.BRAKE
        elif self._is_hls and mode == HLS_CURRENT:
            commands[k.MODE] = k.CURRENT_MODE
            commands[k.GOAL_CURRENT] = self.sign() * self._duty("goal_current")
        elif self._is_hls and mode == HLS_PWM:
            commands[k.MODE] = k.DUTY_MODE
            commands[k.GOAL_DUTY] = self.sign() * table["present_load"].to_si(get("goal_current"))
        elif mode == PWM:
            commands[k.MODE] = k.DUTY_MODE
            commands[k.GOAL_DUTY] = self.sign() * self._duty("goal_pwm")
        elif mode == SPEED:
            commands[k.MODE] = k.VELOCITY_MODE
            commands[k.GOAL_VELOCITY] = self.sign() * self.velocity("goal_velocity")
            commands[k.P_GAIN] = _SPEED_P * get("velocity_p_gain")
            commands[k.I_GAIN] = _SPEED_I * get("velocity_i_gain")
        else:
            self._follow(commands)

    def aim(self, commands: NDArray[np.float64]) -> None:
        """Fill in what depends on the goal position, for a servo that follows positions."""
        commands[k.GOAL] = self.to_count(self._registers.get("goal_position"))

    def _follow(self, commands: NDArray[np.float64]) -> None:
        """Fill the commands of position mode."""
        get, table = self._registers.get, self._registers.table
        commands[k.MODE] = k.POSITION_MODE
        self.aim(commands)
        which = "active" if self._is_hls else "position"
        commands[k.P_GAIN] = self._duty_per_kp * get(f"{which}_p_gain")
        commands[k.D_GAIN] = self._duty_per_kd * get(f"{which}_d_gain")
        if self._is_hls:  # its integral does nothing in this mode
            commands[k.CURRENT_LIMIT] = abs(self._duty("goal_current"))
        elif "position_i_gain" in table:
            commands[k.I_GAIN] = self._duty_per_kp * _I_OVER_P * get("position_i_gain")
        speed = abs(self.velocity("goal_velocity"))
        commands[k.PROFILE_VELOCITY] = min(speed or self._speed_limit, self._speed_limit)
        commands[k.START_DUTY] = self._duty("start_torque")
        commands[k.DEAD_BAND] = get("dead_band_positive") * self._bench_per_count
