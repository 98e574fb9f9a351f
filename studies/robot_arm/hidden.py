# SPDX-License-Identifier: Apache-2.0
"""An arm whose servos, masses and encoders nobody knows, and recordings of it.

It differs from what is fitted as a real one does: every unit differs from its type in the motor, in friction
without load and in friction under load; every body from its description; encoders have counts; and the bus
reads and writes early or late by as much as 2 ms, which no stamp says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.joints import servos_by_joint
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import ServoModel, load_servo
from studies.robot_arm.arm import BODIES, JOINTS, SERVOS, motion, six_joint_arm

_FINE = 2e-4  # s; step of the arm that is recorded
_JITTER = 2e-3  # s, to both sides
_COUNT = 2.0 * np.pi / 4096.0  # rad
_LOADED = (
    "load_motor",
    "load_external",
    "load_motor_stribeck",
    "load_external_stribeck",
    "quadratic_motor",
    "quadratic_external",
)


@dataclass(frozen=True, kw_only=True)
class HiddenArm:
    """The truth.

    Attributes:
        types: name -> servo, around which its units scatter.
        units: joint -> its own servo.
        deviations: of masses, encoders and the bus; those of units are in `units`.
    """

    types: Mapping[str, ServoModel]
    units: Mapping[str, ServoModel]
    deviations: RobotDeviations

    def record(self, goals: RobotRun, random: np.random.Generator) -> RobotRun:
        """Return the run as a recorder has it."""
        early = np.sort(goals.time + random.uniform(-_JITTER, _JITTER, len(goals.time)))
        early += 1e-9 * np.arange(len(early))  # no two at once
        bench = RobotBench.make(six_joint_arm(), "fixed", step=_FINE)
        start = np.tile(goals.goal_position[0], (len(early), 1))
        true_times = replace(goals, time=early, position=start)
        seen = bench.simulate(true_times, self.units, self.deviations)
        return replace(goals, position=np.round(seen / _COUNT) * _COUNT)


def joint_types() -> dict[str, str]:
    """Return joint -> name of its servo's type."""
    return servos_by_joint(six_joint_arm(), SERVOS)


def draw_arm(random: np.random.Generator) -> HiddenArm:
    """Draw an arm: types beside those of the library, units beside their types."""
    types = joint_types()
    drawn = {name: _another_type(load_servo(name), random) for name in dict.fromkeys(types.values())}
    return HiddenArm(
        types=drawn,
        units={joint: _unit(drawn[types[joint]], random) for joint in JOINTS},
        deviations=RobotDeviations(
            delay=random.uniform(3e-3, 9e-3),
            zero={joint: random.normal(0.0, 0.01) for joint in JOINTS},
            mass={body: random.normal(0.0, 0.02) for body in BODIES},
            centre={body: tuple(random.normal(0.0, 0.002, 3)) for body in BODIES},
        ),
    )


def draw_session(
    arm: HiddenArm, random: np.random.Generator, *, rate: float, duration: float
) -> tuple[list[RobotRun], list[RobotRun]]:
    """Return recorded runs to fit, and others of another motion with gains that those do not have."""
    fit = [("waves", 16.0), ("waves", 32.0), ("waves", 16.0), ("waves", 32.0)]
    test = [("moves", 10.0), ("moves", 24.0)] * 2
    runs = [
        arm.record(motion(name, random, kp=kp, rate=rate, duration=duration), random)
        for name, kp in (*fit, *test)
    ]
    return runs[: len(fit)], runs[len(fit) :]


def _another_type(servo: ServoModel, random: np.random.Generator) -> ServoModel:
    stall, law = servo.stall_torque(), servo.friction
    motor = replace(
        servo.motor,
        torque_constant=servo.motor.torque_constant * np.exp(random.uniform(-0.15, 0.15)),
        resistance=servo.motor.resistance * np.exp(random.uniform(-0.15, 0.15)),
        armature=servo.motor.armature * np.exp(random.uniform(-0.4, 0.4)),
    )
    added = dict.fromkeys(("viscous", "coulomb", "stribeck_coulomb"), 0.01 * stall)
    added |= dict.fromkeys(_LOADED[:4], 0.05)
    added |= dict.fromkeys(_LOADED[4:], 0.003)
    changed = {
        name: getattr(law, name) * random.uniform(0.6, 1.6) + random.uniform(0.0, most)
        for name, most in added.items()
    }
    friction = replace(
        law,
        **changed,
        stribeck_velocity=law.stribeck_velocity * np.exp(random.uniform(-0.5, 0.5)),
        stribeck_exponent=law.stribeck_exponent * np.exp(random.uniform(-0.3, 0.3)),
    )
    return replace(servo, motor=motor, friction=friction)


def _unit(servo: ServoModel, random: np.random.Generator) -> ServoModel:
    motor = replace(
        servo.motor,
        torque_constant=servo.motor.torque_constant * np.exp(random.normal(0.0, 0.03)),
        resistance=servo.motor.resistance * np.exp(random.normal(0.0, 0.03)),
    )
    load = np.exp(random.normal(0.0, 0.05))
    return replace(
        servo, motor=motor, friction=servo.friction.scaled(no_load=np.exp(random.normal(0.0, 0.1)), load=load)
    )
