# SPDX-License-Identifier: Apache-2.0
"""The description for ros2_control names topics, joints and files that are there."""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from bam_ros.driver.servo_node import ServoNode
from bam_ros.dynamixel.node import DynamixelNode
from bam_ros.erob.node import ErobNode
from bam_ros.simulator.node import SimulatorNode

pytestmark = pytest.mark.ros

ROOT = Path(__file__).parents[2]
ROBOTS = ROOT / "config" / "robots"
XACRO = "{http://www.ros.org/wiki/xacro}"
PLUGINS = {
    "topics": "joint_state_topic_hardware_interface/JointStateTopicSystem",
    "mujoco": "mujoco_ros2_control/MujocoSystemInterface",
}
"""Value of the argument `hardware` -> plugin of ros2_control."""


@pytest.fixture
def robot() -> ElementTree.Element:
    return ElementTree.parse(ROBOTS / "dynamixel_2r.urdf.xacro").getroot()


def hardware(robot: ElementTree.Element) -> dict[str, dict[str, str]]:
    """Value of the argument `hardware` -> parameters of its plugin, and the plugin itself."""
    found = {}
    for choice in robot.iterfind(f"ros2_control/{XACRO}if"):
        value = re.fullmatch(r"\$\{'\$\(arg hardware\)' == '(\w+)'\}", choice.get("value", ""))
        assert value is not None
        (element,) = choice
        parameters = {each.get("name", ""): (each.text or "").strip() for each in element.iterfind("param")}
        found[value[1]] = {"plugin": element.findtext("plugin", ""), **parameters}
    return found


def joints(robot: ElementTree.Element) -> list[str]:
    return [joint.get("name", "") for joint in robot.iterfind("ros2_control/joint")]


def of(node: type[ServoNode], kind: str) -> dict[str, str]:
    """Topic -> type of the messages."""
    return {each.name: each.type for each in node.ABOUT.interfaces if each.kind == kind}


def test_there_is_hardware_for_every_value_of_the_argument(robot: ElementTree.Element) -> None:
    assert {value: each["plugin"] for value, each in hardware(robot).items()} == PLUGINS
    (default,) = (arg.get("default") for arg in robot.iterfind(f"{XACRO}arg[@name='hardware']"))
    assert default in PLUGINS


@pytest.mark.parametrize("node", [DynamixelNode, ErobNode, SimulatorNode])
def test_the_topics_are_those_of_our_nodes(robot: ElementTree.Element, node: type[ServoNode]) -> None:
    topics = hardware(robot)["topics"]
    states, commands = (
        topics[f"{name}_topic"].removeprefix("${topics}/") for name in ("joint_states", "joint_commands")
    )
    assert of(node, "publishes")[states] == "sensor_msgs/JointState"
    assert of(node, "subscribes")[commands] == "sensor_msgs/JointState"
    assert float(topics["trigger_joint_command_threshold"]) < 0.0  # always: else torque goes off at the goal


def test_its_joints_are_commanded_by_position_and_are_those_of_the_arm(robot: ElementTree.Element) -> None:
    (included,) = (each.get("filename") for each in robot.iterfind(f"{XACRO}include"))
    urdf = ElementTree.parse(ROBOTS / str(included)).getroot()
    moving = [joint.get("name") for joint in urdf.iterfind("joint") if joint.get("type") != "fixed"]
    assert joints(robot) == moving
    for joint in urdf.iterfind("joint"):
        if joint.get("name") in moving:
            # Over ±π joint_trajectory_controller takes a `continuous` joint, where no servo follows; and
            # what the manager clamps to has to be within the limits of our nodes.
            assert joint.get("type") == "revolute"
            limit = {key: float(value) for key, value in joint.find("limit").attrib.items()}
            assert -math.pi < limit["lower"] < -3.1 < 3.1 < limit["upper"] < math.pi
            assert limit["velocity"] > 1.0
            assert limit["effort"] > 1.0
    for joint in robot.iterfind("ros2_control/joint"):
        assert [each.get("name") for each in joint.iterfind("command_interface")] == ["position"]
        assert [each.get("name") for each in joint.iterfind("state_interface")] == [
            "position",
            "velocity",
            "effort",
        ]
        # An initial value of a command would be sent at once, and move the joint there.
        assert joint.find("command_interface/param") is None


def test_mujoco_gets_an_arm_whose_actuators_have_the_names_of_the_joints(robot: ElementTree.Element) -> None:
    path = hardware(robot)["mujoco"]["mujoco_model"]
    model = ElementTree.parse(ROOT / path.removeprefix("$(find bam_bench)/")).getroot()
    actuators = list(model.iterfind("actuator/plugin"))
    assert [each.get("name") for each in actuators] == joints(robot)
    assert [each.get("joint") for each in actuators] == joints(robot)
    assert {each.get("plugin") for each in actuators} == {"bam_bench.servo"}


def test_the_controllers_are_of_its_joints(robot: ElementTree.Element) -> None:
    text = (ROOT / "config" / "ros2_control" / "dynamixel_2r.yaml").read_text()
    tables = {name: table["ros__parameters"] for name, table in yaml.safe_load(text).items()}
    manager = tables["/**/controller_manager"]
    (timeout,) = (each for each in SimulatorNode.ABOUT.parameters if each.name == "command_timeout")
    assert manager.pop("update_rate") > 2.0 / float(timeout.default)
    assert manager.pop("enforce_command_limits") is True
    # In any namespace: without the stars a table is for a node of the root namespace.
    assert set(tables) == {"/**/controller_manager", *(f"/**/{name}" for name in manager)}
    controller = tables["/**/joint_trajectory_controller"]
    assert controller["joints"] == joints(robot)
    assert controller["command_interfaces"] == ["position"]
    assert controller["set_last_command_interface_value_as_state_on_activation"] is False
    # A joint that has let go may be anywhere: a goal must not count as reached then.
    assert all(
        0.0 < controller["constraints"][joint][kind] < 1.0
        for joint in joints(robot)
        for kind in ("trajectory", "goal")
    )
    # Else the system would read its own states back.
    assert tables["/**/joint_state_broadcaster"]["use_local_topics"] is True


def test_the_page_shows_the_same_description(robot: ElementTree.Element) -> None:
    page = (ROOT / "docs" / "commanding.md").read_text()
    for name in ("dynamixel_2r.urdf.xacro", "dynamixel_2r_servos.xml", "ros2_control/dynamixel_2r.yaml"):
        assert name in page
    (snippet,) = (
        each for each in re.findall(r"```xml\n(.*?)```", page, re.DOTALL) if "JointStateTopicSystem" in each
    )
    shown = ElementTree.fromstring(snippet)
    here = hardware(robot)["topics"]
    assert shown.findtext("plugin") == here["plugin"]
    for each in shown.iterfind("param"):
        assert here[each.get("name", "")].removeprefix("${topics}") == each.text
