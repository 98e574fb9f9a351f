# SPDX-License-Identifier: Apache-2.0
"""A client as MoveIt is one, a reliable subscriber with FollowJointTrajectory, drives the simulated arm."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from action_msgs.msg import GoalStatus
from bam_bench.msg import ServoCommands, ServoStates
from builtin_interfaces.msg import Duration
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bam_ros.text.driver_notices import TakenBySource
from test.ros.control_msgs_stand_in import python_path
from test.ros.ros_client import RosClient

pytestmark = pytest.mark.ros

ROBOT = Path(__file__).parents[3] / "config" / "robots" / "dynamixel_2r.xml"
JOINTS = ["shoulder", "elbow"]
RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)


class Client(RosClient):
    """Plans nothing; keeps what it hears."""

    def __init__(self, domain: int) -> None:
        from control_msgs.action import FollowJointTrajectory

        super().__init__(domain)
        self.kind = FollowJointTrajectory
        self.joints: list[JointState] = []
        self.states: list[ServoStates] = []
        self.feedback: list[Any] = []
        self.node.create_subscription(JointState, "joint_states", self.joints.append, RELIABLE)
        self.node.create_subscription(ServoStates, "servo_states", self.states.append, RELIABLE)
        self.commands = self.node.create_publisher(ServoCommands, "servo_commands", 1)
        self._action = ActionClient(self.node, FollowJointTrajectory, "arm/follow_joint_trajectory")
        self.wait_for(lambda: self._action.server_is_ready() and self.joints and self.states)

    def send(self, seconds: float, joints: list[str], positions: list[float], **fields: Any) -> Any:
        """Return the handle of a goal, once it is accepted."""
        point = JointTrajectoryPoint(
            positions=positions,
            time_from_start=Duration(sec=int(seconds), nanosec=round(seconds % 1.0 * 1e9)),
        )
        goal = self.kind.Goal(trajectory=JointTrajectory(joint_names=joints, points=[point]), **fields)
        sent = self._action.send_goal_async(
            goal, feedback_callback=lambda message: self.feedback.append(message.feedback)
        )
        self.wait_for(sent.done)
        assert sent.result().accepted
        return sent.result()

    def result(self, handle: Any) -> tuple[int, int, str]:
        """Return status of a goal, and code and text of its result."""
        future = handle.get_result_async()
        self.wait_for(future.done)
        answer = future.result()
        return answer.status, answer.result.error_code, answer.result.error_string

    def close(self) -> None:
        self._action.destroy()
        super().close()


@pytest.fixture(autouse=True, scope="module")
def control_msgs() -> Iterator[None]:
    """The real package, or a stand-in that only these tests and their processes see."""
    stand_in = python_path()
    if stand_in is None:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(stand_in)
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [stand_in, os.getenv("PYTHONPATH")])))
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "control_msgs"]:
        del sys.modules[name]


@pytest.fixture
def client(ros_domain: int) -> Iterator[Client]:
    arguments = [f"model:={ROBOT}", f"joint_names:={JOINTS}", "servos:=[mx106, mx64]", "rate:=100.0"]
    words = [word for argument in arguments for word in ("-p", argument)]
    command = [sys.executable, "-m", "bam_ros.simulator.node", "--ros-args", "-r", "__node:=arm", *words]
    process = subprocess.Popen(command)
    try:
        client = Client(ros_domain)
        yield client
        client.close()
    finally:
        process.kill()
        process.wait()


def test_a_goal_is_reached_with_feedback_and_held(client: Client) -> None:
    status, code, text = client.result(client.send(1.0, JOINTS[::-1], [0.3, -0.2]))
    assert (status, code, text) == (GoalStatus.STATUS_SUCCEEDED, client.kind.Result.SUCCESSFUL, "")
    assert client.feedback
    assert list(client.feedback[-1].joint_names) == JOINTS[::-1]
    client.wait_for(lambda: abs(client.states[-1].goal_position[0] + 0.2) < 2e-3)
    first = client.states[-1].header.stamp.sec
    client.wait_for(lambda: client.states[-1].header.stamp.sec > first + 2)
    assert list(client.states[-1].torque_enabled) == [True, True]
    assert list(client.joints[-1].position) == pytest.approx([-0.2, 0.3], abs=0.15)


def test_a_cancelled_goal_is_held_and_a_new_one_replaces_an_old_one(client: Client) -> None:
    handle = client.send(30.0, JOINTS, [1.0, 1.0])
    client.wait_for(lambda: client.states[-1].goal_position[0] > 0.02)
    cancelled = handle.cancel_goal_async()
    client.wait_for(cancelled.done)
    assert client.result(handle)[0] == GoalStatus.STATUS_CANCELED
    old = client.send(30.0, JOINTS, [1.0, 1.0])
    new = client.send(0.5, JOINTS, [0.0, 0.0])
    status, code, text = client.result(old)
    assert (status, code) == (GoalStatus.STATUS_CANCELED, client.kind.Result.INVALID_GOAL)
    assert "newer goal" in text
    assert client.result(new)[0] == GoalStatus.STATUS_SUCCEEDED
    assert list(client.states[-1].torque_enabled) == [True, True]


@pytest.mark.parametrize(
    ("field", "code"),
    [("path_tolerance", "PATH_TOLERANCE_VIOLATED"), ("goal_tolerance", "GOAL_TOLERANCE_VIOLATED")],
)
def test_a_tolerance_that_is_violated_aborts_with_its_code_and_the_joints_are_held(
    client: Client, field: str, code: str
) -> None:
    """No servo with a load and a proportional controller is where its goal is to a microradian."""
    from control_msgs.msg import JointTolerance

    status, *_ = client.result(client.send(0.5, JOINTS, [0.0, 0.0]))
    assert status == GoalStatus.STATUS_SUCCEEDED  # and torque is on
    tolerances = {field: [JointTolerance(name="shoulder", position=1e-6)]}
    patience = Duration(nanosec=100_000_000)
    handle = client.send(1.0, JOINTS, [0.5, 0.5], goal_time_tolerance=patience, **tolerances)
    status, number, text = client.result(handle)
    assert (status, number) == (GoalStatus.STATUS_ABORTED, getattr(client.kind.Result, code))
    assert "shoulder: " in text
    first = client.states[-1].header.stamp.sec
    client.wait_for(lambda: client.states[-1].header.stamp.sec > first + 2)
    assert list(client.states[-1].torque_enabled) == [True, True]


def test_a_goal_that_cannot_be_followed_says_why(client: Client) -> None:
    status, code, text = client.result(client.send(1.0, ["wrist"], [0.1]))
    assert (status, code) == (GoalStatus.STATUS_ABORTED, client.kind.Result.INVALID_JOINTS)
    assert "'wrist'" in text
    handle = client.send(30.0, JOINTS, [1.0, 1.0])
    client.wait_for(lambda: client.states[-1].torque_enabled[0])
    client.commands.publish(
        ServoCommands(name=JOINTS[:1], torque_enabled=[False], goal_position=[float("nan")])
    )
    status, code, text = client.result(handle)
    assert (status, code) == (GoalStatus.STATUS_ABORTED, client.kind.Result.INVALID_GOAL)
    assert text == str(TakenBySource(joints=("shoulder",)))
    client.wait_for(lambda: list(client.states[-1].torque_enabled) == [False, True])
