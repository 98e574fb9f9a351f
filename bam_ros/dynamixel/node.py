# SPDX-License-Identifier: Apache-2.0
"""The `dynamixel` node: servos on a serial port behind the topics that every servo node has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bam_ros.dynamixel.bus import DynamixelBus, DynamixelSettings
from bam_ros.parameters import declare
from bam_ros.process import run_node
from bam_ros.servo_bus import ServoBus
from bam_ros.servo_node import ServoNode


class DynamixelNode(ServoNode):
    """Drives Dynamixel servos.

    Args:
        stop: polled while servos are searched; true ends the search.
        arguments: as for `rclpy.node.Node`.
    """

    def __init__(self, stop: Callable[[], bool] = lambda: False, **arguments: Any) -> None:
        super().__init__("dynamixel", **arguments)
        self._stop = stop
        declare(self, "port", "", "serial device such as /dev/ttyUSB0; empty: the only one there is")
        declare(self, "joint_names", ["joint"], "name of each joint in the published states")
        declare(self, "ids", [1], "bus id of each joint, 0 to 252")
        declare(self, "baud_rate", 0, "bit/s that is tried first; 0: find it")
        declare(self, "protocol", 0, "protocol of the servos' firmware, 1 or 2; 0: find it")

    def create_bus(self) -> ServoBus:
        """Build the bus from the parameters; raises BusError."""
        value = {name: self.get_parameter(name).value for name in ("port", "joint_names", "ids")}
        return DynamixelBus(
            DynamixelSettings(
                port=str(value["port"]),
                joints=tuple(value["joint_names"]),
                ids=tuple(value["ids"]),
                baud_rate=int(self.get_parameter("baud_rate").value),
                protocol=int(self.get_parameter("protocol").value),
            ),
            self._stop,
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(DynamixelNode, argv)


if __name__ == "__main__":
    raise SystemExit(main())
