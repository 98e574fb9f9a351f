# SPDX-License-Identifier: Apache-2.0
"""The arm with the position actuators of its own description, as users simulate it."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.robot.run import RobotRun

_SETTLING = 0.5  # s with the first goals, in the first posture


@dataclass(frozen=True, kw_only=True, eq=False)
class DescribedArm:
    """A description with its actuators.

    Attributes:
        spec: the description.
        kp: N·m/rad, of all its actuators, without damping by the actuator; None: as described.
    """

    spec: mujoco.MjSpec
    kp: float | None = None

    def simulate(self, run: RobotRun) -> Array:
        """Return (n, joints of the run) rad at the times of the run; each goal is in force from its time on.

        Args:
            run: joints that are not in it hold the description's zero posture.
        """
        model = self.spec.compile()
        if self.kp is not None:
            model.actuator_gainprm[:, 0] = self.kp
            model.actuator_biasprm[:, 1], model.actuator_biasprm[:, 2] = -self.kp, 0.0
        data = mujoco.MjData(model)
        addresses = model.jnt_qposadr[[model.joint(joint).id for joint in run.joints]]
        controls = [_actuator(model, joint) for joint in run.joints]
        data.qpos[addresses] = run.position[0]
        data.ctrl[controls] = run.goal_position[0]
        step = model.opt.timestep
        mujoco.mj_step(model, data, nstep=round(_SETTLING / step))
        simulated = np.empty_like(run.position)
        done = 0
        for row, moment in enumerate(run.time - run.time[0]):
            steps = round(moment / step) - done
            if steps:
                mujoco.mj_step(model, data, nstep=steps)
            done += steps
            simulated[row] = data.qpos[addresses]
            data.ctrl[controls] = run.goal_position[row]
        return simulated


def _actuator(model: mujoco.MjModel, joint: str) -> int:
    """Return the number of the actuator that drives a joint."""
    (number,) = np.flatnonzero(model.actuator_trnid[:, 0] == model.joint(joint).id)
    return int(number)
