# SPDX-License-Identifier: Apache-2.0
"""The virtual bench: one hidden drive that carries a pendulum, brought up to date on demand."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.erob import bench_kernel as k
from bam_ros.emulators.hidden_servo import HiddenServo

CATCH_UP = 2_000_000_000
"""Longest time that the bench catches up on after a stall, ns; it stood still for the rest."""


class Bench:
    """Pendulum, motor, supply and the drive's control loops, on a clock that the caller reads.

    Nothing runs by itself: `advance_to(now)` integrates what has passed since the last call, in steps of
    0.1 ms, with the commands that are in force. The owner writes `commands` (see bench_kernel) in between.

    Args:
        hidden: the physics.
        pendulum: the load.
        now: clock of the caller, ns.
    """

    def __init__(self, hidden: HiddenServo, pendulum: PendulumBench, now: int = 0) -> None:
        self.hidden = hidden
        self.state: NDArray[np.float64] = np.zeros(k.STATE_SIZE)
        self.commands: NDArray[np.float64] = np.zeros(k.COMMAND_SIZE)
        self._parameters = hidden.parameters()
        self._until = now
        self.temperature_offset = 0.0
        self.state[physics.SUPPLY] = hidden.supply_voltage
        self.state[physics.TEMPERATURE] = hidden.ambient
        self.set_load(pendulum)

    @property
    def time(self) -> int:
        """Clock up to which the bench is integrated, ns."""
        return self._until

    def advance_to(self, now: int) -> None:
        """Integrate up to the clock `now`; does nothing where that is past."""
        steps = (now - self._until) // k.STEP_NS
        if steps <= 0:
            return
        if now - self._until > CATCH_UP:
            self._until = now - CATCH_UP
            steps = CATCH_UP // k.STEP_NS
        k.advance(self.state, self.commands, self._parameters, steps)
        self._until += steps * k.STEP_NS

    def set_load(self, pendulum: PendulumBench) -> None:
        """Hang another load: it is at rest, arm down."""
        self.pendulum = pendulum
        self._parameters[physics.INERTIA] = pendulum.inertia + self.hidden.motor.armature
        self._parameters[physics.GRAVITY_TORQUE] = pendulum.gravity_torque
        self.place(0.0)

    def place(self, position: float, velocity: float = 0.0) -> None:
        """Put the arm somewhere, rad and rad/s, as a hand would."""
        self.state[physics.POSITION] = position
        self.state[physics.VELOCITY] = self.state[k.MEASURED_VELOCITY] = velocity
        self.state[k.LAST_COUNT] = self.count

    def set_supply(self, voltage: float) -> None:
        """Change the voltage of the unloaded supply, V."""
        self._parameters[physics.SUPPLY_VOLTAGE] = voltage

    @property
    def count(self) -> int:
        """Encoder count, 0 with the arm hanging down."""
        return math.floor(self.state[physics.POSITION] * k.COUNTS_PER_RAD + 0.5)

    @property
    def temperature(self) -> float:
        """Temperature that the sensor reports, °C."""
        return float(self.state[physics.TEMPERATURE]) + self.temperature_offset

    @property
    def energy(self) -> float:
        """Kinetic and potential energy, J; 0 at rest with the arm down."""
        kinetic = 0.5 * self._parameters[physics.INERTIA] * self.state[physics.VELOCITY] ** 2
        potential = self._parameters[physics.GRAVITY_TORQUE] * (1.0 - math.cos(self.state[physics.POSITION]))
        return float(kinetic + potential)

    def restart_control(self) -> None:
        """Begin control where the arm is, with the velocity that it has."""
        self.state[k.INTEGRAL] = 0.0
        self.state[k.TRAJECTORY] = self.count
        self.state[k.TRAJECTORY_RATE] = self.state[k.MEASURED_VELOCITY] * k.COUNTS_PER_RAD
