# SPDX-License-Identifier: Apache-2.0
"""The feed-forward law of Dynaban (1, 2): the voltage that a motion and a load take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import OutOfRange
from bam_core.errors.checks import require_positive
from bam_core.feedforward._law_kernel import REST_SPEED, torques
from bam_core.servo.model import ServoModel
from bam_core.servo.motor import DcMotor

__all__ = ["REST_SPEED", "FeedForwardLaw", "voltages"]


@dataclass(frozen=True)
class FeedForwardLaw:
    """u = k_e·ω + r/k_e·(τ_o + τ_a + τ_f), with τ_a = I_0·(ω' - ω)/dt and any friction law for τ_f.

    `from_servo` takes the friction of M1-M6. The load torque τ_e is -τ_o, and τ_f depends on the motor torque
    that it asks for: the two are found together. At the jump of M6's quadratic term no torque may give the
    acceleration that is asked for; |τ_e| is returned then, see `_law_kernel`.

    Attributes:
        motor: k_e, r, I_0.
        friction: the coefficients in the order of FRICTION_PARAMETERS; eq. (4) is M2 with α = 1.
        opposing: whether quadratic friction counts only where motor and load oppose each other.
    """

    motor: DcMotor
    friction: tuple[float, ...]
    opposing: bool = False

    @classmethod
    def from_servo(cls, servo: ServoModel) -> FeedForwardLaw:
        """Return the law with the servo's own friction, M1-M6.

        Raises:
            BamError: its friction grows faster than the torque that drives it, so that nothing moves it, or
                it has a gear, or one of `parameters.FRICTION_EFFECTS`.
        """
        servo.require_no_gear("feed-forward")
        servo.require_no_friction_effects("feed-forward")
        friction = servo.friction
        share = friction.load_motor + friction.load_motor_stribeck
        if share >= 1.0:
            raise OutOfRange(
                f"servo '{servo.name}', load_motor + load_motor_stribeck",
                share,
                "< 1: else friction outgrows every torque",
                printed=f"{share:g}",
                advice="feed forward with another friction model",
            )
        coefficients = tuple(friction.coefficients().values())
        return cls(servo.motor, coefficients, friction.quadratic_rule == "opposing")

    def vector(self) -> Array:
        """Return the law as `voltages` takes it, (15,)."""
        motor = self.motor
        constants = (motor.torque_constant, motor.resistance, motor.armature)
        return np.array([*constants, *self.friction, float(self.opposing)])

    def torque(
        self, velocity: ArrayLike, next_velocity: ArrayLike, dt: float, output_torque: ArrayLike
    ) -> Array:
        """Return the motor torque τ_o + τ_a + τ_f in N·m; arguments as of `voltage`.

        Raises:
            BamError: dt is not above zero.
        """
        require_positive("feed-forward", dt=dt)
        states = (np.asarray(values, dtype=np.float64) for values in (velocity, next_velocity, output_torque))
        now, then, output = np.broadcast_arrays(*states)
        solved = torques(self.vector()[None], now.ravel(), then.ravel(), dt, output.ravel())
        return solved.reshape(now.shape)

    def voltage(
        self, velocity: ArrayLike, next_velocity: ArrayLike, dt: float, output_torque: ArrayLike
    ) -> Array:
        """Return u(t + dt), V (1), in the broadcast shape of the arguments.

        Args:
            velocity: ω(t) of the trajectory, rad/s.
            next_velocity: ω(t + dt), rad/s.
            dt: s.
            output_torque: τ_o that the load takes, without the motor's own inertia, N·m.
        """
        torque = self.torque(velocity, next_velocity, dt, output_torque)
        back_emf = self.motor.torque_constant * np.asarray(velocity, dtype=np.float64)
        return np.asarray(back_emf + self.motor.resistance / self.motor.torque_constant * torque)


def voltages(laws: Array, velocity: Array, next_velocity: Array, dt: float, output_torque: Array) -> Array:
    """Return the `FeedForwardLaw.voltage` of several joints, (joints,) V, at once.

    Args:
        laws: (joints, 15), their vectors.
        velocity: (joints,) rad/s.
        next_velocity: (joints,) rad/s.
        dt: s, above zero.
        output_torque: (joints,) N·m.
    """
    torque = torques(laws, velocity, next_velocity, dt, output_torque)
    return np.asarray(laws[:, 0] * velocity + laws[:, 1] / laws[:, 0] * torque)
