# SPDX-License-Identifier: Apache-2.0
"""The law step by step, from the executable specification; and what common mistakes make of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from bam_core.exchange.conformance.step import ServoNumbers, Step
from bam_core.servo.firmware import profiled
from bam_core.servo.friction import Friction
from bam_core.servo.motor import DcMotor
from bam_core.text.conformance_findings import DEVIATION_WORDS

DEVIATIONS: tuple[str, ...] = tuple(DEVIATION_WORDS)
"""Mistakes by name; `text.conformance_findings` has them in words."""


@dataclass
class _State:
    set_point: float | None = None
    set_speed: float = 0.0
    error: float | None = None
    integral: float = 0.0
    goal: float | None = None
    motor_torque: float = 0.0


class Specification:
    """The law of a servo (BAM eqs. 4, 5, 10, 12 to 14), step by step.

    Args:
        servo: its numbers.
        deviations: mistakes of `DEVIATIONS`, made on purpose.
    """

    def __init__(self, servo: ServoNumbers, deviations: Collection[str] = ()) -> None:
        self._servo = servo
        self._deviations = frozenset(deviations)
        self._motor = DcMotor(
            torque_constant=servo.torque_constant, resistance=servo.resistance, armature=0.0
        )
        self._friction = _friction(servo, self._deviations)
        self._state = _State()

    def reset(self) -> None:
        """Begin an episode."""
        before, self._state = self._state, _State()
        if self._deviations & {"set_point_survives", "set_point_never_restarts"}:
            self._state.set_point = before.set_point
        if "rate_survives" in self._deviations:
            self._state.error = before.error
        if "integral_survives" in self._deviations:
            self._state.integral = before.integral

    def step(self, step: Step) -> tuple[float, float]:
        """Return motor torque and friction torque, N·m."""
        motor = self._motor_torque(step)
        seen = self._state.motor_torque if "stale_motor_torque" in self._deviations else motor
        self._state.motor_torque = motor
        return motor, self._friction_torque(step, seen)

    def _motor_torque(self, step: Step) -> float:
        servo, state, deviations = self._servo, self._state, self._deviations
        goal = step.goal
        if "late_goal" in deviations and state.goal is not None:
            goal = state.goal
        state.goal = step.goal
        keeps_set_point = "set_point_never_restarts" in deviations
        if not step.enabled and not keeps_set_point:
            state.set_point, state.set_speed = None, 0.0
        if step.enabled or keeps_set_point:
            start = step.position if state.set_point is None else state.set_point
            fastest = np.inf if "no_goal_speed_limit" in deviations else servo.goal_speed_limit
            hardest = np.inf if "no_goal_acceleration_limit" in deviations else servo.goal_acceleration_limit
            state.set_point, state.set_speed = profiled(
                start, state.set_speed, goal, time=step.dt, fastest=fastest, acceleration=hardest
            )
        if not step.enabled:
            state.error = None
            state.integral = 0.0
            braked = "braked_when_off" in deviations and servo.law == "voltage"
            return float(self._motor.torque(0.0, step.velocity)) if braked else 0.0
        error = (step.position if state.set_point is None else state.set_point) - step.position
        rate = -step.velocity if state.error is None else (error - state.error) / step.dt
        state.error = error
        band = 0.0 if "no_dead_band" in deviations else servo.dead_band
        offset = 0.0 if "no_error_offset" in deviations else servo.error_offset
        counted = 0.0 if abs(error) <= band else error
        shaped = counted + offset * np.sign(counted)
        time = 0.0 if "no_rate" in deviations else servo.rate_time
        limit = np.inf if "no_limit" in deviations else servo.limit
        most = np.inf if "no_integral_limit" in deviations else servo.limit
        growth = 0.0 if "no_integral" in deviations else servo.stiffness * servo.integral_rate * step.dt
        state.integral = float(np.clip(state.integral + growth * counted, -most, most))
        demand = servo.stiffness * (shaped + time * rate) + state.integral - servo.damping * step.velocity
        if servo.law == "current":
            supply = np.inf if "no_supply_limit" in deviations else servo.supply
            current = float(np.clip(demand, -limit, limit))
            regulated = self._motor.regulating_voltage(current, step.velocity, supply)
            return float(self._motor.torque(regulated, step.velocity))
        if "limited_after_back_emf" in deviations:
            whole = float(self._motor.torque(demand * servo.supply, step.velocity))
            most = float(self._motor.torque(limit * servo.supply, 0.0))
            return float(np.clip(whole, -most, most))
        voltage = float(np.clip(demand, -limit, limit)) * servo.supply
        return float(self._motor.torque(voltage, 0.0 if "no_back_emf" in deviations else step.velocity))

    def _friction_torque(self, step: Step, motor: float) -> float:
        external = -step.external_torque if "load_sum" in self._deviations else step.external_torque
        budget = float(self._friction.budget(motor, external, step.velocity))
        opposing = -budget * float(np.sign(step.velocity))
        if "no_rest" in self._deviations or ("no_stop_limit" in self._deviations and step.velocity != 0.0):
            return opposing
        stop = -(step.inertia / step.dt * step.velocity + motor + step.external_torque)
        friction = float(np.clip(stop, -budget, budget))
        return -friction if "other_sign" in self._deviations else friction


def _friction(servo: ServoNumbers, deviations: Collection[str]) -> Friction:
    rule = "opposing" if "quadratic_rule" in deviations else "paper"
    friction = Friction(**servo.friction, quadratic_rule=rule)
    if "no_load" in deviations:
        return friction.scaled(load=0.0)
    if "no_stribeck" in deviations:
        return replace(
            friction,
            stribeck_coulomb=0.0,
            load_motor_stribeck=0.0,
            load_external_stribeck=0.0,
            quadratic_motor=0.0,
            quadratic_external=0.0,
        )
    return friction
