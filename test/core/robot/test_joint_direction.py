# SPDX-License-Identifier: Apache-2.0
"""Gravity shows a joint that turns the other way, or has another zero, than in the description."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from bam_core.robot.joint_direction import direction_findings
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import load_servo
from bam_core.text.robot_run_findings import OtherZero, ReversedJoint, UnprovenSigns
from test.core.whole_robot_cases import goals

ARM = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="turret"><joint name="pan" axis="0 0 1"/><geom type="sphere" size="0.03" mass="0.3"/>
    <body name="upper"><joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02" mass="0.3"/>
      <body name="lower" pos="0.2 0 0"><joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.15 0 0" size="0.015" mass="0.3"/>
      </body></body></body></worldbody></mujoco>"""
JOINTS = ("pan", "shoulder", "elbow")
SERVOS = {joint: load_servo("mx64") for joint in JOINTS}


def bench() -> RobotBench:
    return RobotBench.make(mujoco.MjSpec.from_string(ARM), "fixed")


@pytest.fixture(scope="module")
def run() -> RobotRun:
    """Of a robot that is as described."""
    two = goals(3.0)
    goal = np.column_stack([two.goal_position[:, 0], two.goal_position])
    given = replace(two, joints=JOINTS, goal_position=goal, position=goal)
    position = bench().simulate(given, SERVOS)
    return replace(given, position=np.round(position / 1.534e-3) * 1.534e-3)


def changed(run: RobotRun, joint: str, sign: float = 1.0, zero: float = 0.0) -> RobotRun:
    """The run of a robot with another sign or zero of a joint."""
    signs, zeros = np.ones(len(JOINTS)), np.zeros(len(JOINTS))
    signs[JOINTS.index(joint)], zeros[JOINTS.index(joint)] = sign, zero
    return replace(
        run, goal_position=signs * run.goal_position + zeros, position=signs * run.position + zeros
    )


def test_a_robot_as_described_has_no_findings(run: RobotRun) -> None:
    assert direction_findings(bench(), [run], JOINTS[1:], SERVOS) == []


@pytest.mark.parametrize("joint", ["shoulder", "elbow"])
def test_a_joint_with_the_other_sign_is_named_with_both_errors(joint: str, run: RobotRun) -> None:
    (finding,) = direction_findings(bench(), [changed(run, joint, sign=-1.0)], JOINTS[1:], SERVOS)
    assert isinstance(finding, ReversedJoint)
    assert finding.joint == joint
    assert finding.other_error < 1e-3
    assert finding.error > 10.0 * finding.other_error


@pytest.mark.parametrize("zero", [0.2, -0.4, 1.2])
def test_a_joint_whose_zero_is_off_is_named_with_its_zero(zero: float, run: RobotRun) -> None:
    (finding,) = direction_findings(bench(), [changed(run, "shoulder", zero=zero)], JOINTS[1:], SERVOS)
    assert isinstance(finding, OtherZero)
    assert finding.joint == "shoulder"
    assert finding.zero == pytest.approx(zero, abs=0.05)


def test_of_a_joint_that_gravity_does_not_load_it_is_said_that_nothing_proves_its_sign(run: RobotRun) -> None:
    for given in (run, changed(run, "pan", sign=-1.0)):
        (finding,) = direction_findings(bench(), [given], JOINTS, SERVOS)
        assert finding == UnprovenSigns(joints=("pan",))
    free = replace(bench(), root="free")
    assert direction_findings(free, [changed(run, "elbow", sign=-1.0)], JOINTS, SERVOS) == []
