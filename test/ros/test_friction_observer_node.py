# SPDX-License-Identifier: Apache-2.0
"""The node `friction_observer`: friction of a fixed-base arm, and of a humanoid on two feet, over topics."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time
from ros_helpers import wait_for
from sensor_msgs.msg import JointState

from bam_core.errors import BamError
from bam_core.whole_body import ConstrainedDynamics, JointFriction, WholeBody, humanoid, humanoid_mjcf
from bam_core.whole_body.estimate import regularised
from bam_core.whole_body.humanoid import LEGS

messages = pytest.importorskip("bam_bench.msg")
if not hasattr(messages, "ContactStates"):
    pytest.skip("interfaces are of an older build; run make setup", allow_module_level=True)

from bam_ros.friction_observer_node import FrictionObserverNode  # noqa: E402

pytestmark = pytest.mark.ros

ARM = """
<mujoco>
  <option gravity="0 0 -9.80665"/>
  <worldbody>
    <body>
      <joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.3" mass="1.2"/>
      <body pos="0 0 -0.3">
        <joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.25" mass="0.7"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
LAW = JointFriction(viscous=0.3, coulomb=0.4)
QUEUE = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)


class Setup:
    """The node, and a client that publishes joint states and keeps what comes back."""

    def __init__(self, context: Context, **parameters: Any) -> None:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        self.node = FrictionObserverNode(context=context, parameter_overrides=overrides)
        self.client = Node("client", context=context)
        self.found: list[Any] = []
        self.publisher = self.client.create_publisher(JointState, "joint_states", QUEUE)
        self.client.create_subscription(messages.JointFriction, "joint_friction", self.found.append, QUEUE)
        self.executor = SingleThreadedExecutor(context=context)
        for each in (self.node, self.client):
            self.executor.add_node(each)
        self.node.start()
        self.until(lambda: self.publisher.get_subscription_count() == 1)
        self.until(lambda: self.client.count_publishers("joint_friction") == 1)

    def until(self, predicate: Any) -> None:
        def spun() -> bool:
            self.executor.spin_once(timeout_sec=0.01)
            return bool(predicate())

        wait_for(spun, 30.0)

    def send(self, time: float, names: list[str], position: list[float], effort: list[float]) -> None:
        self.send_at(round(time * 1e9), names, position, effort)

    def send_at(self, stamp: int, names: list[str], position: list[float], effort: list[float]) -> None:
        message = JointState(name=names, position=position, effort=effort)
        message.header.stamp = Time(nanoseconds=stamp).to_msg()
        self.publisher.publish(message)
        self.executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        for each in (self.node, self.client):
            self.executor.remove_node(each)
            each.destroy_node()


@pytest.fixture
def context() -> Any:
    context = Context()
    context.init()
    yield context
    context.try_shutdown()


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    return str(path)


def moves(model: str, count: int) -> Any:
    from bam_core.mujoco import compile_robot, load_robot

    robot = WholeBody(compile_robot(load_robot(model)))
    dynamics = ConstrainedDynamics(robot)
    position, velocity = np.array([0.8, -0.4]), np.zeros(2)
    for index in range(count):
        time = 1e-3 * index
        effort = np.array([math.sin(9.0 * time), 0.5 * math.cos(7.0 * time)])
        yield time, list(robot.names), position.tolist(), effort.tolist()
        for _ in range(10):
            state = dynamics.at(position, velocity, ())
            velocity = velocity + 1e-4 * state.acceleration(effort + LAW.torque(velocity))
            position = position + 1e-4 * velocity


def upright() -> list[float]:
    """Efforts that hold the humanoid on both feet, all its joints at 0.1 rad."""
    robot = humanoid()
    dynamics, still = ConstrainedDynamics(robot), np.zeros(len(robot.names))
    state = dynamics.at(*dynamics.place(still + 0.1, still, robot.contacts[0]), robot.contacts)
    falling = state.acceleration(np.zeros(len(robot.joints)))[robot.torque_dofs]
    effort = still.copy()
    effort[robot.torque_columns] = regularised(state.mobility, -falling)
    return effort.tolist()


def test_a_fixed_base_arm_shows_its_friction_with_residual_and_sign_of_power(
    context: Context, model: str
) -> None:
    setup = Setup(context, model=model, window=21)
    for state in moves(model, 300):
        setup.send(*state)
    setup.until(lambda: len(setup.found) >= 260)
    moving = [each for each in setup.found if min(abs(v) for v in each.velocity) > 0.2]
    assert moving
    for each in moving:
        assert list(each.name) == ["shoulder", "elbow"]
        np.testing.assert_allclose(each.torque, LAW.torque(np.array(each.velocity)), atol=0.03)
        np.testing.assert_allclose(each.residual, 0.0, atol=1e-6)
        assert list(each.power) == [-1, -1]
        assert (each.rank, list(each.standing), each.contradiction) == (2, [], "")
    setup.close()


