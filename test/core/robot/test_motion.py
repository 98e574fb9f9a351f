# SPDX-License-Identifier: Apache-2.0
"""Motions of a robot: their files, their limits, and what they come near."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core.errors import BadData, BamError, Malformed, Missing, OutOfRange, UnknownName
from bam_core.mujoco import ServoActuation, compile_robot, equip
from bam_core.robot.contacts import ContactCheck
from bam_core.robot.motion import RobotMotion, read_motion, write_motion
from bam_core.robot.motion_candidates import RATE, draw_pieces
from bam_core.robot.motion_limits import MotionLimits, joint_space, require_reachable
from test.core.refusals import refused
from test.core.whole_robot_cases import ARM, JOINTS, arm, bench, servos

LIMITED = ARM.replace('class="weak"', 'class="weak" range="-1 0.5" limited="true"', 2).replace(
    '<default class="weak" range="-1 0.5" limited="true"/>', '<default class="weak"/>'
)


def motion(goals: np.ndarray | None = None) -> RobotMotion:
    time = np.arange(0.0, 2.0, 0.01)
    if goals is None:
        goals = np.outer(1.0 - np.cos(np.pi * time), [0.4, -0.3])
    return RobotMotion(joints=JOINTS, time=time, goal_position=goals, kp=16.0)


def test_a_motion_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    write_motion(motion(), path)
    again = read_motion(path)
    assert again.joints == JOINTS
    assert again.kp == 16.0
    assert again.time == pytest.approx(motion().time, abs=1e-4)
    assert again.goal_position == pytest.approx(motion().goal_position, abs=1e-5)
    assert path.read_text().splitlines()[0] == "time,goal:shoulder,goal:elbow,kp"


def test_a_motion_is_played_with_other_gains() -> None:
    other = motion().with_gains({"kp": None, "kd": {"elb*": 4.0}, "ki": 2.0})
    assert (other.kp, other.kd, other.ki) == (16.0, {"shoulder": 0.0, "elbow": 4.0}, 2.0)
    run = other.as_run("motion")
    assert (run.kp, run.kd, run.ki) == (other.kp, other.kd, other.ki)
    with refused(UnknownName, name="wrist"):
        motion().with_gains({"ki": {"wrist": 2.0}})
    with refused(OutOfRange, thing="kd"):
        motion().with_gains({"kd": -1.0})


def test_a_motion_with_a_gain_per_joint_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    write_motion(replace(motion(), kp={"shoulder": 8.0, "elbow": 32.0}), path)
    assert read_motion(path).kp == {"shoulder": 8.0, "elbow": 32.0}
    assert path.read_text().splitlines()[0] == "time,goal:shoulder,goal:elbow,kp:shoulder,kp:elbow"
    write_motion(replace(motion(), kd={"elbow": 4.0}, ki=2.0), path)
    assert path.read_text().splitlines()[0] == "time,goal:shoulder,goal:elbow,kp,kd:shoulder,kd:elbow,ki"
    again = read_motion(path)
    assert (again.kp, again.kd, again.ki) == (16.0, {"shoulder": 0.0, "elbow": 4.0}, 2.0)
    path.write_text("time,goal:a,goal:b,kp:a\n0,1,1,8\n1,1,1,8\n")
    with refused(Missing, thing="kp of 'b'"):
        read_motion(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "time,goal:elbow\n0,1\n1,1\n",
        "time,goal:elbow,kp\n0,1,8\n1,x,8\n",
        "time,goal:elbow,kp\n0,1,8\n1,1\n",
        "time,goal:elbow,kp\n0,1,8\n1,1,16\n",
        "time,goal:elbow,kp\n1,1,8\n0,1,8\n",
        "time,goal:elbow,kp\n0,nan,8\n1,1,8\n",
        "time,goal:elbow,kp\n0,1,-8\n1,1,-8\n",
        "time,goal:elbow,kp\n0,1,8\n",
    ],
)
def test_a_file_that_is_no_motion_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "motion.csv"
    path.write_text(text)
    with pytest.raises(BamError, match=r"motion\.csv"):
        read_motion(path)


def test_goals_lie_on_lines_between_samples_and_speeds_are_theirs() -> None:
    one = RobotMotion(
        joints=("a",), time=np.array([0.0, 1.0, 1.5]), goal_position=np.array([[0.0], [1.0], [0.0]]), kp=8
    )
    assert one.goals_at(0.25) == pytest.approx([0.25])
    assert one.goals_at(9.0) == pytest.approx([0.0])
    assert one.speed == pytest.approx([2.0])
    assert one.duration == 1.5


def test_goals_keep_within_ranges_and_around_the_start() -> None:
    spec = mujoco.MjSpec.from_string(LIMITED)
    space = joint_space(spec, JOINTS)
    assert space.low[1] == pytest.approx(-0.95)
    assert space.high[1] == pytest.approx(0.45)
    assert space.high[0] == pytest.approx(np.pi / 2)
    held = joint_space(spec, JOINTS, moving=["elbow"])
    assert held.low[0] == held.high[0] == held.start[0]
    with pytest.raises(UnknownName):
        joint_space(spec, ["wrist"])
    with pytest.raises(UnknownName):
        joint_space(spec, JOINTS, "home")


def test_a_range_in_degrees_that_was_meant_in_radians_is_refused_with_its_width() -> None:
    with pytest.raises(OutOfRange, match=r"of joint '.*': is 0\.03 rad .*degrees") as caught:
        joint_space(
            mujoco.MjSpec.from_string(LIMITED.replace('range="-1 0.5"', 'range="-0.02 0.01"')), JOINTS
        )
    assert caught.value.value == pytest.approx(0.03)


def test_pieces_begin_and_end_at_rest_at_the_start_and_keep_to_the_speed() -> None:
    space = joint_space(mujoco.MjSpec.from_string(LIMITED), JOINTS)
    pieces = draw_pieces(space, 2.0, 12, seed=1)
    assert {piece.kind for piece in pieces} == {"sweep", "steps", "ramps"}
    for piece in pieces:
        goals = piece.goal_position
        assert goals[0] == pytest.approx(space.start, abs=1e-9)
        assert goals[-1] == pytest.approx(space.start, abs=1e-9)
        speed = np.abs(np.diff(goals, axis=0)) * RATE
        assert speed.max() < 2.0
        assert speed[[0, -1]].max() < 0.1
        assert (goals >= space.low - 1e-9).all()
        assert (goals <= space.high + 1e-9).all()
        assert np.ptp(goals, axis=0).min() >= 0.0
    again = draw_pieces(space, 2.0, 12, seed=1)
    assert all(
        np.array_equal(one.goal_position, other.goal_position)
        for one, other in zip(pieces, again, strict=True)
    )


def test_what_a_description_cannot_reach_is_refused() -> None:
    spec = mujoco.MjSpec.from_string(LIMITED)
    require_reachable(motion(), spec)
    far = motion(np.outer(1.0 - np.cos(np.pi * motion().time), [0.4, 0.3]))
    with pytest.raises(OutOfRange, match="elbow"):
        require_reachable(far, spec)
    with pytest.raises(UnknownName):
        require_reachable(
            RobotMotion(joints=("a",), time=np.arange(2.0), goal_position=np.zeros((2, 1)), kp=1), spec
        )


def test_limits_are_numbers_that_there_can_be() -> None:
    for wrong in ({"speed": 0.0}, {"torque": 1.5}, {"clearance": -1.0}):
        with pytest.raises(BamError):
            MotionLimits(**wrong)
    with pytest.raises(BadData):
        RobotMotion(joints=("a",), time=np.array([0.0]), goal_position=np.zeros((1, 1)), kp=1.0)


def test_a_floor_and_the_robot_itself_are_come_near() -> None:
    hanging = np.zeros(2)
    bent = np.array([0.0, 3.0])  # the lower arm lies along the upper one
    check = ContactCheck(arm(), "fixed", clearance=0.01)
    assert not check.has_surroundings
    assert check.allow(JOINTS, hanging) == []
    assert check.problem(check.way(JOINTS, hanging, np.array([1.0, 1.0]))) == ""
    away = np.array([1.0, 0.5])  # the arm hangs down to 0.365 m
    low = ContactCheck(arm(), "fixed", clearance=0.01, floor=-0.377)
    assert low.has_surroundings
    assert low.problem(low.way(JOINTS, away, hanging)) == ""
    high = ContactCheck(arm(), "fixed", clearance=0.01, floor=-0.373)
    assert "floor" in high.problem(high.way(JOINTS, away, hanging))
    high.allow(JOINTS, hanging)
    assert high.problem(high.way(JOINTS, away, hanging)) == ""
    assert check.problem(check.way(JOINTS, hanging, bent)) == ""  # parent and child do not touch in MuJoCo


def test_torques_and_speeds_of_a_trace_are_those_of_the_servos_in_python() -> None:
    run = motion().as_run("m", 12.0)
    run = replace(run, time=run.time[:60], goal_position=run.goal_position[:60], position=run.position[:60])
    trace = bench().trace(run, servos())
    spec = arm()
    spec.option.timestep = bench().step
    equip(spec, servos())
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    actuation = ServoActuation(model, data, servos())
    actuation.kp[:], actuation.supply_voltage[:], actuation.torque_enabled[:] = run.kp, 12.0, 1.0
    settling = int((trace.time < -1e-9).sum())
    speeds, torques = [], []
    for step in range(len(trace.time) - 1):
        before, sample = (max((each - settling) // 10, 0) for each in (step - 1, step))
        # A goal acts from half a step before on.
        actuation.goal_position[:] = run.goal_position[[before, sample]].mean(axis=0)
        actuation.step()
        speeds.append(data.qvel.copy())
        torques.append(np.array(actuation.motor_torque))
    assert trace.speed[1:] == pytest.approx(np.array(speeds), abs=2e-3)
    assert trace.torque[1:] == pytest.approx(np.array(torques), abs=2e-2)
    assert np.abs(trace.torque).max() > 0.5
    assert trace.state.shape == (len(trace.time), 2)


def test_a_gain_that_is_given_needs_no_column(tmp_path: Path) -> None:
    file = tmp_path / "motion.csv"
    file.write_text("time,goal:a,goal:b\n0,0,0\n1,0.5,0.2\n2,0,0\n")
    assert read_motion(file, 16.0).kp == 16.0
    with pytest.raises(Malformed):
        read_motion(file)
