# SPDX-License-Identifier: Apache-2.0
"""The servo and the bench that a parameter vector stands for."""

from __future__ import annotations

from dataclasses import replace

from bam_core.arrays import Array
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.friction import Friction, FrictionModel
from bam_core.servo.model import ServoModel
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import BENCH_EFFECTS, MOTOR_EFFECTS, MOTOR_PARAMETERS, SERVO_EFFECTS
from bam_core.simulation.rollout import PARAMETERS


def found_servo(servo: ServoModel, model: FrictionModel, vector: Array) -> tuple[ServoModel, BenchEffects]:
    """Return a servo with other parameters, and its bench.

    Args:
        servo: whose firmware and names count.
        model: of friction.
        vector: (PARAMETERS,) SI.
    """
    values = dict(zip(PARAMETERS, vector.tolist(), strict=True))
    motor = DcMotor(**{name: values.pop(name) for name in (*MOTOR_PARAMETERS, *MOTOR_EFFECTS)})
    servo_effects = ServoEffects(**{name: values.pop(name) for name in SERVO_EFFECTS})
    bench_effects = BenchEffects(**{name: values.pop(name) for name in BENCH_EFFECTS})
    friction = Friction(**values)
    rule = servo.friction.quadratic_rule
    identified = replace(
        servo,
        motor=motor,
        servo_effects=servo_effects,
        friction_model=model.name,
        friction=model.friction(model.values(friction), quadratic_rule=rule),
        gear=None,
        uncertainty={},
    )
    return identified, bench_effects
