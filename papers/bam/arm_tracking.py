# SPDX-License-Identifier: Apache-2.0
"""An arm whose servos follow a path, in MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import WrongShape
from bam_core.mujoco.actuate import actuate
from bam_core.mujoco.equip import equip
from bam_core.mujoco.robot import compile_robot
from bam_core.servo.model import ServoModel
from papers.bam.arm_description import arm_spec
from papers.bam.arm_paths import PATHS, path_points
from papers.bam.two_link import JOINTS, TwoLinkArm

SETTLING = 1.0
"""s; how long the arm hangs on its servos at the path's start before it sets off."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ArmTrack:
    """A simulated run along a path; time is zero where the path begins.

    Attributes:
        time: (n,) s.
        goal_position: (n, 2) of shoulder and elbow, rad.
        position: (n, 2) rad.
    """

    time: Array
    goal_position: Array
    position: Array


def track(
    arm: TwoLinkArm, servos: Sequence[ServoModel], path: str, kp: float, *, timestep: float = 1e-3
) -> ArmTrack:
    """Simulate an arm that follows a path, from rest at its start.

    Args:
        arm: its links.
        servos: at shoulder and elbow.
        path: name in PATHS.
        kp: position gain of both, firmware units.
        timestep: s.

    Raises:
        BamError: not one servo for each joint, no such path, or one out of reach.
        SimulationError: the simulation diverges.
    """
    if len(servos) != len(JOINTS):
        raise WrongShape("servos", len(servos), f"one each for {' and '.join(JOINTS)}", advice="correct them")
    by_joint = dict(zip(JOINTS, servos, strict=True))
    spec = arm_spec(arm, timestep=timestep)
    equip(spec, by_joint)
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    actuation = actuate(model, data, by_joint)
    actuation.kp[:] = kp
    actuation.torque_enabled[:] = 1.0
    duration = PATHS[path].duration if path in PATHS else 0.0
    settling, steps = (round(span / timestep) for span in (SETTLING, SETTLING + duration))
    time: Array = np.arange(-settling, steps - settling, dtype=np.float64) * np.float64(timestep)
    goals = arm.inverse(path_points(arm, path, time))
    data.qpos[:] = goals[0]
    position = np.empty_like(goals)
    for k in range(steps):
        position[k] = data.qpos
        actuation.goal_position[:] = goals[k]
        actuation.step()
    return ArmTrack(time=time[settling:], goal_position=goals[settling:], position=position[settling:])
