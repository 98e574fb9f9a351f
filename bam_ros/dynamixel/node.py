# SPDX-License-Identifier: Apache-2.0
"""The `dynamixel` node: servos on a serial port behind the topics that every servo node has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

from rclpy.node import Node

from bam_ros.driver.command_kind import COMMAND_PARAMETERS, CommandKind, kinds_of
from bam_ros.driver.servo_about import (
    DEVICE_PARAMETERS,
    POSITION_INTERFACES,
    POSITION_PARAMETERS,
    REGISTER_INTERFACES,
    SERVO_INTERFACES,
    SERVO_PARAMETERS,
    reconfigurable,
)
from bam_ros.driver.servo_bus import ServoBus
from bam_ros.driver.servo_node import ServoNode
from bam_ros.driver.transmission import TRANSMISSION_PARAMETERS, transmissions_of
from bam_ros.driver.transmission_bus import behind_transmissions
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.servo import LARGEST_WATCHDOG
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.node.node_about import NodeAbout
from bam_ros.node.parameters import NodeParameter
from bam_ros.node.process import run_node
from bam_ros.node.running_node import NodeProgram

_MOST_CURRENT = 100.0  # A; the servos' own registers allow less
BUS_PARAMETERS = (
    NodeParameter(
        name="port",
        default="",
        description="serial device such as /dev/ttyUSB0; empty: the only one there is",
    ),
    NodeParameter(
        name="joint_names",
        default=["joint"],
        description="name of each joint in the published states",
    ),
    NodeParameter(name="ids", default=[1], description="bus id of each joint, 0 to 252"),
    NodeParameter(name="baud_rate", default=0, description="bit/s that is tried first; 0: find it"),
    NodeParameter(
        name="protocol",
        default=0,
        description="protocol of the servos' firmware, 1 or 2; 0: find it, both may be on the line",
    ),
    NodeParameter(
        name="models",
        default="",
        description="YAML file with control tables of models that are not built in; empty: none",
    ),
    NodeParameter(
        name="watchdog",
        default=0.0,
        description=(
            "watchdog while torque is on, s: if the node sends nothing for this time, servos of Protocol 2.0"
            " stop by themselves, and after 1.6 times this time a guardian process releases all servos."
            " 0 selects the default: 0.3, or 0.2 in PWM mode"
        ),
        low=0.0,
        high=LARGEST_WATCHDOG,
    ),
    NodeParameter(
        name="answer_timeout",
        default=0.0,
        description=(
            "an answer that is not there after this long counts as lost, s; 0: 34 ms and the time of its"
            " bytes. For emulated servos or adapters on a busy machine"
        ),
        low=0.0,
        high=1.0,
    ),
    *DEVICE_PARAMETERS,
)
"""Of every node with Dynamixel servos."""


def bus_settings(
    node: Node, parameters: Iterable[NodeParameter] = BUS_PARAMETERS, *, kind: CommandKind | None = None
) -> DynamixelSettings:
    """Return what a node's parameters set for its bus; raises BamError.

    Args:
        node: that has these parameters.
        parameters: of its bus.
        kind: what all joints are commanded by; None: what the parameters set.
    """
    value = {parameter.name: node.get_parameter(parameter.name).value for parameter in parameters}
    settings = {field.name: value[field.name] for field in fields(DynamixelSettings) if field.name in value}
    joints, ids = tuple(value["joint_names"]), tuple(settings.pop("ids"))
    kinds = kinds_of(node, joints) if kind is None else (kind,) * len(joints)
    return DynamixelSettings(joints=joints, ids=ids, command_kinds=kinds, **settings)


class DynamixelNode(ServoNode):
    """Drives Dynamixel servos.

    Args:
        stop: polled while servos are searched; true ends the search.
        arguments: as for `rclpy.node.Node`.
    """

    ABOUT = NodeAbout(
        name="dynamixel",
        module="bam_ros.dynamixel.node",
        purpose=(
            "Drives Dynamixel servos on a serial port: finds their baud rate, protocol and models, publishes"
            " what they measure, passes on what clients command. Torque goes off whenever this node ends or"
            " commands stay away. When the port vanishes, /diagnostics has it, and the node looks for it once"
            " a second. It goes on with torque off when the port is back."
        ),
        parameters=reconfigurable(
            *BUS_PARAMETERS,
            NodeParameter(
                name="multi_turn",
                default=False,
                description=(
                    "true: servos count turns (extended position mode, Protocol 2.0), and goals go as far as"
                    " limits allows; the count begins anew when a servo gets power"
                ),
            ),
            NodeParameter(
                name="current_limit",
                default=0.0,
                description=(
                    "above 0: servos follow positions with at most this current, A (current-based position"
                    " mode of X and MX(2.0)), such as a gripper; their runs are not recorded for"
                    " identification. 0: position mode"
                ),
                low=0.0,
                high=_MOST_CURRENT,
            ),
            *COMMAND_PARAMETERS,
            *TRANSMISSION_PARAMETERS,
            *SERVO_PARAMETERS,
            *POSITION_PARAMETERS,
        ),
        interfaces=(*SERVO_INTERFACES, *REGISTER_INTERFACES, *POSITION_INTERFACES),
        example=("port:=/dev/ttyUSB0", "ids:='[1]'"),
    )

    def __init__(self, stop: Callable[[], bool] = lambda: False, **arguments: Any) -> None:
        super().__init__("dynamixel", **arguments)
        self._stop = stop

    def create_bus(self) -> ServoBus:
        """Build the bus from the parameters; raises BamError."""
        value = {name: self.get_parameter(name).value for name in ("multi_turn", "current_limit")}
        settings = replace(bus_settings(self), **value)
        bus = DynamixelBus(settings, self._stop, self.get_logger().info)
        return behind_transmissions(bus, transmissions_of(self, bus.names))


PROGRAM = NodeProgram(about=DynamixelNode.ABOUT, make_node=DynamixelNode)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
