# SPDX-License-Identifier: Apache-2.0
"""The node `friction_observer`: friction of a fixed-base arm, and of a humanoid on two feet, over topics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bam_bench.msg
import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.time import Time
from sensor_msgs.msg import JointState

from bam_core.errors import BamError
from bam_core.text.whole_body_findings import ContactMismatch, RankDeficit
from bam_core.whole_body import ConstrainedDynamics, JointFriction, WholeBody
from bam_core.whole_body.estimate import regularised
from bam_ros.friction_observer.node import FrictionObserverNode
from papers.egle.humanoid import LEGS, humanoid, humanoid_mjcf
from test.ros.ros_client import RosClient

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


class Setup(RosClient):
    """A client that publishes joint states and keeps what comes back, and the node, named `observer`."""

    def __init__(self, domain: int) -> None:
        super().__init__(domain)
        self.found: list[Any] = []
        self.publisher = self.node.create_publisher(JointState, "joint_states", QUEUE)
        reliable = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)
        self.node.create_subscription(
            bam_bench.msg.JointFriction, "joint_friction", self.found.append, reliable
        )

    def start(self, **parameters: Any) -> None:
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        self.observer = FrictionObserverNode(context=self.context, parameter_overrides=overrides)
        self.add(self.observer)
        self.observer.start()
        self.wait_for(lambda: self.publisher.get_subscription_count() == 1)
        self.wait_for(lambda: self.node.count_publishers("joint_friction") == 1)

    def send(self, time: float, names: list[str], position: list[float], effort: list[float]) -> None:
        self.send_at(round(time * 1e9), names, position, effort)

    def send_at(self, stamp: int, names: list[str], position: list[float], effort: list[float]) -> None:
        message = JointState(name=names, position=position, effort=effort)
        message.header.stamp = Time(nanoseconds=stamp).to_msg()
        self.publisher.publish(message)
        self.executor.spin_once(timeout_sec=0.05)


@pytest.fixture
def setup(ros_domain: int) -> Iterator[Setup]:
    setup = Setup(ros_domain)
    yield setup
    setup.close()


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


@pytest.mark.long
def test_a_fixed_base_arm_shows_its_friction_with_residual_and_sign_of_power(
    setup: Setup, model: str
) -> None:
    setup.start(model=model, window=21)
    for state in moves(model, 300):
        setup.send(*state)
    setup.wait_for(lambda: len(setup.found) >= 260)
    moving = [each for each in setup.found if min(abs(v) for v in each.velocity) > 0.2]
    assert moving
    for each in moving:
        assert list(each.name) == ["shoulder", "elbow"]
        np.testing.assert_allclose(each.torque, LAW.torque(np.array(each.velocity)), atol=0.03)
        np.testing.assert_allclose(each.residual, 0.0, atol=1e-6)
        assert list(each.power_sign) == [-1, -1]
        assert (each.rank, list(each.contacts), each.contradiction) == (2, [], "")


def test_on_two_feet_the_legs_are_named_and_not_a_number(setup: Setup, tmp_path: Path) -> None:
    path = tmp_path / "humanoid.xml"
    path.write_text(humanoid_mjcf())
    setup.start(model=str(path), contacts=["right_sole", "left_sole"], held=["neck_yaw", "neck_pitch"])
    contacts = setup.node.create_publisher(bam_bench.msg.ContactStates, "contact_states", QUEUE)
    setup.wait_for(lambda: contacts.get_subscription_count() == 1)
    contacts.publish(bam_bench.msg.ContactStates(name=["right_sole", "left_sole"], standing=[True, True]))
    setup.wait_for(lambda: setup.observer._logged)
    assert "stamp of contact_states: " in next(iter(setup.observer._logged))
    names, position, effort = list(humanoid().names), [0.1] * len(humanoid().names), upright()
    for index in range(220):
        setup.send(1e-3 * index, names, position, effort)
    setup.wait_for(lambda: setup.found)
    first = setup.found[0]
    hidden = {name for name, torque in zip(first.name, first.torque, strict=True) if math.isnan(torque)}
    assert hidden == set(LEGS)
    assert (first.rank, list(first.contacts)) == (19, ["right_sole", "left_sole"])
    deficit = RankDeficit(
        contacts=("right_sole", "left_sole"),
        rank=19,
        joints=len(first.name),
        unidentifiable=tuple(name for name in first.name if name in hidden),
    )
    assert deficit.sentence in setup.observer._logged


def test_lost_joint_states_are_counted(setup: Setup, model: str) -> None:
    setup.start(model=model)
    for index in (0, 1, 2, 5, 6):
        setup.send(1e-3 * index, ["shoulder", "elbow"], [0.0, 0.0], [0.0, 0.0])
    setup.wait_for(lambda: setup.observer._lost == 2)


def test_results_have_exactly_the_stamps_of_joint_states(setup: Setup, model: str) -> None:
    """Also those since 1970, which are too long for a double."""
    setup.start(model=model, window=21)
    sent = [1_763_700_000_123_456_789 + 1_000_003 * index for index in range(60)]
    for stamp, (_, *state) in zip(sent, moves(model, 60), strict=True):
        setup.send_at(stamp, *state)
    setup.wait_for(lambda: len(setup.found) == 40)
    assert [Time.from_msg(each.header.stamp).nanoseconds for each in setup.found] == sent[10:50]


def test_a_bag_that_begins_anew_is_observed_anew(setup: Setup, model: str) -> None:
    setup.start(model=model, window=21)
    for _ in range(2):
        for time, *state in moves(model, 40):
            setup.send(100.0 + time, *state)
        for time, *state in moves(model, 40):
            setup.send(time, *state)
    setup.wait_for(lambda: len(setup.found) == 80)
    assert setup.observer._restarts == 2


def test_another_period_is_named_once(setup: Setup, model: str) -> None:
    setup.start(model=model)
    for index in range(40):
        setup.send(0.01 * index, ["shoulder", "elbow"], [0.0, 0.0], [0.0, 0.0])
    setup.wait_for(lambda: setup.observer._logged)
    assert len(setup.observer._logged) == 1
    assert "come every 0.01 s" in next(iter(setup.observer._logged))


@pytest.mark.parametrize(
    ("standing", "mismatch"),
    [
        ([False, False], ContactMismatch(kind="nothing_stands")),
        ([False, True], ContactMismatch(kind="swinging_rests", contacts=("right_sole",))),
    ],
)
def test_contacts_that_cannot_be_are_named_and_give_no_torque(
    setup: Setup, tmp_path: Path, standing: list[bool], mismatch: ContactMismatch
) -> None:
    path = tmp_path / "humanoid.xml"
    path.write_text(humanoid_mjcf())
    setup.start(model=str(path), contacts=["right_sole", "left_sole"], held=["neck_yaw", "neck_pitch"])
    contacts = setup.node.create_publisher(bam_bench.msg.ContactStates, "contact_states", QUEUE)
    setup.wait_for(lambda: contacts.get_subscription_count() == 1)
    message = bam_bench.msg.ContactStates(name=["right_sole", "left_sole"], standing=standing)
    message.header.stamp = Time(nanoseconds=1).to_msg()
    contacts.publish(message)
    setup.wait_for(lambda: not setup.observer._observer._contacts.unreported)
    names = list(humanoid().names)
    for index in range(1, 220):
        setup.send(1e-3 * index, names, [0.0] * len(names), [0.0] * len(names))
    setup.wait_for(lambda: setup.found)
    assert setup.found[0].contradiction == mismatch.statement
    assert all(math.isnan(torque) for torque in setup.found[0].torque)
    assert any(mismatch.statement in line for line in setup.observer._logged)


@pytest.mark.parametrize(
    ("names", "effort", "line"),
    [
        (["shoulder", "elbow"], [], "2 names, 2 positions, 0 efforts"),
        (["shoulder", "albow"], [0.0, 0.0], "joint 'elbow', position: "),
        (["shoulder", "elbow"], [0.0, math.nan], "joint 'elbow', effort: "),
    ],
)
def test_what_is_missing_is_said_once(
    setup: Setup, model: str, names: list[str], effort: list[float], line: str
) -> None:
    setup.start(model=model)
    for index in range(5):
        setup.send(1e-3 * index, names, [0.0, 0.0], effort)
    setup.wait_for(lambda: setup.observer._logged)
    assert len(setup.observer._logged) == 1
    assert line in next(iter(setup.observer._logged))
    assert setup.found == []


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({}, "set the parameter model"),
        ({"model": "nowhere.xml"}, "nowhere.xml: no such file"),
        ({"contacts": ["foot"]}, "contact site 'foot'"),
        ({"held": ["wrist"]}, "joint 'wrist'"),
        ({"window": 10}, "odd"),
    ],
)
def test_what_cannot_be_observed_is_refused(
    setup: Setup, model: str, parameters: dict[str, Any], named: str
) -> None:
    given = {"model": model, **parameters} if parameters else {}
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    with pytest.raises(BamError, match=named):
        FrictionObserverNode(context=setup.context, parameter_overrides=overrides)
