# SPDX-License-Identifier: Apache-2.0
"""What joints carry along a motion, by inverse dynamics of the whole robot."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.joint_loads import joint_loads
from bam_core.simulation.rows import ACROSS, DAMPING, INERTIA, SLOPE, TORQUE
from test.core.whole_robot_cases import arm

ROBOT = RobotDeviations(
    zero={"elbow": 0.02},
    mass={"lower": 0.05},
    centre={"upper": (0.003, 0.0, 0.0), "lower": (0.0, 0.0, -0.003)},
)


@pytest.mark.parametrize("robot", [RobotDeviations(), ROBOT])
def test_loads_are_what_inverse_dynamics_asks_for(robot: RobotDeviations) -> None:
    """At the motion itself, and where each joint is somewhat off."""
    random = np.random.default_rng(0)
    motion = random.uniform(-1.0, 1.0, (3, 9, 2)) * np.array([0.8, 3.0, 20.0])[:, None, None]
    model = arm().compile()
    names = [name for name in robot.by_name() if name != "delay"]
    found = joint_loads(model, [0, 1], [0, 1], motion, names)
    amounts = np.array([[robot.by_name()[name]] for name in names]).reshape(len(names), 1)
    robot.apply(model)
    data = mujoco.MjData(model)
    for joint in (0, 1):
        loads = found.at(joint, amounts)[:, :, 0]
        for knot in range(motion.shape[1]):
            position, speed, acceleration = (values[knot].copy() for values in motion)
            position[joint] += 0.01
            speed[joint] += 0.1
            load = loads[knot]
            given = load[TORQUE] + load[SLOPE] * position[joint] + load[DAMPING] * speed[joint] + load[ACROSS]
            position -= [robot.zero.get(name, 0.0) for name in ("shoulder", "elbow")]
            data.qpos[:], data.qvel[:], data.qacc[:] = position, speed, acceleration
            mujoco.mj_inverse(model, data)
            asked = data.qfrc_inverse[joint] - load[INERTIA] * acceleration[joint]
            if robot == ROBOT and knot % 4:
                continue  # between these knots, changes with the robot are interpolated
            assert -given == pytest.approx(asked, abs=0.03)
