# SPDX-License-Identifier: Apache-2.0
"""Goals of a run as controls of a simulation, whose steps are not those of the samples."""

from __future__ import annotations

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.robot.run import RobotRun
from bam_core.robot.run_model import joint_number


def goal_controls(
    model: mujoco.MjModel, data: mujoco.MjData, run: RobotRun, goals: Array, edges: Array
) -> Array:
    """Return (steps, controls): the mean over each step of the goals as servos get them.

    Args:
        model: the robot.
        data: its state, in which joints without goals stay.
        run: when goals change.
        goals: (1 + n, joints) rad, those before the run and those of its samples.
        edges: (steps + 1,) s, of the steps.
    """
    control = np.zeros((len(edges) - 1, model.nu))
    switches = np.searchsorted(edges, run.time, side="right") - 1  # in which step goals change
    inside = (switches >= 0) & (switches < len(control))
    share = (edges[1:][switches[inside]] - run.time[inside]) / model.opt.timestep
    newest = np.searchsorted(run.time, edges[:-1])
    for actuator in range(model.nu):
        joint = model.actuator(actuator).name
        if joint in run.joints:
            goal = goals[:, run.column(joint)]
            control[:, actuator] = goal[newest]
            np.add.at(control[:, actuator], switches[inside], share * np.diff(goal)[inside])
        elif model.actuator_plugin[actuator] >= 0:  # a servo that nothing is known of holds
            control[:, actuator] = data.qpos[model.jnt_qposadr[joint_number(model, joint)]]
    return control
