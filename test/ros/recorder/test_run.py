# SPDX-License-Identifier: Apache-2.0
"""What ends a run: errors of the joint that is recorded, of its clock and of its driver, and of no other."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bam_bench.msg import ServoStates
from rclpy.time import Time

from bam_core.errors import BadData, BamError, UnknownName
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.recorder.motion import ArmGoal, Phase
from bam_ros.recorder.run import RunRecorder
from bam_ros.recorder.waits import Waits
from test.ros.recorder_bench import short_session

START = 1_000_000_000  # ns


def recorder(joint: str, tmp_path: Path) -> tuple[RunRecorder, Any]:
    """Return a run of one joint, and the link that it has: a driver of two joints, without ROS."""
    link = SimpleNamespace(
        restarts=0,
        dropped=0,
        now=lambda: START,
        topics=SimpleNamespace(states="servo_states"),
        sink=None,
        waits=Waits(),
    )
    session = short_session(joint=joint)
    run = RunRecorder(link, session, session.runs()[0], tmp_path / "bag", lambda: "")  # type: ignore[arg-type]
    return run, link


def states(now: int, *errors: int, position: float = 0.0) -> ServoStates:
    return ServoStates(
        header=header_at(now),
        name=["hip", "knee"],
        position=[position, position],
        torque_enabled=[False, False],
        hardware_error=list(errors) or [0, 0],
    )


def header_at(now: int) -> Any:
    header = ServoStates().header
    header.stamp = Time(nanoseconds=now).to_msg()
    return header


@pytest.mark.parametrize(("joint", "index"), [("hip", 0), ("knee", 1)])
def test_a_fatal_error_ends_the_run_of_its_joint_and_of_no_other(
    joint: str, index: int, tmp_path: Path
) -> None:
    run, _ = recorder(joint, tmp_path)
    errors = [int(HardwareError.OVERLOAD)] * 2
    errors[index] = 0
    goal = run.on_states(START, states(START, *errors))
    assert goal is not None
    assert not goal.torque_enable
    errors = [0, 0]
    errors[index] = int(HardwareError.OVERLOAD)
    with pytest.raises(BamError, match=f"^{joint}: hardware error overload"):
        run.on_states(START + 1, states(START + 1, *errors))


def test_an_error_of_a_single_packet_ends_no_run(tmp_path: Path) -> None:
    run, _ = recorder("hip", tmp_path)
    assert run.on_states(START, states(START, int(HardwareError.CHECKSUM), 0)) is not None


def test_a_clock_that_goes_back_ends_the_run(tmp_path: Path) -> None:
    run, _ = recorder("hip", tmp_path)
    run.on_states(START + 10, states(START + 10))
    with pytest.raises(BadData) as caught:
        run.on_states(START + 9, states(START + 9))
    assert caught.value.thing == "clock"


def test_a_driver_that_was_restarted_ends_the_run(tmp_path: Path) -> None:
    run, link = recorder("hip", tmp_path)
    run.on_states(START, states(START))
    link.restarts += 1
    with pytest.raises(BadData) as caught:
        run.on_states(START + 1, states(START + 1))
    assert caught.value.thing == "driver"


def test_a_joint_that_is_not_there_any_more_is_named(tmp_path: Path) -> None:
    run, _ = recorder("foot", tmp_path)
    with pytest.raises(UnknownName, match="foot"):
        run.on_states(START, states(START))


def test_a_run_that_has_failed_commands_torque_off_whatever_comes(tmp_path: Path) -> None:
    run, _ = recorder("hip", tmp_path)
    now, goal = START, ArmGoal(torque_enable=False, position=0.0)
    while not goal.torque_enable:
        now += 4_000_000
        goal = run.on_states(now, states(now)) or goal
    assert run.phase is Phase.APPROACH
    run.on_failure(BamError("the disk is full"))
    run.on_failure(BamError("a later one"))
    goal = run.on_states(now + 1, states(now + 1)) or goal
    assert not goal.torque_enable
    with pytest.raises(BamError, match="the disk is full"):
        run._raise_failure()
