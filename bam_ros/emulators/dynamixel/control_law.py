# SPDX-License-Identifier: Apache-2.0
"""From registers to the bench's commands: which control law runs, with which goals, gains and limits."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bam_core.servo.firmware_library import find_firmware
from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.register_file import RegisterFile

COUNTS_PER_TURN = 4096
"""Of the bench's encoder; registers of servos with another one are scaled."""
_USUAL_GAIN = 5.0
"""Duty per rad at factory gains of a servo whose law no model has: that of servos whose law is known."""
# Wheel mode of Protocol 1.0 has gains that cannot be set: those of the 2.0 firmware, per 0.114 rev/min.
_WHEEL_P, _WHEEL_I = 100 / 128 / 885, 1920 / 65536 / 885


class ControlLaw(Protocol):
    """How one firmware generation reads its registers."""

    def configure(self, commands: NDArray[np.float64]) -> None:
        """Fill the bench's commands from the registers, for a servo whose torque is on."""

    def aim(self, commands: NDArray[np.float64]) -> None:
        """Fill in what depends on the goal position, for a servo that follows positions."""

    def to_register(self, count: int) -> int:
        """Return what the position register shows for a bench count (0: arm down)."""

    def to_count(self, register: int) -> float:
        """Return the bench count of a goal in the position register's own counts."""

    def sign(self) -> int:
        """Return 1, or -1 where the registers are mirrored (reverse mode)."""


