# SPDX-License-Identifier: Apache-2.0
"""The table of a robot's joints has the gains of every joint in all runs, zeros too."""

from __future__ import annotations

from dataclasses import replace

from bam_core.cli.robot.gain_table import gain_table
from test.core.whole_robot_cases import goals


def test_each_joint_has_the_gains_of_all_runs() -> None:
    first = replace(goals(), kp={"shoulder": 8.0, "elbow": 16.0}, kd=32.0)
    second = replace(goals(), kp=32.0, kd={"shoulder": 32.0})
    rows = gain_table(("shoulder", "elbow"), {"shoulder": "mx106", "elbow": "mx64"}, [first, second])
    header, _, shoulder, elbow = (line.split() for line in rows.splitlines())
    assert header == ["joint", "servo", "kp", "ki", "kd"]
    assert shoulder == ["shoulder", "mx106", "8,", "32", "0", "32"]
    assert elbow == ["elbow", "mx64", "16,", "32", "0", "0,", "32"]
