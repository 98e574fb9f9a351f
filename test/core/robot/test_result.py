# SPDX-License-Identifier: Apache-2.0
"""The summary of an identified robot."""

from __future__ import annotations

import pytest

from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.result import RobotTask, joint_spread
from test.core.whole_robot_cases import JOINTS, bench


def _task(types: tuple[str, str]) -> RobotTask:
    return RobotTask(
        bench=bench(), types=dict(zip(JOINTS, types, strict=True)), servos={}, joints=JOINTS, train=()
    )


def test_units_of_one_type_have_a_spread() -> None:
    """10 % stronger and 10 % weaker than the type: 14 % of standard deviation."""
    deviations = RobotDeviations(strength={"shoulder": 0.1, "elbow": -0.1})
    spread = joint_spread(_task(("mx64", "mx64")), deviations)
    assert spread["mx64"]["strength"] == pytest.approx(0.1 * 2.0**0.5)
    assert spread["mx64"]["friction"] == 0.0
    assert joint_spread(_task(("mx106", "mx64")), deviations) == {}