def test_on_two_feet_the_legs_are_named_and_not_a_number(context: Context, tmp_path: Path) -> None:
    path = tmp_path / "humanoid.xml"
    path.write_text(humanoid_mjcf())
    setup = Setup(context, model=str(path), contacts="right_sole,left_sole", held="neck_yaw,neck_pitch")
    contacts = setup.client.create_publisher(messages.ContactStates, "contact_states", QUEUE)
    setup.until(lambda: contacts.get_subscription_count() == 1)
    contacts.publish(messages.ContactStates(name=["right_sole", "left_sole"], standing=[True, True]))
    setup.until(lambda: setup.node._told)
    assert "contact_states: have no stamp" in next(iter(setup.node._told))
    names, position, effort = list(humanoid().names), [0.1] * len(humanoid().names), upright()
    for index in range(220):
        setup.send(1e-3 * index, names, position, effort)
    setup.until(lambda: setup.found)
    first = setup.found[0]
    hidden = {name for name, torque in zip(first.name, first.torque, strict=True) if math.isnan(torque)}
    assert hidden == set(LEGS)
    assert (first.rank, list(first.standing)) == (19, ["right_sole", "left_sole"])
    assert any("cannot be told apart" in line for line in setup.node._told)
    setup.close()


def test_lost_joint_states_are_counted(context: Context, model: str) -> None:
    setup = Setup(context, model=model)
    for index in (0, 1, 2, 5, 6):
        setup.send(1e-3 * index, ["shoulder", "elbow"], [0.0, 0.0], [0.0, 0.0])
    setup.until(lambda: setup.node._lost == 2)
    setup.close()


def test_results_have_exactly_the_stamps_of_joint_states(context: Context, model: str) -> None:
    """Also those since 1970, which are too long for a double."""
    setup = Setup(context, model=model, window=21)
    sent = [1_763_700_000_123_456_789 + 1_000_003 * index for index in range(60)]
    for stamp, (_, *state) in zip(sent, moves(model, 60), strict=True):
        setup.send_at(stamp, *state)
    setup.until(lambda: len(setup.found) == 40)
    assert [Time.from_msg(each.header.stamp).nanoseconds for each in setup.found] == sent[10:50]
    setup.close()


def test_a_bag_that_begins_anew_is_observed_anew(context: Context, model: str) -> None:
    setup = Setup(context, model=model, window=21)
    for _ in range(2):
        for time, *state in moves(model, 40):
            setup.send(100.0 + time, *state)
        for time, *state in moves(model, 40):
            setup.send(time, *state)
    setup.until(lambda: len(setup.found) == 80)
    assert setup.node._restarts == 2
    setup.close()


def test_another_period_is_named_once(context: Context, model: str) -> None:
    setup = Setup(context, model=model)
    for index in range(40):
        setup.send(0.01 * index, ["shoulder", "elbow"], [0.0, 0.0], [0.0, 0.0])
    setup.until(lambda: setup.node._told)
    assert len(setup.node._told) == 1
    assert "come every 0.01 s" in next(iter(setup.node._told))
    setup.close()


@pytest.mark.parametrize(
    ("standing", "line"),
    [
        ([False, False], "nothing stands"),
        ([False, True], "'right_sole' is said to swing, but lies still"),
    ],
)
def test_contacts_that_cannot_be_are_named_and_give_no_torque(
    context: Context, tmp_path: Path, standing: list[bool], line: str
) -> None:
    path = tmp_path / "humanoid.xml"
    path.write_text(humanoid_mjcf())
    setup = Setup(context, model=str(path), contacts="right_sole,left_sole", held="neck_yaw,neck_pitch")
    contacts = setup.client.create_publisher(messages.ContactStates, "contact_states", QUEUE)
    setup.until(lambda: contacts.get_subscription_count() == 1)
    message = messages.ContactStates(name=["right_sole", "left_sole"], standing=standing)
    message.header.stamp = Time(nanoseconds=1).to_msg()
    contacts.publish(message)
    setup.until(lambda: not setup.node._observer._contacts.unsaid)
    names = list(humanoid().names)
    for index in range(1, 220):
        setup.send(1e-3 * index, names, [0.0] * len(names), [0.0] * len(names))
    setup.until(lambda: setup.found)
    assert line in setup.found[0].contradiction
    assert all(math.isnan(torque) for torque in setup.found[0].torque)
    assert any(line in told for told in setup.node._told)
    setup.close()


@pytest.mark.parametrize(
    ("names", "effort", "line"),
    [
        (["shoulder", "elbow"], [], "2 names, 2 positions, 0 efforts"),
        (["shoulder", "albow"], [0.0, 0.0], "joint 'elbow': has no position"),
        (["shoulder", "elbow"], [0.0, math.nan], "joint 'elbow': has no effort"),
    ],
)
def test_what_is_missing_is_said_once(
    context: Context, model: str, names: list[str], effort: list[float], line: str
) -> None:
    setup = Setup(context, model=model)
    for index in range(5):
        setup.send(1e-3 * index, names, [0.0, 0.0], effort)
    setup.until(lambda: setup.node._told)
    assert len(setup.node._told) == 1
    assert line in next(iter(setup.node._told))
    assert setup.found == []
    setup.close()


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({}, "set the parameter model"),
        ({"model": "nowhere.xml"}, "nowhere.xml: no such file"),
        ({"contacts": "foot"}, "contact site 'foot'"),
        ({"held": "wrist"}, "joint 'wrist'"),
        ({"window": 10}, "odd"),
    ],
)
def test_what_cannot_be_observed_is_refused(
    context: Context, model: str, parameters: dict[str, Any], named: str
) -> None:
    given = {"model": model, **parameters} if parameters else {}
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    with pytest.raises(BamError, match=named):
        FrictionObserverNode(context=context, parameter_overrides=overrides)
