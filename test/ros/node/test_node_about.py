# SPDX-License-Identifier: Apache-2.0
"""What nodes say with `--help` is what they have: parameters, topics, services, actions."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.context import Context
from rclpy.node import Node
from rclpy.parameter import Parameter

from bam_ros.dynamixel.node import DynamixelNode
from bam_ros.emulators.dynamixel.node import VirtualDynamixelNode
from bam_ros.emulators.erob.node import VirtualErobNode
from bam_ros.emulators.feetech.node import VirtualFeetechNode
from bam_ros.erob.node import ErobNode
from bam_ros.feedforward.node import FeedForwardNode
from bam_ros.feetech.node import FeetechNode
from bam_ros.friction_observer.node import FrictionObserverNode
from bam_ros.identification.node import IdentificationNode
from bam_ros.node.node_about import NodeAbout
from bam_ros.node.qos_overrides import PREFIX
from bam_ros.recorder.node import RecorderNode
from bam_ros.simulator.node import SimulatorNode
from bam_ros.text.parameter_words import bounds_words
from test.ros.fake_about import FAKE_ABOUT
from test.ros.ros_helpers import PATIENCE, wait_for

pytestmark = pytest.mark.ros

ROBOTS = Path(__file__).parents[3] / "config" / "robots"
NODES: tuple[Any, ...] = (
    DynamixelNode,
    FeetechNode,
    FeedForwardNode,
    ErobNode,
    SimulatorNode,
    RecorderNode,
    IdentificationNode,
    VirtualDynamixelNode,
    VirtualFeetechNode,
    VirtualErobNode,
    FrictionObserverNode,
)
NEEDED = {
    SimulatorNode: [Parameter("publish_clock", value=True)],
    FeedForwardNode: [Parameter("driver", value="simulator"), Parameter("publish_clock", value=True)],
    FrictionObserverNode: [
        Parameter("model", value=str(ROBOTS / "dynamixel_2r.xml")),
        Parameter("servos", value=["elbow=mx64"]),
    ],
}
"""Parameters without which a node does not offer all, or does not start."""
WHILE_RECORDING = {"bench_run", "servo_commands", "servo_states", "servo_configuration"}
EVERY_NODES = ("parameter", "rosout", "/get_type_description", "transition", "/get_state", "/change_state")
EVERY_NODES += ("/get_available_", "_action/")


@pytest.mark.long
@pytest.mark.parametrize("node", NODES, ids=lambda node: node.ABOUT.name)
def test_help_explains_every_parameter_and_ends_well(node: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-m", node.ABOUT.module, "--help"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    words = " ".join(done.stdout.split())
    assert words.startswith(f"usage: {node.ABOUT.name} ")
    assert " ".join(node.ABOUT.purpose.split()) in words
    for parameter in node.ABOUT.parameters:
        assert f"{parameter.name} ({parameter.type_name}, default " in words
        assert parameter.description in words
    for interface in node.ABOUT.interfaces:
        assert f"{interface.kind} {interface.name} ({interface.type}) {interface.purpose}" in words
    assert words.endswith(f"example: {node.ABOUT.usage}")
    assert node.ABOUT.usage.startswith(f"{sys.executable} -m {node.ABOUT.module} --ros-args -p ")


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.ABOUT.name)
def test_the_example_names_parameters_that_exist(node: Any) -> None:
    names = {parameter.name for parameter in node.ABOUT.parameters}
    assert {word.split(":=")[0] for word in node.ABOUT.example} <= names


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.ABOUT.name)
def test_a_node_offers_what_it_says_and_nothing_else(node: Any, ros_domain: int) -> None:
    context = Context()
    context.init(domain_id=ros_domain)
    made = node(context=context, parameter_overrides=NEEDED.get(node, []))
    try:
        said = {
            (interface.kind, made.resolve_service_name(interface.name), full_type(interface))
            for interface in node.ABOUT.interfaces
            if not (node is RecorderNode and interface.name in WHILE_RECORDING)
            and (
                importlib.util.find_spec(interface.type.split("/")[0]) or "installed" not in interface.purpose
            )
        }
        wait_for(lambda: offered(made) == said, what=f"{said} but it has {offered(made)}")
        of_ros = {"use_sim_time", "start_type_description_service"}
        declared = {name for name in made._parameters if name not in of_ros and not name.startswith(PREFIX)}
        assert declared == {parameter.name for parameter in node.ABOUT.parameters if not parameter.prefix}
    finally:
        made.close()
        made.destroy_node()
        context.try_shutdown()


def full_type(interface: Any) -> str:
    package, name = interface.type.split("/")
    folder = {"service": "srv", "action": "action"}.get(interface.kind, "msg")
    return f"{package}/{folder}/{name}"


def offered(node: Node) -> set[tuple[str, str, str]]:
    """What the graph of ROS 2 says that a node has, without what every node has."""
    name, namespace = node.get_name(), node.get_namespace()
    asked: dict[str, Callable[..., Any]] = {
        "publishes": node.get_publisher_names_and_types_by_node,
        "subscribes": node.get_subscriber_names_and_types_by_node,
        "service": node.get_service_names_and_types_by_node,
    }
    found = {
        (what, each, types[0])
        for what, ask in asked.items()
        for each, types in ask(name, namespace)
        if not any(word in each for word in EVERY_NODES)
    }
    actions = get_action_server_names_and_types_by_node(node, name, namespace)
    return found | {("action", each, types[0]) for each, types in actions}


def test_bounds_and_what_may_change_are_told() -> None:
    text = " ".join(NodeAbout.text(FAKE_ABOUT).split())
    (failures,) = (parameter for parameter in FAKE_ABOUT.parameters if parameter.name == "failures")
    assert failures.description + bounds_words(1.0, 1000.0, read_only=True) in text
    changes = bounds_words(None, None, read_only=False)
    assert changes in text
    assert changes in " ".join(VirtualDynamixelNode.ABOUT.text().split())


def test_parameters_of_drivers_are_read_when_they_are_configured() -> None:
    changing = {parameter.name for parameter in FAKE_ABOUT.parameters if parameter.changes_unconfigured}
    assert {"limits", "rate", "failures"} <= changing
    assert not changing & {"autostart", "wait_for_device", "speed_limit"}
    lines = [about.text().splitlines() for about in (FAKE_ABOUT, VirtualDynamixelNode.ABOUT)]
    notes = [text[text.index("parameters:") + 1] for text in lines]
    assert ("(" in notes[0].split()[0], "(" in notes[1].split()[0]) == (True, False)


def test_no_message_sends_a_user_to_a_command_that_may_not_be_installed() -> None:
    """The wheels of ROS 2 have no `ros2`; hints work with and without it."""
    root = Path(__file__).parents[3] / "bam_ros"
    sources = [
        file for file in root.rglob("*.py") if file.name != "__init__.py"
    ]  # rooms' docs are no message
    for file in sources:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            told = line.partition("#")[0]
            assert not any(f"ros2 {word}" in told for word in ("run ", "launch ", "lifecycle", "service")), (
                f"{file.name}:{number}"
            )
