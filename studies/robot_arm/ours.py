# SPDX-License-Identifier: Apache-2.0
"""The same arm as `bam robot identify` finds it, beginning at the servos of the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bam_core.robot.identification import identify_robot
from bam_core.robot.result import RobotIdentification, RobotTask
from bam_core.robot.run import RobotRun
from bam_core.robot.settings import RobotIdentifySettings
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import load_servo
from studies.robot_arm.arm import JOINTS, six_joint_arm
from studies.robot_arm.hidden import joint_types

MODEL = "m6"


def identify_arm(
    fitted: Sequence[RobotRun],
    test: Sequence[RobotRun] = (),
    progress: Callable[[str], None] = lambda words: None,
) -> RobotIdentification:
    """Fit M6 to runs and follow others."""
    types = joint_types()
    return identify_robot(
        RobotTask(
            bench=RobotBench.make(six_joint_arm(), "fixed"),
            types=types,
            servos={name: load_servo(name) for name in dict.fromkeys(types.values())},
            joints=JOINTS,
            train=fitted,
            test=test,
        ),
        RobotIdentifySettings(models=MODEL),
        progress=progress,
    )
