# SPDX-License-Identifier: Apache-2.0
"""The feed-forward law of Dynaban (1, 2): the voltage that a motion and a load take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core._checks import require_positive
from bam_core.errors import BamError
from bam_core.feedforward.motor_model import DynabanModel
from bam_core.friction import Friction
from bam_core.motor import DcMotor
from bam_core.servo_model import ServoModel

Array = NDArray[np.float64]
Budget = Callable[[Array, Array, Array], Array]
"""Motor torque, load torque (N·m), velocity (rad/s) -> size of the friction torque, N·m."""

REST_SPEED = 0.02
"""rad/s; below it friction is helped in proportion, since a motion at rest has no direction."""

_TOLERANCE = 1e-4  # N·m
_ITERATIONS = 60


@dataclass(frozen=True)
class FeedForwardLaw:
    """u = k_e·ω + r/k_e·(τ_o + τ_a + τ_f), with τ_a = I_0·(ω' - ω)/dt and any friction law for τ_f.

    Make it with `from_dynaban`, whose friction is eq. (4), or with `from_servo`, whose friction is one of
    M1-M6. There the load torque τ_e is -τ_o, and τ_f depends on the motor torque that it asks for: the two
    are found together.

    Attributes:
        motor: k_e, r, I_0.
        budget: size of friction.
        depends_on_load: whether it depends on torques.
    """

    motor: DcMotor
    budget: Budget
    depends_on_load: bool = True

    @classmethod
    def from_dynaban(cls, model: DynabanModel) -> FeedForwardLaw:
        """Return the law as the paper has it."""
        return cls(model.motor, lambda motor, load, velocity: model.budget(velocity), False)

    @classmethod
    def from_servo(cls, servo: ServoModel) -> FeedForwardLaw:
        """Return the law with the servo's own friction, M1-M6.

        Raises:
            BamError: its friction grows faster than the torque that drives it, so that nothing moves it.
        """
        friction: Friction = servo.friction
        share = friction.load_motor + friction.load_motor_stribeck
        if share >= 1.0:
            raise BamError(
                f"servo '{servo.name}': load_motor + load_motor_stribeck is {share:g} (expected < 1: else "
                f"friction outgrows every torque); feed forward with another friction model"
            )
        return cls(servo.motor, friction.budget, servo.friction_model not in ("m1", "m2"))

    def torque(
        self, velocity: ArrayLike, next_velocity: ArrayLike, dt: float, output_torque: ArrayLike
    ) -> Array:
        """Return the motor torque τ_o + τ_a + τ_f in N·m; arguments as of `voltage`.

        Raises:
            BamError: dt is not above zero.
        """
        require_positive("feed-forward", dt=dt)
        now, then = np.asarray(velocity, dtype=np.float64), np.asarray(next_velocity, dtype=np.float64)
        output = np.asarray(output_torque, dtype=np.float64)
        wanted = output + self.motor.armature * (then - now) / dt
        mean = 0.5 * (now + then)
        direction = np.clip(mean / REST_SPEED, -1.0, 1.0)
        torque = wanted + direction * self.budget(wanted, -output, mean)
        for _ in range(_ITERATIONS if self.depends_on_load else 0):
            before = torque
            torque = wanted + direction * self.budget(before, -output, mean)
            if np.max(np.abs(torque - before), initial=0.0) <= _TOLERANCE:
                break
        return np.asarray(torque)

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
