# SPDX-License-Identifier: Apache-2.0
"""Motions of a robot, played through servo nodes: bags to identify from, and every way that ends it early."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rclpy.executors import SingleThreadedExecutor

from bam_core.errors import BamError, Conflict, OutOfRange, Unavailable, Unsupported
from bam_core.recordings.bag_metadata import promised_messages
from bam_core.robot.bag_run import read_bag_run
from bam_core.robot.motion import RobotMotion
from bam_ros.driver.servo_bus import Gains
from bam_ros.recorder import RecordingStopped
from bam_ros.recorder.errors import DriverSilent
from bam_ros.recorder.robot_playback import PlaybackLimits, Stage
from bam_ros.recorder.robot_ready import postures, require_playable, wait_for_robot
from bam_ros.recorder.robot_recorder import RobotLinks, RobotRecorder, RobotReport
from bam_ros.recorder.waits import Waits
from bam_ros.text.notice import Notice
from bam_ros.text.recorder_notices import DriverAwaited, DriversThere, RobotHolds
from bam_ros.text.spoiled_runs import GainsChanged
from test.core.refusals import refused
from test.ros.recorder_bench import Bench, FakeDriver
from test.ros.recorder_time import TimedBus
from test.ros.ros_helpers import LONGEST_COMMAND_TIMEOUT, PATIENCE

pytestmark = pytest.mark.ros

JOINTS = ("shoulder", "elbow", "wrist")
PATIENT = Waits(discovery=PATIENCE, silence=PATIENCE)  # whatever the machine does
FAST = PlaybackLimits(
    approach_speed=10.0,
    error=3.0,
    state_timeout=PATIENCE,
    rest=0.1,
    torque_timeout=PATIENCE,
    pause=PATIENCE,
)


def motion(joints: tuple[str, ...] = JOINTS, size: float = 0.3) -> RobotMotion:
    time = np.arange(0.0, 0.6, 0.01)
    sizes = size * np.linspace(1.0, -0.5, len(joints))
    goals = 0.2 + np.outer(1.0 - np.cos(2 * np.pi * time / time[-1]), sizes)
    return RobotMotion(joints=joints, time=time, goal_position=goals, kp=8.0)


@pytest.fixture
def bench(ros_domain: int) -> Iterator[Bench]:
    bench = Bench(names=JOINTS, position=0.1)
    yield bench
    bench.close()


def nothing() -> None:
    """Watch without a word."""


def play(
    bench: Bench,
    output: Path,
    played: RobotMotion,
    *,
    limits: PlaybackLimits = FAST,
    drivers: tuple[str, ...] = ("driver",),
    tick: object = None,
    notices: list[Notice] | None = None,
    waits: Waits = PATIENT,
) -> RobotReport:
    with RobotLinks(bench.node, drivers, played.joints, waits) as robot:
        wait_for_robot(robot.links, robot.clients, nothing)
        require_playable(played, robot.links)
        robot.hold_gains(played, nothing)
        recorder = RobotRecorder(robot.links, played, limits, lambda: robot.gains_problem(played, nothing))
        watch = nothing if tick is None else (lambda: tick(recorder))
        return recorder.record(output, watch, (notices if notices is not None else []).append)


def test_a_motion_becomes_a_bag_that_can_be_identified_from(bench: Bench, tmp_path: Path) -> None:
    report = play(bench, tmp_path / "arm_kp8", motion())
    assert report.problem is None
    run = read_bag_run(tmp_path / "arm_kp8")
    assert set(run.joints) == set(JOINTS)
    assert run.time[-1] > 0.4
    for joint in JOINTS:
        column = motion().joints.index(joint)
        assert np.ptp(run.goal_position[:, run.column(joint)]) == pytest.approx(
            np.ptp(motion().goal_position[:, column]), rel=0.3
        )
    assert promised_messages(tmp_path / "arm_kp8") is not None
    assert bench.bus.gains == {joint: Gains(kp=8.0, ki=0.0, kd=0.0) for joint in JOINTS}
    assert bench.bus.torque == [False] * 3
    assert bench.bus.position == pytest.approx([0.1] * 3, abs=0.01)  # back where it was found


def test_every_joint_is_given_its_own_gains(bench: Bench, tmp_path: Path) -> None:
    gains = {"kp": {"wrist": 16.0}, "kd": 4.0, "ki": {"elb*": 2.0}}
    assert play(bench, tmp_path / "arm", motion().with_gains(gains)).problem is None
    assert bench.bus.gains == {
        "shoulder": Gains(kp=8.0, ki=0.0, kd=4.0),
        "elbow": Gains(kp=8.0, ki=2.0, kd=4.0),
        "wrist": Gains(kp=16.0, ki=0.0, kd=4.0),
    }
    run = read_bag_run(tmp_path / "arm")  # the bag has them
    assert (run.kp, run.kd, run.ki) == (
        {"shoulder": 8.0, "elbow": 8.0, "wrist": 16.0},
        {"shoulder": 4.0, "elbow": 4.0, "wrist": 4.0},
        {"shoulder": 0.0, "elbow": 2.0, "wrist": 0.0},
    )


def test_a_robot_on_two_drivers_moves_as_one(bench: Bench, tmp_path: Path) -> None:
    other = TimedBus(bench.clock, names=("gripper",), position=0.0)
    driver = FakeDriver(other, namespace="hand", **bench.parameters(command_timeout=LONGEST_COMMAND_TIMEOUT))
    bench.spin(driver, SingleThreadedExecutor(context=bench.context))
    driver.start()
    try:
        both = (*JOINTS, "gripper")
        play(bench, tmp_path / "both_kp8", motion(both), drivers=("driver", "hand/driver"))
        run = read_bag_run(tmp_path / "both_kp8")
        assert set(run.joints) == set(both)
        assert np.ptp(run.goal_position[:, run.column("gripper")]) > 0.05
        assert other.torque == [False]
    finally:
        driver.close()


def test_what_does_not_fit_is_refused_before_torque(bench: Bench, tmp_path: Path) -> None:
    with RobotLinks(bench.node, ["driver"], (*JOINTS, "tail"), PATIENT) as robot:
        wait_for_robot(robot.links, robot.clients, nothing)
        with pytest.raises(Conflict, match="tail"):
            require_playable(motion((*JOINTS, "tail")), robot.links)
        with pytest.raises(OutOfRange, match="shoulder"):
            require_playable(motion(size=2.0), robot.links)
        robot.links[0].configuration.unmodelled = ["", "slave mode is set", ""]
        with pytest.raises(BamError, match="slave mode"):
            require_playable(motion(), robot.links)
        robot.links[0].configuration.unmodelled = ["", "", ""]
        robot.links[0].configuration.servo = ["mx106"] * 3
        robot.links[0].configuration.id = [1, 2, 3]
        with pytest.raises(Conflict, match="mx106"):
            require_playable(motion(), robot.links, {"elbow": "mx64"})
        with pytest.raises(OutOfRange, match="kp"):
            require_playable(replace(motion(), kp=800.0), robot.links)
        with refused(OutOfRange, thing="ki of the motion, joint 'elbow'"):
            require_playable(replace(motion(), ki={"elbow": 2.5}), robot.links)
        robot.links[0].configuration.servo = ["sts3215"] * 3
        with refused(Unsupported, thing="ki"):
            require_playable(replace(motion(), ki=2.0), robot.links)
        robot.links[0].configuration.servo = ["mx106"] * 3
        require_playable(motion(), robot.links, dict.fromkeys(JOINTS, "mx106"))
        assert postures(motion(), robot.links) == pytest.approx(dict.fromkeys(JOINTS, 0.1))
    assert not any(any(goal.torque_enable) for goal in bench.bus.goals)


def test_the_first_stop_holds_and_the_second_releases(bench: Bench, tmp_path: Path) -> None:
    seen: list[Stage] = []

    def tick(recorder: RobotRecorder) -> None:
        seen.append(recorder.stage)
        if recorder.stage is Stage.MOTION or seen.count(Stage.HOLD) == 3:
            raise RecordingStopped("interrupted")

    notices: list[Notice] = []
    with pytest.raises(RecordingStopped):
        play(bench, tmp_path / "arm_kp8", motion(), tick=tick, notices=notices)
    assert notices == [RobotHolds()]
    assert seen.count(Stage.HOLD) == 3
    assert bench.bus.torque == [False] * 3
    assert promised_messages(tmp_path / "arm_kp8") is None  # marked as interrupted


def test_a_joint_away_from_its_goal_ends_it_with_torque_off(bench: Bench, tmp_path: Path) -> None:
    sample = bench.bus.exchange

    def exchange(goal: object) -> object:
        found = sample(goal)
        return replace(found, position=(found.position[0], -1.4, found.position[2]))

    bench.bus.exchange = exchange
    with pytest.raises(OutOfRange, match="elbow"):
        play(bench, tmp_path / "arm_kp8", motion(), limits=replace(FAST, error=0.5))
    assert bench.bus.torque == [False] * 3


def test_a_hardware_error_ends_it_with_torque_off(bench: Bench, tmp_path: Path) -> None:
    def tick(recorder: RobotRecorder) -> None:
        if recorder.stage is Stage.MOTION:
            bench.bus.errors[2] = 2

    slow = motion()
    slow = replace(slow, time=20.0 * slow.time)
    with pytest.raises(BamError, match="wrist"):
        play(bench, tmp_path / "arm_kp8", slow, tick=tick)
    assert bench.bus.torque == [False] * 3


def test_a_motion_whose_gains_changed_does_not_count(bench: Bench, tmp_path: Path) -> None:
    def tick(recorder: RobotRecorder) -> None:
        bench.bus.gains["elbow"] = Gains(kp=32.0, ki=0.0, kd=0.0)

    report = play(bench, tmp_path / "arm_kp8", motion(), tick=tick)
    assert isinstance(report.problem, GainsChanged)
    assert "elbow: kp 32" in report.problem.answer
    assert promised_messages(tmp_path / "arm_kp8") is None  # marked as interrupted


def test_a_driver_that_falls_silent_ends_it(bench: Bench, tmp_path: Path) -> None:
    def tick(recorder: RobotRecorder) -> None:
        if recorder.stage is Stage.MOTION:
            bench.driver.close()

    slow = motion()
    slow = replace(slow, time=20.0 * slow.time)
    limits, waits = replace(FAST, state_timeout=2.0), Waits(discovery=PATIENCE, silence=2.0)
    with pytest.raises(DriverSilent):
        play(bench, tmp_path / "arm_kp8", slow, limits=limits, tick=tick, waits=waits)
    assert bench.bus.torque == [False] * 3


def test_an_awaited_driver_is_named_and_then_those_that_run(bench: Bench) -> None:
    shown: list[Notice] = []
    waits = Waits(announced=0.0, listed=1.0, discovery=PATIENCE)

    def until_listed() -> None:
        if len(shown) == 2:
            raise RecordingStopped

    with RobotLinks(bench.node, ["left/misspelt"], JOINTS, waits) as robot, pytest.raises(RecordingStopped):
        wait_for_robot(robot.links, robot.clients, until_listed, shown.append)
    awaited, there = shown
    assert awaited == DriverAwaited(driver="left/misspelt", topic="/left/servo_states", limit=PATIENCE)
    assert isinstance(there, DriversThere)
    assert bench.driver.get_name() in there.running


def test_a_driver_that_is_not_there_is_told(bench: Bench) -> None:
    links = RobotLinks(bench.node, ["left/driver"], JOINTS, Waits(discovery=0.3))
    with links as robot, pytest.raises(Unavailable, match="left/servo_states"):
        wait_for_robot(robot.links, robot.clients, nothing)


def test_two_drivers_in_one_namespace_are_refused(bench: Bench) -> None:
    with pytest.raises(Conflict) as caught:
        RobotLinks(bench.node, ["left/driver", "hand/driver", "left/gripper"], JOINTS)
    assert caught.value.thing == "drivers left/driver, left/gripper"
