# SPDX-License-Identifier: Apache-2.0
"""BAM Algorithm 1 in plain Python, step by step: what the compiled kernel has to reproduce."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core._checks import require_positive
from bam_core.errors import unknown_name
from bam_core.firmware import PositionFirmware
from bam_core.friction import Friction
from bam_core.motor import DcMotor
from bam_core.pendulum import PendulumBench

INTEGRATORS = ("algorithm1", "semi_implicit")
"""How a step updates the position: with the old velocity (BAM Algorithm 1), or with the new one.

The second is what the authors' program does; it damps every swing, so that a frictionless pendulum started at
1.0 rad swings 0.54 rad after 6 s of 5 ms steps. It serves only to reproduce fits that were made with it.
"""

VELOCITY_LIMIT = 1000.0
"""rad/s; far beyond any servo, it only keeps diverging candidates finite."""


@dataclass(frozen=True, kw_only=True)
class PendulumState:
    """State of the arm: position in rad, velocity in rad/s."""

    position: float
    velocity: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ReferenceSimulation:
    """A position-controlled servo on the pendulum bench.

    Attributes:
        firmware: position controller.
        motor: motor constants at the output shaft.
        friction: friction law.
        bench: pendulum.
        kp: position gain in the firmware's units, above zero.
        integrator: one of INTEGRATORS.

    Raises:
        BamError: kp is not above zero, or the integrator is unknown.
    """

    firmware: PositionFirmware
    motor: DcMotor
    friction: Friction
    bench: PendulumBench
    kp: float
    integrator: str = "algorithm1"

    def __post_init__(self) -> None:
        require_positive("simulation", kp=self.kp)
        if self.integrator not in INTEGRATORS:
            raise unknown_name("integrator", self.integrator, INTEGRATORS)

    @property
    def inertia(self) -> float:
        """J = bench + armature, kg·m²."""
        return self.bench.inertia + self.motor.armature

    def voltage(self, state: PendulumState, goal: float, supply: float) -> float:
        """Return the motor voltage in V that the firmware sets for a goal in rad (BAM eq. 12)."""
        return float(self.firmware.duty(self.kp, goal - state.position)) * supply

    def step(self, state: PendulumState, voltage: float, enabled: bool, dt: float) -> PendulumState:
        """Advance by one step of Algorithm 1.

        Args:
            state: at the start of the step.
            voltage: of the motor during the step, V.
            enabled: False where the H-bridge is released.
            dt: Δt, s.
        """
        motor = float(self.motor.torque(voltage, state.velocity, enabled))
        external = float(self.bench.external_torque(state.position))
        friction = float(self.friction.applied(motor, external, state.velocity, self.inertia, dt))
        acceleration = (motor + external + friction) / self.inertia
        velocity = state.velocity + acceleration * dt
        advancing = state.velocity if self.integrator == "algorithm1" else velocity
        position = state.position + advancing * dt + 0.5 * acceleration * dt**2
        velocity = min(max(velocity, -VELOCITY_LIMIT), VELOCITY_LIMIT)
        return PendulumState(position=position, velocity=velocity)

    def run(
        self,
        initial: PendulumState,
        *,
        goal: ArrayLike,
        supply: ArrayLike,
        enabled: ArrayLike,
        dt: float,
        substeps: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Follow goals for n - 1 steps.

        The duty is computed at the start of every step and held for its substeps, as a firmware with period
        dt does.

        Args:
            initial: state at the first sample.
            goal: (n,) rad, in force from each sample to the next.
            supply: (n,) V, likewise.
            enabled: (n,) False where the H-bridge is released, likewise.
            dt: time between samples, s.
            substeps: steps of Algorithm 1 between samples.

        Returns:
            Positions (n,) in rad and velocities (n,) in rad/s at the samples.
        """
        goals, supplies, switches = np.asarray(goal), np.asarray(supply), np.asarray(enabled)
        state = initial
        states = [state]
        for k in range(len(goals) - 1):
            voltage = self.voltage(state, float(goals[k]), float(supplies[k]))
            for _ in range(substeps):
                state = self.step(state, voltage, bool(switches[k]), dt / substeps)
            states.append(state)
        return np.array([s.position for s in states]), np.array([s.velocity for s in states])
