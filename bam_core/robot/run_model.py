# SPDX-License-Identifier: Apache-2.0
"""A robot compiled as it was in a run: with its servos, their gains, and its deviations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import mujoco

from bam_core.errors import Missing, UnknownName
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.mujoco.robot import compile_robot
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.run import RobotRun
from bam_core.robot.table import add_tables
from bam_core.servo.gains import gain_of
from bam_core.servo.model import ServoModel


def compile_for_run(
    description: mujoco.MjSpec, run: RobotRun, servos: Mapping[str, ServoModel], deviations: RobotDeviations
) -> mujoco.MjModel:
    """Return a robot with servos whose gains are a run's, and with its deviations.

    Raises:
        BamError: a joint is not in the robot, or a gain is not known.
    """
    for joint in servos:
        if run.kp is None or (joint in run.joints and gain_of(run.kp, joint) is None):
            raise Missing(
                f"{run.name}, kp of '{joint}'",
                "the position gain of its servo",
                advice="give --kp or add a bench.yaml",
            )
    spec = description.copy()
    add_tables(spec, deviations.table)
    equip_native(
        spec,
        {
            joint: NativeServo(
                servo=_in_run(deviations.unit(servo, joint), run, joint),
                kp=gain_of(run.kp, joint),
                kd=gain_of(run.kd, joint) or 0.0,
                ki=gain_of(run.ki, joint) or 0.0,
                supply_voltage=run.supply_voltage,
                encoder_zero=deviations.zero.get(joint, 0.0),
            )
            for joint, servo in servos.items()
        },
        start_contacts=True,  # `RobotBench.make` has excluded them, or was told not to
    )
    for joint in servos:  # a real servo takes goals that its joint cannot reach
        spec.actuator(joint).ctrllimited = mujoco.mjtLimited.mjLIMITED_FALSE
    model = compile_robot(spec)
    deviations.apply(model)
    return model


def joint_number(model: mujoco.MjModel, joint: str) -> int:
    """Return the number of a joint; raise UnknownName with the joints of the robot where there is none."""
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
    if number < 0:
        names = [model.joint(index).name for index in range(model.njnt)]
        raise UnknownName("joint", joint, filter(None, names))
    return int(number)


def _in_run(servo: ServoModel, run: RobotRun, joint: str) -> ServoModel:
    """Return a servo as the registers of a run made it."""
    acceleration = gain_of(run.goal_acceleration, joint)
    return replace(servo, firmware=servo.firmware.accelerated(acceleration))
