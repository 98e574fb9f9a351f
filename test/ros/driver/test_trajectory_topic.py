# SPDX-License-Identifier: Apache-2.0
"""`~/joint_trajectory`: one message moves joints to its end; what is not followed is one warning."""

from __future__ import annotations

import pytest
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bam_ros.driver.trajectory_topic import TrajectoryTopic
from test.ros.driver.test_trajectory_follower import TIMEOUT, Rig


class TopicRig(Rig):
    """A loop of two joints with the topic."""

    def __init__(self) -> None:
        super().__init__()
        self.warnings: list[str] = []
        self.is_active = True
        self.topic = TrajectoryTopic(lambda: self.follower if self.is_active else None, self.warnings.append)


def message(*points: tuple[float, float], joint: str = "hip") -> JointTrajectory:
    """Points as (time in s, position in rad)."""
    trajectory = JointTrajectory(joint_names=[joint])
    for time, position in points:
        since = Duration(sec=int(time), nanosec=round(time % 1.0 * 1e9))
        trajectory.points.append(JointTrajectoryPoint(positions=[position], time_from_start=since))
    return trajectory


@pytest.fixture
def rig() -> TopicRig:
    made = TopicRig()
    made.run(0.05)
    return made


def test_one_message_is_executed_to_its_end_and_held(rig: TopicRig) -> None:
    rig.topic.take(message((0.5, 0.4), (1.0, 0.8)))
    rig.run(0.5)
    assert rig.bus.position[0] == pytest.approx(0.4, abs=0.05)
    rig.run(1.0 + 2.0 * TIMEOUT)
    assert rig.bus.position[0] == pytest.approx(0.8)
    assert rig.bus.torque == [True, False]
    assert rig.warnings == []


def test_a_message_of_a_stream_may_end_in_motion(rig: TopicRig) -> None:
    moving = message((0.5, 0.4))
    moving.points[0].velocities = [0.5]
    rig.topic.take(moving)
    rig.run(1.0)
    assert rig.bus.position[0] == pytest.approx(0.4)
    assert rig.warnings == []


def test_a_newer_message_replaces_the_one_before(rig: TopicRig) -> None:
    rig.topic.take(message((2.0, 0.8)))
    rig.run(0.5)
    rig.topic.take(message((0.5, -0.5)))
    rig.run(1.0)
    assert rig.bus.position[0] == pytest.approx(-0.5)


def test_a_message_without_points_stops_and_holds(rig: TopicRig) -> None:
    rig.topic.take(message((1.0, 0.8)))
    rig.run(0.5)
    rig.topic.take(message())
    rig.run(1.0)
    assert rig.bus.position[0] == pytest.approx(0.4, abs=0.05)
    assert rig.bus.torque[0]
    rig.topic.take(message((0.5, 0.0)))
    rig.run(1.0)
    assert rig.bus.position[0] == pytest.approx(0.0)


@pytest.mark.parametrize("trajectory", [message((1.0, 5.0)), message((1.0, 0.1), joint="elbow")])
def test_a_trajectory_that_cannot_be_followed_is_one_warning(
    rig: TopicRig, trajectory: JointTrajectory
) -> None:
    rig.topic.take(trajectory)
    rig.run(0.2)
    assert rig.bus.position[0] == 0.0
    assert len(rig.warnings) == 1


def test_a_node_that_is_not_active_moves_nothing(rig: TopicRig) -> None:
    rig.is_active = False
    rig.topic.take(message((1.0, 0.5)))
    rig.run(0.2)
    assert rig.bus.torque == [False, False]
    assert len(rig.warnings) == 1
