# SPDX-License-Identifier: Apache-2.0
"""Recorded runs of whole robots: reading them, and moving a simulated robot with what they were told."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from refusals import refused

from bam_core.errors import Malformed, Missing, UnknownName, Unreadable, WrongShape
from bam_core.mujoco.robot_replay import joints_by_class, replay_robot, stand_on_floor
from bam_core.mujoco.robot_run import RobotRun, read_robot_run

ROBOT = """
<mujoco model="rocker">
  <default>
    <default class="mx64"><joint damping="1"/></default>
    <default class="other"/>
  </default>
  <worldbody>
    <body name="base" pos="0 0 3">
      <freejoint/>
      <geom type="box" size="0.2 0.2 0.02" mass="3"/>
      <site name="sole" pos="0 0 -0.02"/>
      <body name="arm" pos="0 0 0.3">
        <joint name="lift" class="mx64" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.01" mass="0.2"/>
        <geom type="sphere" pos="0 0 -0.2" size="0.02" mass="0.4"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="lift" joint="lift" kp="5"/></actuator>
</mujoco>
"""


def robot() -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_string(ROBOT)
    stand_on_floor(spec)
    return spec


def run(goal: float = 0.6, start: float = 0.0) -> RobotRun:
    """A step of the goal after 0.3 s."""
    time = np.arange(0.0, 1.2, 0.01)
    goals = np.where(time < 0.3, start, goal)[:, None]
    return RobotRun(joints=("lift",), time=time, goal_position=goals, position=np.full_like(goals, start))


def test_a_robot_on_the_floor_follows_the_goals_of_a_run_late_and_not_quite() -> None:
    told = run()
    found = replay_robot(robot(), {"lift": "mx64"}, told, kp=32.0, foot="sole")
    assert found.shape == told.position.shape
    assert np.abs(found[told.time < 0.3]).max() < 0.02
    assert 0.0 < found[told.time.searchsorted(0.34), 0] < 0.3
    assert found[-1, 0] == pytest.approx(0.6, abs=0.1)
    assert abs(found[-1, 0] - 0.6) > 1e-3


def test_lower_gains_leave_larger_errors() -> None:
    errors = [
        abs(replay_robot(robot(), {"lift": "mx64"}, run(), kp=kp, foot="sole")[-1, 0] - 0.6)
        for kp in (4.0, 32.0)
    ]
    assert errors[0] > 2.0 * errors[1]


def test_measured_positions_after_the_first_do_not_count() -> None:
    told = run()
    other = RobotRun(
        joints=told.joints,
        time=told.time,
        goal_position=told.goal_position,
        position=np.where(told.time[:, None] > 0.0, 1.0, told.position),
    )
    one, two = (replay_robot(robot(), {"lift": "mx64"}, each, kp=32.0, foot="sole") for each in (told, other))
    assert np.array_equal(one, two)


def test_joints_are_found_by_the_class_of_their_servo() -> None:
    assert joints_by_class(robot(), ["mx64", "mx106"]) == {"lift": "mx64"}


def test_what_a_robot_lacks_is_named() -> None:
    with refused(UnknownName, kind="site", name="left_foot"):
        replay_robot(robot(), {"lift": "mx64"}, run(), kp=32.0, foot="left_foot")
    other = RobotRun(joints=("knee",), time=run().time, goal_position=run().position, position=run().position)
    with refused(UnknownName, name="knee"):
        replay_robot(robot(), {"lift": "mx64"}, other, kp=32.0, foot="sole")


def test_a_run_is_read_from_its_columns_of_goals_and_positions(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("time,goal:a,goal:b,read:b,read:b_velocity,imu\n0,9,1,2,5,7\n0.01,9,3,4,5,7\n")
    found = read_robot_run(path)
    assert found.joints == ("b",)
    assert found.goal_position.tolist() == [[1.0], [3.0]]
    assert found.position.tolist() == [[2.0], [4.0]]
    path.write_text("time,goal:b,read:b\n0,1,2\n0.01,1,nan\n")
    with refused(Missing):
        read_robot_run(path)
    path.write_text("time,goal:b,read:b\n0,1,2\n0.01,1\n")
    with refused(Malformed):
        read_robot_run(path)
    path.write_text("a,b\n0,1\n")
    with refused(Malformed):
        read_robot_run(path)
    with refused(Unreadable):
        read_robot_run(tmp_path / "none.csv")


def test_a_run_ends_where_it_is_cut() -> None:
    assert run().until(0.5).time[-1] == pytest.approx(0.5)
    with refused(WrongShape):
        RobotRun(joints=("a", "b"), time=run().time, goal_position=run().position, position=run().position)
