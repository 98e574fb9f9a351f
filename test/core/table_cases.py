# SPDX-License-Identifier: Apache-2.0
"""The small arm above a table, and a run in which it is lowered onto it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from test.core.whole_robot_cases import JOINTS, arm, servos

HEIGHT = -0.25
"""m, of the table; the arm hangs 0.35 m down."""


def table_bench() -> RobotBench:
    """The arm with a site at its tip."""
    spec = arm()
    spec.body("lower").add_site(name="tip", pos=[0.0, 0.0, -0.15])
    return RobotBench.make(spec, "fixed", step=4e-3)


def told() -> RobotRun:
    """The arm is lowered from the side in steps, lower and lower, and raised between them."""
    time = np.arange(0.0, 16.0, 0.02)
    lift = 1.2 - 0.6 * np.interp(time % 4.0, [0.6, 1.2, 2.4, 3.0], [0.0, 1.0, 1.0, 0.0]) * (
        0.8 + 0.2 * (time // 4.0)
    )
    goal = np.stack([lift, np.full_like(lift, 0.1)], axis=1)
    return RobotRun(
        name="down", joints=JOINTS, time=time, goal_position=goal, position=goal, kp=32.0, supply_voltage=12.0
    )


def lowered(deviations: RobotDeviations) -> RobotRun:
    """What servos M1 of the library do in that run."""
    run = told()
    return replace(run, position=table_bench().simulate(run, servos("m1"), deviations))
