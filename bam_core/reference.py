# SPDX-License-Identifier: Apache-2.0
"""BAM Algorithm 1 and its variants in plain Python, step by step: what the compiled kernel reproduces."""

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

INTEGRATORS = ("midpoint", "algorithm1", "semi_implicit")
"""How a step of Δt is made.

- "midpoint", the default: BAM Algorithm 1 with gravity taken where the arm is in the middle of the step,
  θ_k + ½θ̇_kΔt, and back-EMF at the mean velocity of the step. Of second order without friction, and it keeps
  the energy of a free swing.
- "algorithm1": as printed, both taken at the start of the step. Of first order: it feeds energy into a swing
  (a frictionless one of 1.0 rad at 10 rad/s grows to 1.9 rad in 6 s of 5 ms steps) and overstates damping.
- "semi_implicit": as in the authors' program, which moves the arm with the new velocity. Damps every swing
  (the same one shrinks to 0.5 rad). Only for reproducing fits that were made with it and carry that damping.
"""

VELOCITY_LIMIT = 1000.0
"""rad/s; far beyond any servo, it only keeps diverging candidates finite."""


@dataclass(frozen=True, kw_only=True)
class PendulumState:
    """State of arm and motor: position in rad, velocity in rad/s, warming of the winding in K."""

    position: float
    velocity: float = 0.0
    warming: float = 0.0


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
        zero_offset: position at which the arm hangs straight down, rad.

    Raises:
        BamError: kp is not above zero, or the integrator is unknown.
    """

    firmware: PositionFirmware
    motor: DcMotor
    friction: Friction
    bench: PendulumBench
    kp: float
    integrator: str = "midpoint"
    zero_offset: float = 0.0

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

    def step(self, state: PendulumState, voltage: float, enabled: float, dt: float) -> PendulumState:
        """Advance by one step of Algorithm 1 or of its variant.

        Args:
            state: at the start of the step.
            voltage: of the motor during the step, V.
            enabled: share of the step that the H-bridge drives, 0..1.
            dt: Δt, s.
        """
        inertia, position = self.inertia, state.position - self.zero_offset
        electrical = (voltage, state.velocity, enabled, state.warming)
        if self.integrator == "midpoint":
            position += 0.5 * state.velocity * dt
            # J·θ̈ = τ - b·(θ̇ + ½θ̈Δt) is (J + ½bΔt)·θ̈ = τ - b·θ̇: back-EMF at the mean velocity adds inertia.
            inertia += 0.5 * dt * float(self.motor.damping(*electrical))
        motor = float(self.motor.torque(*electrical))
        external = float(self.bench.external_torque(position))
        friction = float(self.friction.applied(motor, external, state.velocity, inertia, dt))
        gained = (motor + external + friction) / inertia * dt
        moving = state.velocity + gained if self.integrator == "semi_implicit" else state.velocity
        velocity = min(max(state.velocity + gained, -VELOCITY_LIMIT), VELOCITY_LIMIT)
        warmed = float(self.motor.warming_rate(self.motor.current(*electrical), state.warming)) * dt
        return PendulumState(
            position=state.position + (moving + 0.5 * gained) * dt,
            velocity=velocity,
            warming=state.warming + warmed,
        )

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
            enabled: (n,) share of the time that the H-bridge drives, 0..1, likewise.
            dt: time between samples, s.
            substeps: steps of the integrator between samples.

        Returns:
            Positions (n,) in rad and velocities (n,) in rad/s at the samples.
        """
        goals, supplies, switches = np.asarray(goal), np.asarray(supply), np.asarray(enabled)
        state = initial
        states = [state]
        for k in range(len(goals) - 1):
            voltage = self.voltage(state, float(goals[k]), float(supplies[k]))
            for _ in range(substeps):
                state = self.step(state, voltage, float(switches[k]), dt / substeps)
            states.append(state)
        return np.array([s.position for s in states]), np.array([s.velocity for s in states])
