# SPDX-License-Identifier: Apache-2.0
"""The `feetech` node: Feetech servos on a serial port behind the topics that every servo node has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bam_ros.driver.command_kind import COMMAND_PARAMETERS
from bam_ros.driver.servo_about import (
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
from bam_ros.dynamixel.node import BUS_PARAMETERS as DYNAMIXEL_PARAMETERS
from bam_ros.dynamixel.node import bus_settings
from bam_ros.feetech.bus import FeetechBus
from bam_ros.node.node_about import NodeAbout
from bam_ros.node.process import run_node
from bam_ros.node.running_node import NodeProgram

_WATCHDOG = (
    "silence of this node while torque is on, s; after 1.6 times that a guardian process releases all servos."
    " The servos have no watchdog of their own. 0 selects the default, 0.3"
)
BUS_PARAMETERS = tuple(
    replace(parameter, description=_WATCHDOG) if parameter.name == "watchdog" else parameter
    for parameter in DYNAMIXEL_PARAMETERS
    if parameter.name not in ("protocol", "models")
)
"""Of every node with Feetech servos: those of Dynamixel servos, without their protocols and tables."""


class FeetechNode(ServoNode):
    """Drives Feetech servos.

    Args:
        stop: polled while servos are searched; true ends the search.
        arguments: as for `rclpy.node.Node`.
    """

    ABOUT = NodeAbout(
        name="feetech",
        module="bam_ros.feetech.node",
        purpose=(
            "Drives Feetech servos of the STS and SMS series on a serial port: finds their baud rate and"
            " models, publishes what they measure, passes on what clients command. Torque goes off whenever"
            " this node ends or commands stay away. When the port vanishes the node reports that in"
            " /diagnostics, looks for it once a second, and goes on with torque off when it is back. The"
            " servos themselves hold their last goal where their cable breaks: they have no watchdog."
        ),
        parameters=reconfigurable(
            *BUS_PARAMETERS,
            *COMMAND_PARAMETERS,
            *TRANSMISSION_PARAMETERS,
            *SERVO_PARAMETERS,
            *POSITION_PARAMETERS,
        ),
        interfaces=(*SERVO_INTERFACES, *REGISTER_INTERFACES, *POSITION_INTERFACES),
        example=("port:=/dev/ttyACM0", "ids:='[1]'"),
    )

    def __init__(self, stop: Callable[[], bool] = lambda: False, **arguments: Any) -> None:
        super().__init__("feetech", **arguments)
        self._stop = stop

    def create_bus(self) -> ServoBus:
        """Build the bus from the parameters; raises BamError."""
        bus = FeetechBus(bus_settings(self, BUS_PARAMETERS), self._stop, self.get_logger().info)
        return behind_transmissions(bus, transmissions_of(self, bus.names))


PROGRAM = NodeProgram(about=FeetechNode.ABOUT, make_node=FeetechNode)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
