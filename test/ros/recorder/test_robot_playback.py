# SPDX-License-Identifier: Apache-2.0
"""A motion that is played on a robot never jumps, and ends with the servos released where they were found."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from bam_core.errors import BamError, OutOfRange, Unavailable
from bam_core.robot.motion import RobotMotion
from bam_ros.recorder.joint_reading import JointReading
from bam_ros.recorder.robot_playback import PlaybackLimits, RobotGoal, RobotPlayback, Stage

PERIOD = 0.005
JOINTS = ("shoulder", "elbow")
FOUND = (0.4, -0.3)


def motion() -> RobotMotion:
    time = np.arange(0.0, 1.0, 0.01)
    return RobotMotion(
        joints=JOINTS, time=time, goal_position=np.outer(1.0 - np.cos(2 * np.pi * time), [0.3, -0.2]), kp=8.0
    )


class Robot:
    """Follows its goals with a lag, stays where it is when released."""

    def __init__(self) -> None:
        self.position = dict(zip(JOINTS, FOUND, strict=True))
        self.torque = False
        self.silent: set[str] = set()
        self.heard = dict.fromkeys(JOINTS, (0.0, 0.0))  # when and where each joint was measured last

    def readings(self, now: float) -> dict[str, JointReading]:
        for joint in JOINTS:
            if joint not in self.silent:
                self.heard[joint] = (now, self.position[joint])
        return {
            joint: JointReading(time=time, position=position, torque_enabled=self.torque)
            for joint, (time, position) in self.heard.items()
        }

    def follow(self, goal: RobotGoal) -> None:
        self.torque = goal.torque_enable
        for joint, target in goal.position.items():
            if self.torque:
                self.position[joint] += 0.3 * (target - self.position[joint])


Step = tuple[float, Stage, RobotGoal]


def play(
    playback: RobotPlayback,
    robot: Robot,
    meddle: Callable[[float, RobotPlayback], None] = lambda now, playback: None,
    stall: float = 0.0,
) -> list[Step]:
    steps: list[Step] = []
    now = 0.0
    while playback.stage is not Stage.DONE:
        goal = playback.step(now, robot.readings(now))
        steps.append((now, playback.stage, goal))
        robot.follow(goal)
        meddle(now, playback)
        now += stall if stall and len(steps) % 50 == 0 else PERIOD
        assert now < 120.0, "the motion never ends"
    return steps


def test_all_stages_come_in_order_and_no_goal_jumps() -> None:
    robot = Robot()
    steps = play(RobotPlayback(motion(), PlaybackLimits(approach_speed=0.5)), robot)
    stages = list(dict.fromkeys(stage for _, stage, _ in steps))
    assert stages == [
        Stage.FREE,
        Stage.APPROACH,
        Stage.REST,
        Stage.MOTION,
        Stage.END,
        Stage.RETURN,
        Stage.RELEASE,
        Stage.DONE,
    ]
    told = [(stage, goal) for _, stage, goal in steps if goal.torque_enable]
    for column, joint in enumerate(JOINTS):
        goals = np.array([goal.position[joint] for _, goal in told])
        speeds = np.abs(np.diff(goals)) / PERIOD
        slow = np.array([stage is not Stage.MOTION for stage, _ in told[1:]])
        assert goals[0] == pytest.approx(FOUND[column], abs=1e-6)
        assert speeds[slow].max() <= 0.5 + 1e-6
        assert speeds.max() <= 1.05 * motion().speed.max()
    assert not robot.torque
    assert tuple(robot.position.values()) == pytest.approx(FOUND, abs=1e-3)


def test_goals_of_the_motion_are_those_of_its_file() -> None:
    steps = play(RobotPlayback(motion(), PlaybackLimits()), Robot())
    played = [(now, goal) for now, stage, goal in steps if stage is Stage.MOTION]
    begin = played[0][0]
    for now, goal in played:
        assert list(goal.position.values()) == pytest.approx(motion().goals_at(now - begin))


def test_after_a_stall_the_motion_goes_on_where_it_was() -> None:
    steps = play(RobotPlayback(motion(), PlaybackLimits()), Robot(), stall=0.25)
    told = np.array([list(goal.position.values()) for _, _, goal in steps if goal.torque_enable])
    assert np.abs(np.diff(told, axis=0)).max() < 0.06 * motion().speed.max()


def test_it_waits_at_the_start_until_it_may_go_on() -> None:
    playback = RobotPlayback(motion(), PlaybackLimits())
    playback.may_start = False

    def allow(now: float, playback: RobotPlayback) -> None:
        playback.may_start = now > 20.0

    steps = play(playback, Robot(), allow)
    assert min(now for now, stage, _ in steps if stage is Stage.MOTION) > 20.0


def test_a_robot_that_is_asked_to_stop_holds_and_is_released_after_a_while() -> None:
    robot = Robot()

    def stop(now: float, playback: RobotPlayback) -> None:
        if playback.stage is Stage.MOTION and playback.elapsed > 0.5:
            playback.hold(now)

    steps = play(RobotPlayback(motion(), PlaybackLimits(hold=2.0)), robot, stop)
    held = [goal for _, stage, goal in steps if stage is Stage.HOLD]
    assert len(held) == pytest.approx(2.0 / PERIOD, rel=0.05)
    assert all(goal == held[0] for goal in held)
    assert not robot.torque
    assert Stage.RETURN not in {stage for _, stage, _ in steps}


def test_a_joint_that_leaves_its_goal_is_an_error() -> None:
    def push(now: float, playback: RobotPlayback) -> None:
        if playback.stage is Stage.MOTION:
            robot.position["elbow"] += 0.5

    robot = Robot()
    with pytest.raises(OutOfRange, match="elbow"):
        play(RobotPlayback(motion(), PlaybackLimits()), robot, push)


def test_a_joint_without_states_is_an_error_while_torque_is_on() -> None:
    def silence(now: float, playback: RobotPlayback) -> None:
        if playback.stage is Stage.MOTION:
            robot.silent.add("shoulder")

    robot = Robot()
    with pytest.raises(Unavailable, match="shoulder"):
        play(RobotPlayback(motion(), PlaybackLimits()), robot, silence)


@pytest.mark.parametrize(("timeout", "passes"), [(0.3, False), (0.5, True)])
def test_a_gap_in_the_states_of_a_joint_is_an_error_beyond_the_limit(timeout: float, passes: bool) -> None:
    robot = Robot()
    began: list[float] = []

    def gap(now: float, playback: RobotPlayback) -> None:
        if playback.stage is Stage.REST:
            began.append(now)
            (robot.silent.add if now - began[0] < 0.35 else robot.silent.discard)("shoulder")

    limits = PlaybackLimits(state_timeout=timeout)
    if passes:
        assert play(RobotPlayback(motion(), limits), robot, gap)[-1][1] is Stage.DONE
    else:
        with pytest.raises(Unavailable) as caught:
            play(RobotPlayback(motion(), limits), robot, gap)
        assert caught.value.thing == "joint 'shoulder'"


def test_a_servo_that_does_not_obey_torque_is_an_error() -> None:
    class Deaf(Robot):
        def follow(self, goal: RobotGoal) -> None:
            """Ignore it."""

    with pytest.raises(Unavailable, match="torque is not on"):
        play(RobotPlayback(motion(), PlaybackLimits()), Deaf())


def test_positions_and_limits_that_are_no_numbers_are_refused() -> None:
    robot = Robot()
    robot.position["elbow"] = math.nan
    with pytest.raises(OutOfRange, match="elbow"):
        RobotPlayback(motion(), PlaybackLimits()).step(0.0, robot.readings(0.0))
    with pytest.raises(BamError):
        PlaybackLimits(error=0.0)
