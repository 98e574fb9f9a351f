# SPDX-License-Identifier: Apache-2.0
"""What a simulated servo's firmware makes of a velocity, a current or a duty: the duty of its H-bridge.

The manuals of ROBOTIS give the gains of the velocity loop, K_P = P/128 and K_I = I/65536 in units of the
registers, but not its period. It is taken to be 1 ms. No manual gives the loop that regulates a current; it
is simulated as exact. No document gives the units of Feetech's speed gains; those here are assumed. None of
these laws was compared with a real servo.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bam_core.errors import Unsupported
from bam_core.servo.model import ServoModel
from bam_ros.driver.command_kind import CommandKind
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable
from bam_ros.dynamixel.errors import NoMode
from bam_ros.feetech.control_table import CONTROL_TABLES as FEETECH_TABLES

_TICK = 1e-3  # s
_K_P, _K_I = 128.0, 65536.0  # registers per gain (e-manual, Velocity PI gain)
_FEETECH_P, _FEETECH_I = (
    1e-3,
    1e-4,
)  # duty per rad/s, and per (rad/s)·tick, of a unit of the register; assumed


@dataclass(frozen=True, kw_only=True)
class VelocityGains:
    """Gains of a velocity loop.

    Attributes:
        proportional: duty per rad/s.
        integral: duty per rad.
    """

    proportional: float
    integral: float


class SetpointLaw:
    """The law of one servo at its factory settings.

    Args:
        joint: its name.
        kind: velocity, current or duty.
        servo: see there.

    Attributes:
        largest: set-point that its registers allow, rad/s, A or 1; infinite where it has no known registers.

    Raises:
        Unsupported: the servo has no such mode, or its law is not known.
    """

    def __init__(self, joint: str, kind: CommandKind, servo: ServoModel) -> None:
        self._kind, self._servo = kind, servo
        self._limit = servo.firmware.demand_limit  # duty, or A where the firmware regulates a current
        self._integral = 0.0  # duty
        table = CONTROL_TABLES.get(servo.name) or FEETECH_TABLES.get(servo.name)
        if table is not None and table.mode(kind) is None:
            raise NoMode(joint, table, kind)
        if servo.firmware.regulates_current and kind is not CommandKind.CURRENT:
            raise Unsupported(
                f"joint {joint!r}",
                f"{servo.title} regulates its current, and its law for goals of {kind.value} is not known",
                expected="position or current",
                advice="correct the parameter command_interfaces",
            )
        self._gains = _gains(joint, table, servo) if kind is CommandKind.VELOCITY else None
        self.largest = _largest(kind, table)

    def reset(self) -> None:
        """Forget the integral: torque goes on."""
        self._integral = 0.0

    def demand(self, setpoint: float, velocity: float, supply: float, step: float) -> float:
        """Return the duty for the next step; the current, A, where the firmware regulates one.

        Args:
            setpoint: rad/s, A or 1.
            velocity: of the output shaft, rad/s.
            supply: V.
            step: s.
        """
        limit = self._limit
        if self._kind is CommandKind.DUTY or self._servo.firmware.regulates_current:
            return min(max(setpoint, -limit), limit)
        if self._gains is None:
            motor = self._servo.motor
            voltage = setpoint * motor.resistance + motor.torque_constant * velocity
            return min(max(voltage / supply, -limit), limit)
        error = setpoint - velocity
        self._integral = min(max(self._integral + self._gains.integral * error * step, -limit), limit)
        return min(max(self._gains.proportional * error + self._integral, -limit), limit)


def _gains(joint: str, table: ControlTable | None, servo: ServoModel) -> VelocityGains:
    """Return the factory gains of a servo; raises Unsupported where they are not known."""
    if table is None or "velocity_p_gain" not in table:
        raise Unsupported(
            f"joint {joint!r}",
            f"the velocity loop of {servo.title} is not known",
            expected="a servo with a control table that has velocity gains",
            advice="correct the parameter command_interfaces",
        )
    p, i = (float(table[f"velocity_{gain}_gain"].initial or 0) for gain in "pi")
    if table.name in FEETECH_TABLES:
        return VelocityGains(proportional=_FEETECH_P * p, integral=_FEETECH_I * i / _TICK)
    duty_per_unit = table["goal_pwm"].unit.scale / table["goal_velocity"].unit.scale  # s/rad
    return VelocityGains(proportional=p / _K_P * duty_per_unit, integral=i / _K_I * duty_per_unit / _TICK)


def _largest(kind: CommandKind, table: ControlTable | None) -> float:
    """Return what the factory settings of the limiting register allow."""
    if kind is CommandKind.DUTY:
        return 1.0
    name = "velocity_limit" if kind is CommandKind.VELOCITY else "current_limit"
    if table is None or name not in table:
        return math.inf
    register = table[name]
    return register.to_si(register.initial or register.high)
