# SPDX-License-Identifier: Apache-2.0
"""Trajectories as they come over a topic: in the order of the bus, or refused with the reason."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bam_core.errors import BamError, Missing, OutOfRange, UnknownName, WrongShape
from bam_ros.feedforward.message import StampClock, points_of

NAMES = ("hip", "knee")


def message(*points: dict[str, Any], joints: tuple[str, ...] = NAMES) -> JointTrajectory:
    """Points a quarter of a second apart, from 0.25 s on unless they say when they are."""
    rows = []
    for number, point in enumerate(points, 1):
        at = point.get("at", 0.25 * number)
        fields = {key: value for key, value in point.items() if key != "at"}
        when = Duration(sec=math.floor(at), nanosec=round((at - math.floor(at)) * 1e9))
        rows.append(JointTrajectoryPoint(time_from_start=when, **fields))
    return JointTrajectory(joint_names=list(joints), points=rows)


def test_points_are_put_into_the_order_of_the_bus() -> None:
    first = {"positions": [1.0, 2.0], "velocities": [3.0, 4.0], "effort": [5.0, 6.0]}
    second = {"positions": [7.0, 8.0], "velocities": [9.0, 10.0], "effort": [11.0, 12.0]}
    points = points_of(message(first, second, joints=("knee", "hip")), NAMES)
    assert points.time == pytest.approx([0.25, 0.5])
    assert np.array_equal(points.position, [[2.0, 1.0], [8.0, 7.0]])
    assert points.velocity is not None
    assert np.array_equal(points.velocity, [[4.0, 3.0], [10.0, 9.0]])
    assert points.acceleration is None
    assert points.torque is not None
    assert np.array_equal(points.torque, [[6.0, 5.0], [12.0, 11.0]])


GOOD = {"positions": [0.0, 0.0]}


@pytest.mark.parametrize(
    ("given", "kind", "line"),
    [
        (message(GOOD, joints=("hip", "kneee")), UnknownName, "trajectory joint 'kneee'"),
        (message({"positions": [0.0]}, joints=("hip",)), WrongShape, "trajectory joint_names: is hip "),
        (message(GOOD, joints=("hip", "hip")), WrongShape, "trajectory joint_names: is hip, hip "),
        (message(), Missing, "trajectory points"),
        (message({}), WrongShape, "trajectory positions of point 0: is 0 numbers (expected 2"),
        (message(GOOD, {"positions": [0.0]}), WrongShape, "trajectory positions of point 1: is 1 numbers"),
        (message(GOOD, {**GOOD, "velocities": [0.0, 0.0]}), WrongShape, "trajectory velocities of point 0"),
        (message({**GOOD, "effort": [0.0]}), WrongShape, "trajectory effort of point 0: is 1"),
        (
            message(GOOD, {"positions": [0.0, math.nan]}),
            OutOfRange,
            "trajectory positions of point 1, joint 'knee': is nan",
        ),
        (
            message({**GOOD, "accelerations": [math.inf, 0.0]}),
            OutOfRange,
            "trajectory accelerations of point 0, joint 'hip': is inf",
        ),
        (message({**GOOD, "at": -0.5}, GOOD), OutOfRange, "trajectory time_from_start: is -0.5 s to 0.5 s"),
        (message({**GOOD, "at": 0.0}), OutOfRange, "trajectory time_from_start: is 0 s to 0 s"),
    ],
)
def test_what_cannot_be_followed_is_refused_in_one_line(
    given: JointTrajectory, kind: type[BamError], line: str
) -> None:
    with pytest.raises(kind) as caught:
        points_of(given, NAMES)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def stamp(seconds: float) -> Time:
    return Time(sec=math.floor(seconds), nanosec=round((seconds - math.floor(seconds)) * 1e9))


def test_stamps_are_moved_to_the_servos_clock_and_no_stamp_means_now() -> None:
    clock = StampClock()
    assert clock.start(Time(), 1.7e9, 1000.0) == 1000.0
    assert clock.start(stamp(1.7e9 + 2.0), 1.7e9, 1000.0) == pytest.approx(1002.0, abs=1e-6)


def test_trajectories_that_continue_each_other_do_so_on_the_other_clock_too() -> None:
    clock = StampClock()
    starts = []
    for k in range(5):
        wall = 1.7e9 + 0.01 * k + 1e-4 * (-1) ** k  # read badly
        starts.append(clock.start(stamp(1.7e9 + 0.15 * k), wall, 1000.0 + 0.01 * k))
    assert np.diff(starts) == pytest.approx(0.15, abs=1e-6)


def test_a_clock_that_was_set_is_followed() -> None:
    clock = StampClock()
    first = clock.start(stamp(1.7e9), 1.7e9, 1000.0)
    second = clock.start(stamp(1.6e9 + 1.0), 1.6e9, 1000.0)
    assert second - first == pytest.approx(1.0, abs=1e-6)