class Protocol1Law:
    """Joint, wheel, multi-turn and torque control of MX servos with Protocol 1.0 firmware."""

    def __init__(self, registers: RegisterFile) -> None:
        self._registers = registers
        table = registers.table
        self._duty_per_kp, self._duty_limit = _gain(table)
        self._velocity = table["goal_velocity"]
        self._position = table["present_position"]
        self._scale = _counts_per_turn(table) / COUNTS_PER_TURN

    def _si(self, name: str) -> float:
        return self._registers.table[name].to_si(self._registers.get(name))

    def _limits(self) -> tuple[int, int]:
        return self._registers.get("min_position_limit"), self._registers.get("max_position_limit")

    @property
    def wheel(self) -> bool:
        """Both angle limits are 0."""
        return self._limits() == (0, 0)

    @property
    def multi_turn(self) -> bool:
        """Both angle limits are 4095."""
        return "multi_turn_offset" in self._registers.table and self._limits() == (4095, 4095)

    def sign(self) -> int:
        """Return -1 in reverse mode."""
        return -1 if "drive_mode" in self._registers.table and self._registers.get("drive_mode") & 1 else 1

    def to_register(self, count: int) -> int:
        """Return the Present Position for a bench count."""
        zero = self._position.unit.zero
        if self._scale != 1.0:  # a potentiometer: it does not see the whole turn
            turned = (count + COUNTS_PER_TURN // 2) % COUNTS_PER_TURN - COUNTS_PER_TURN // 2
            raw = zero + round(self.sign() * turned * self._scale)
            return min(max(raw, self._position.low), self._position.high)
        raw = zero + self.sign() * count
        if self.multi_turn:
            divider = self._registers.get("resolution_divider")
            return raw // divider + self._registers.get("multi_turn_offset")
        return raw % COUNTS_PER_TURN

    def to_count(self, register: int) -> float:
        """Return the bench count of a Goal Position."""
        if self.multi_turn:
            offset = self._registers.get("multi_turn_offset")
            register = (register - offset) * self._registers.get("resolution_divider")
        return self.sign() * (register - self._position.unit.zero) / self._scale

    def aim(self, commands: NDArray[np.float64]) -> None:
        """Fill in what depends on the goal position, for a servo that follows positions."""
        commands[k.GOAL] = self.to_count(self._registers.get("goal_position"))

    def configure(self, commands: NDArray[np.float64]) -> None:
        """Fill the bench's commands from the registers."""
        get, held = self._registers.get, self._registers.held
        limit = get("torque_limit")
        speed = self._velocity.to_si(get("goal_velocity"))
        commands[k.DUTY_LIMIT] = self._duty_limit * limit / 1023
        commands[k.CURRENT_LIMIT] = math.inf
        if "goal_acceleration" in self._registers.table:
            commands[k.PROFILE_ACCELERATION] = self._si("goal_acceleration")
        if limit == 0:  # the state after a shutdown: the motor has no torque
            commands[k.MODE] = k.RELEASED
        elif held("torque_control_mode_enable"):
            commands[k.MODE] = k.CURRENT_MODE
            commands[k.GOAL_CURRENT] = self._si("goal_current")
        elif self.wheel:
            commands[k.MODE] = k.VELOCITY_MODE
            commands[k.GOAL_VELOCITY] = speed
            commands[k.P_GAIN] = _WHEEL_P / self._velocity.unit.scale
            commands[k.I_GAIN] = _WHEEL_I / self._velocity.unit.scale
            commands[k.D_GAIN] = 0.0
        else:
            # K_p = P/8, K_i = I·1000/2048 in 1/s, K_d = D·4/1000 in s (manual, PID gains)
            per_kp = 8.0 * self._duty_per_kp
            commands[k.MODE] = k.POSITION_MODE
            self.aim(commands)
            commands[k.P_GAIN] = per_kp * held("position_p_gain") / 8.0
            commands[k.I_GAIN] = per_kp * held("position_i_gain") * 1000.0 / 2048.0 * k.TICK
            commands[k.D_GAIN] = per_kp * held("position_d_gain") * 4.0 / 1000.0 / k.TICK
            commands[k.PROFILE_VELOCITY] = abs(speed)
            punch = self._registers.table["punch"].to_si(get("punch"))
            if slope := held("cw_compliance_slope"):
                self._comply(commands, slope, held("cw_compliance_margin"), punch)
            else:
                commands[k.PUNCH] = punch

    def _comply(self, commands: NDArray[np.float64], slope: int, margin: int, punch: float) -> None:
        """Fill in the law of AX, RX and EX (manual, compliance margin and slope).

        Errors within the margin count as 0. From there the duty rises from `punch` to all of it over the
        slope. Both are in counts of the servo; where its sides differ, that of clockwise errors counts.
        """
        gain = (1.0 - punch) / slope  # per count of its own
        commands[k.P_GAIN] = gain * self._scale
        commands[k.DEAD_BAND] = margin / self._scale
        commands[k.START_DUTY] = punch - gain * margin


class Protocol2Law:
    """The six operating modes of Protocol 2.0 firmware."""

    CURRENT, VELOCITY, POSITION, EXTENDED, CURRENT_POSITION, PWM = 0, 1, 3, 4, 5, 16
    MODES = (CURRENT, VELOCITY, POSITION, EXTENDED, CURRENT_POSITION, PWM)

    def __init__(self, registers: RegisterFile) -> None:
        self._registers = registers
        table = registers.table
        self._duty_per_kp, self._duty_limit = _gain(table)
        self._turns = 0
        self._zero = table["present_position"].unit.zero
        self._scale = _counts_per_turn(table) / COUNTS_PER_TURN
        self._full = 1.0 / table["goal_pwm"].unit.scale if "goal_pwm" in table else 1.0
        self._position_mode = table.position_mode["operating_mode"]

    @property
    def mode(self) -> int:
        """Operating Mode, as most servos number them."""
        mode = self._registers.get("operating_mode")
        return self.POSITION if mode == self._position_mode else mode

    def sign(self) -> int:
        """Return -1 in reverse mode."""
        return -1 if self._registers.held("drive_mode") & 1 else 1

    def forget_turns(self, count: int) -> None:
        """Count turns from the one that the arm is in, as after power-on."""
        self._turns = (COUNTS_PER_TURN // 2 + self.sign() * count) // COUNTS_PER_TURN

    def to_register(self, count: int) -> int:
        """Return the Present Position for a bench count."""
        raw = self._zero + round(self._scale * (self.sign() * count - self._turns * COUNTS_PER_TURN))
        return raw + self._registers.held("homing_offset")

    def to_count(self, register: int) -> float:
        """Return the bench count of a Goal Position."""
        raw = (register - self._registers.held("homing_offset") - self._zero) / self._scale
        return self.sign() * (raw + self._turns * COUNTS_PER_TURN)

    def _si(self, name: str) -> float:
        return self._registers.table[name].to_si(self._registers.get(name))

    def aim(self, commands: NDArray[np.float64]) -> None:
        """Fill in what depends on the goal position, for a servo that follows positions."""
        commands[k.GOAL] = self.to_count(self._registers.get("goal_position"))
        velocity, acceleration = self._profile(commands[k.GOAL])
        commands[k.PROFILE_VELOCITY], commands[k.PROFILE_ACCELERATION] = velocity, acceleration

    def configure(self, commands: NDArray[np.float64]) -> None:
        """Fill the bench's commands from the registers."""
        get, mode, sign = self._registers.held, self.mode, self.sign()
        commands[k.DUTY_LIMIT] = min(self._limit(mode), self._duty_limit)
        commands[k.CURRENT_LIMIT] = math.inf
        commands[k.D_GAIN] = 0.0
        if mode == self.PWM:
            commands[k.MODE] = k.DUTY_MODE
            commands[k.GOAL_DUTY] = sign * self._si("goal_pwm")
        elif mode == self.CURRENT:
            commands[k.MODE] = k.CURRENT_MODE
            commands[k.GOAL_CURRENT] = sign * self._si("goal_current")
        elif mode == self.VELOCITY:
            scale = self._full * self._registers.table["goal_velocity"].unit.scale
            commands[k.MODE] = k.VELOCITY_MODE
            commands[k.GOAL_VELOCITY] = sign * self._si("goal_velocity")
            commands[k.P_GAIN] = get("velocity_p_gain") / 128 / scale
            commands[k.I_GAIN] = get("velocity_i_gain") / 65536 / scale
            commands[k.PROFILE_ACCELERATION] = self._si("profile_acceleration")
        elif mode not in (self.POSITION, self.EXTENDED, self.CURRENT_POSITION):
            commands[k.MODE] = k.BRAKE
        else:
            # K_P = P/128, K_I = I/65536, K_D = D/16, feed-forward gains a quarter of their registers (manual,
            # position PID gains); derivatives per tick.
            commands[k.MODE] = k.POSITION_MODE
            self.aim(commands)
            commands[k.P_GAIN] = self._duty_per_kp * get("position_p_gain")
            commands[k.I_GAIN] = self._duty_per_kp * get("position_i_gain") * 128 / 65536
            commands[k.D_GAIN] = self._duty_per_kp * get("position_d_gain") * 128 / 16
            per_unit = self._duty_per_kp * 128 / 4
            commands[k.FEEDFORWARD_VELOCITY] = per_unit * get("feedforward_1st_gain")
            commands[k.FEEDFORWARD_ACCELERATION] = per_unit * get("feedforward_2nd_gain")
            if mode == self.CURRENT_POSITION:
                commands[k.CURRENT_LIMIT] = abs(self._si("goal_current"))

    def _limit(self, mode: int) -> float:
        """Return the largest duty that the registers allow."""
        get, table = self._registers.get, self._registers.table
        if "goal_pwm" in table:
            limit = get("pwm_limit")
            return (limit if mode == self.PWM else min(abs(get("goal_pwm")), limit)) / self._full
        return get("torque_limit") * table["torque_limit"].unit.scale if "torque_limit" in table else 1.0

    def plan(self, count: int) -> None:
        """Note where a move starts; a time-based profile divides the way by the time."""
        self._start = float(count)

    _start = 0.0

    def _profile(self, goal: float) -> tuple[float, float]:
        """Return velocity and acceleration of the profile, rad/s and rad/s²; 0 means no limit."""
        get = self._registers.held
        if "profile_velocity" not in self._registers.table:
            return 0.0, 0.0
        if not get("drive_mode") & 4:
            return self._si("profile_velocity"), self._si("profile_acceleration")
        whole, rising = get("profile_velocity") * 1e-3, get("profile_acceleration") * 1e-3
        distance = abs(goal - self._start) / k.COUNTS_PER_RAD
        if whole <= 0.0 or distance == 0.0:
            return 0.0, 0.0
        rising = min(rising, whole / 2)
        velocity = distance / (whole - rising)
        return velocity, velocity / rising if rising > 0.0 else 0.0


def _counts_per_turn(table: ControlTable) -> float:
    return 2.0 * math.pi / table["present_position"].unit.scale


def _gain(table: ControlTable) -> tuple[float, float]:
    """Return duty per count of error and unit of kp, and the largest duty."""
    if not table.position_firmware:
        factory = table["position_p_gain"].initial if "position_p_gain" in table else None
        return _USUAL_GAIN / (factory or 1) / k.COUNTS_PER_RAD, 1.0
    firmware = find_firmware(table.position_firmware)
    return float(firmware.gains(1.0)[0]) / k.COUNTS_PER_RAD, firmware.demand_limit
