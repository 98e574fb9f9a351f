# SPDX-License-Identifier: Apache-2.0
"""Goals of a run as controls of a simulation, whose steps are not those of the samples."""

from __future__ import annotations

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.robot.run import RobotRun
from bam_core.robot.run_model import joint_number


def goal_controls(
    model: mujoco.MjModel, data: mujoco.MjData, run: RobotRun, zero: Array, edges: Array
) -> Array:
    """Return (steps, controls): the mean over each step of the goals as servos get them.

    Args:
        model: the robot.
        data: its state, in which joints without goals stay.
        run: with the goals, in terms of the encoders.
        zero: (joints of the run,) rad, readings of the encoders where joints are at zero.
        edges: (steps + 1,) s, of the steps.
    """
    control = np.zeros((len(edges) - 1, model.nu))
    for actuator in range(model.nu):
        joint = model.actuator(actuator).name
        if joint in run.joints:
            column = run.column(joint)
            stamps, goals = run.goals_of(joint)
            of_steps = _mean_of_steps(edges, stamps, np.append(run.goal_before[column], goals))
            control[:, actuator] = of_steps - zero[column]
        elif model.actuator_plugin[actuator] >= 0:  # a servo that nothing is known of holds
            control[:, actuator] = data.qpos[model.jnt_qposadr[joint_number(model, joint)]]
    return control


def _mean_of_steps(edges: Array, stamps: Array, goals: Array) -> Array:
    """Return (steps,) means of goals: the first until the first stamp, each other from its stamp on."""
    switches = np.searchsorted(edges, stamps, side="right") - 1  # in which step goals change
    inside = (switches >= 0) & (switches < len(edges) - 1)
    share = (edges[switches[inside] + 1] - stamps[inside]) / np.diff(edges)[switches[inside]]
    of_steps = goals[np.searchsorted(stamps, edges[:-1])]
    np.add.at(of_steps, switches[inside], share * np.diff(goals)[inside])
    return np.asarray(of_steps)
