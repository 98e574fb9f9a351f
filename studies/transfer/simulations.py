# SPDX-License-Identifier: Apache-2.0
"""The robot of a task with servos as five simulations have them; nothing else differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import mujoco
import numpy as np

from bam_core.identification.uncertainty.drawn_servos import draw_servos
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.mujoco.robot import compile_robot
from bam_core.servo.model import ServoModel, load_servo
from studies.transfer.population import Episode
from studies.transfer.tasks import Task

PUBLISHED_PD, M1, HAND_SET_PD, HAND_SET_M1, DRAWS = (
    "PD as published",
    "M1 nominal",
    "PD, hand-set ranges",
    "M1, hand-set ranges",
    "draws",
)
SIMULATIONS = (PUBLISHED_PD, M1, HAND_SET_PD, HAND_SET_M1, DRAWS)

HAND_SET = (0.9, 1.1)
"""Range of each factor: friction as MuJoCo Playground has it, the others as Isaac Gym's examples."""

_MODELS = 128  # of a randomised simulation; each episode takes one at random


@dataclass(frozen=True, kw_only=True)
class Drive:
    """A servo as a description has it: attributes of MuJoCo's joint and `position` actuator, SI."""

    stiffness: float
    effort: float
    damping: float
    armature: float
    frictionloss: float

    def scaled(self, random: np.random.Generator) -> Drive:
        """Return another one, each number with a factor of its own."""
        return Drive(**{name: value * random.uniform(*HAND_SET) for name, value in vars(self).items()})


PUBLISHED: Mapping[str, Drive] = MappingProxyType(
    {
        # MarcDcls/WholeBodyBAM, robot.xml, class mx106: kp 32 at 15 V; here kp 8.
        "mx106": Drive(
            stiffness=56.052098 * 8.0 / 32.0,
            effort=11.086254,
            damping=1.654812,
            armature=0.026609,
            frictionloss=0.103520,
        ),
        # TheRobotStudio/SO-ARM100, Simulation/SO101, before its gain became 998: kp 16 of the firmware.
        "sts3215": Drive(stiffness=17.8, effort=3.35, damping=0.6, armature=0.028, frictionloss=0.052),
    }
)
"""Drives of the task's gains in published descriptions, by servo."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What an identification knows of a servo.

    Attributes:
        m1: with constant friction.
        file: with the full law, beside its predictions; or a name in the library.
    """

    m1: ServoModel
    file: str | Path

    @classmethod
    def of(cls, folder: Path) -> Known:
        """Read what `bam identify` wrote; raises BamError."""
        return cls(m1=load_servo(folder / "m1.yaml"), file=folder / "m6.yaml")


def simulation(name: str, task: Task, known: Known, seed: int, count: int = _MODELS) -> list[mujoco.MjModel]:
    """Return the robot in one of SIMULATIONS; one model where nothing is random.

    Args:
        name: of the simulation.
        task: whose robot it is.
        known: of its servo.
        seed: of what is drawn.
        count: models where something is random.
    """
    random = np.random.default_rng((seed, SIMULATIONS.index(name)))
    joints = len(task.joints)
    if name in (PUBLISHED_PD, HAND_SET_PD):
        drive = PUBLISHED[task.servo]
        if name == PUBLISHED_PD:
            return [_driven(task, [drive] * joints)]
        return [_driven(task, [drive.scaled(random) for _ in range(joints)]) for _ in range(count)]
    if name in (M1, HAND_SET_M1):
        servo = known.m1
        if name == M1:
            return [equipped(task, [NativeServo(servo=servo, kp=task.kp, kd=task.kd)] * joints)]
        return [equipped(task, [_hand_set(servo, task, random) for _ in range(joints)]) for _ in range(count)]
    drawn = list(draw_servos(known.file, count=count * joints, seed=seed))
    return [
        equipped(task, [NativeServo(servo=servo, kp=task.kp, kd=task.kd) for servo in drawn[row::count]])
        for row in range(count)
    ]


def hidden_models(task: Task, robots: Sequence[Sequence[Episode]]) -> list[list[mujoco.MjModel]]:
    """Return the hidden robots, episode by episode."""
    return [
        [
            equipped(
                task,
                [
                    NativeServo(servo=servo, kp=task.kp, kd=task.kd, supply_voltage=episode.supply)
                    for servo in episode.servos
                ],
            )
            for episode in robot
        ]
        for robot in robots
    ]


def equipped(task: Task, servos: Sequence[NativeServo]) -> mujoco.MjModel:
    """Return the robot with servos of the engine plugin."""
    spec = task.spec()
    equip_native(spec, dict(zip(task.joints, servos, strict=True)))
    return compile_robot(spec)


def _hand_set(servo: ServoModel, task: Task, random: np.random.Generator) -> NativeServo:
    friction, viscous, strength, armature, gain = random.uniform(*HAND_SET, 5)
    law, motor = servo.friction, servo.motor
    return NativeServo(
        servo=replace(
            servo,
            friction=replace(law, coulomb=law.coulomb * friction, viscous=law.viscous * viscous),
            motor=replace(
                motor,
                torque_constant=motor.torque_constant * strength,
                armature=motor.armature * armature,
            ),
        ),
        kp=task.kp * gain,
        kd=task.kd * gain,
    )


def _driven(task: Task, drives: Sequence[Drive]) -> mujoco.MjModel:
    """Return the robot with MuJoCo's own position actuators."""
    spec = task.spec()
    for name, drive in zip(task.joints, drives, strict=True):
        joint = spec.joint(name)
        joint.damping = np.array([drive.damping, 0.0, 0.0])
        joint.armature, joint.frictionloss = drive.armature, drive.frictionloss
        actuator = spec.add_actuator(
            name=name,
            target=name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            forcelimited=True,
            forcerange=[-drive.effort, drive.effort],
        )
        actuator.set_to_position(kp=drive.stiffness)
    return compile_robot(spec)
