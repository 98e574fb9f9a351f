# SPDX-License-Identifier: Apache-2.0
"""The virtual bench: one hidden servo that carries a pendulum, brought up to date on demand."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.hidden_servo import HiddenServo

CATCH_UP = 2.0
"""Longest time that the owner lets the bench catch up on after a stall, s; it stood still for the rest."""


class Bench:
    """Pendulum, motor, supply and the firmware's control loop, on a clock that the caller reads.

    Nothing runs by itself: `advance_to(now)` integrates what has passed since the last call, in steps of
    0.1 ms, with the commands that are in force. The owner writes `commands` (see bench_kernel) in between.

    Args:
        hidden: the servo's physics.
        pendulum: the load.
        now: clock of the caller, s.
    """

    def __init__(self, hidden: HiddenServo, pendulum: PendulumBench, now: float = 0.0) -> None:
        self.hidden = hidden
        self.state: NDArray[np.float64] = np.zeros(k.STATE_SIZE)
        self.commands: NDArray[np.float64] = np.zeros(k.COMMAND_SIZE)
        self._window: NDArray[np.int64] = np.zeros(k.VELOCITY_WINDOW, dtype=np.int64)
        self._parameters = hidden.parameters()
        self._origin = now
        self._steps = 0
        self.temperature_offset = 0.0
        self.state[physics.SUPPLY] = hidden.supply_voltage
        self.state[physics.TEMPERATURE] = hidden.ambient
        self.set_load(pendulum)

    @property
    def time(self) -> float:
        """Clock up to which the bench is integrated, s."""
        return self._origin + self._steps * physics.STEP

    def advance_to(self, now: float) -> None:
        """Integrate up to the clock `now`; does nothing where that is past."""
        steps = math.floor((now - self._origin) / physics.STEP) - self._steps
        if steps > 0:
            k.advance(self.state, self._window, self.commands, self._parameters, steps)
            self._steps += steps

    def skip_to(self, now: float) -> None:
        """Set the clock without integrating: the bench stood still until `now`."""
        self._origin = now - self._steps * physics.STEP

    def set_load(self, pendulum: PendulumBench) -> None:
        """Hang another load: it is at rest, arm down."""
        self.pendulum = pendulum
        self._parameters[physics.INERTIA] = pendulum.inertia + self.hidden.motor.armature
        self._parameters[physics.GRAVITY_TORQUE] = pendulum.gravity_torque
        self.place(0.0)

    def place(self, position: float, velocity: float = 0.0) -> None:
        """Put the arm somewhere, rad and rad/s, as a hand would."""
        self.state[physics.POSITION] = position
        self.state[physics.VELOCITY] = velocity
        self._window[:] = self.count
        self.state[k.MEASURED_VELOCITY] = 0.0

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
        """Clear integral and last error; the trajectory starts where the arm is."""
        self.state[k.INTEGRAL] = self.state[k.LAST_ERROR] = self.state[k.STALLED] = 0.0
        self.state[k.TRAJECTORY] = self.count
        self.state[k.TRAJECTORY_VELOCITY] = self.state[k.TRAJECTORY_STEP] = 0.0
