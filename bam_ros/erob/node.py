# SPDX-License-Identifier: Apache-2.0
"""The `erob` node: eRob servos on an EtherCAT segment behind the topics that every servo node has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bam_core.errors import OutOfRange
from bam_ros.driver.joint_limits import parse_limits
from bam_ros.driver.servo_about import (
    DEVICE_PARAMETERS,
    POSITION_INTERFACES,
    POSITION_PARAMETERS,
    SERVO_INTERFACES,
    SERVO_PARAMETERS,
    reconfigurable,
)
from bam_ros.driver.servo_bus import ServoBus
from bam_ros.driver.servo_node import ServoNode
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.settings import LARGEST_RATE, LEAST_RATE, LONGEST_NODE_TIMEOUT, ErobSettings
from bam_ros.node.node_about import NodeAbout
from bam_ros.node.parameters import NodeParameter
from bam_ros.node.process import run_node
from bam_ros.node.running_node import NodeProgram

_LEAST_GOALS = 5  # that the node sends within node_timeout


class ErobNode(ServoNode):
    """Drives eRob servos.

    Args:
        stop: polled while the segment is brought up; true ends that.
        arguments: as for `rclpy.node.Node`.
    """

    ABOUT = NodeAbout(
        name="erob",
        module="bam_ros.erob.node",
        purpose=(
            "Drives eRob servos on an EtherCAT segment. It verifies vendor and product of every drive, maps"
            " its process data, and publishes what the drives measure. The master closes the position loop"
            " I = kp·(goal - position) - 2·√kp·velocity in a process of its own. Torque goes off if this node"
            " or that process ends or hangs, if commands stop, or if a cycle is lost (by the drives' own"
            " watchdog); raw frames need CAP_NET_RAW and CAP_NET_ADMIN."
        ),
        parameters=reconfigurable(
            NodeParameter(name="interface", default="", description="network interface, such as eth0"),
            NodeParameter(
                name="joint_names",
                default=["joint"],
                description="name of each joint in the published states",
            ),
            NodeParameter(
                name="positions",
                default=[1],
                description="position of each joint's drive on the segment, counted from 1",
            ),
            NodeParameter(
                name="servos",
                default=["erob80_100"],
                description="servo of each joint, a library name or a YAML file; one entry: for all",
            ),
            NodeParameter(
                name="zeros",
                default=[0.0],
                description="reading of each drive with its arm straight down, rad; one entry: for all",
            ),
            NodeParameter(
                name="kp",
                default=20.0,
                description="position gain of every drive at first, A/rad",
                low=0.0,
                high=1000.0,
            ),
            NodeParameter(
                name="layout",
                default="torque",
                description="process data, the name of a layout or a YAML file",
            ),
            NodeParameter(
                name="cycle_rate",
                default=1000.0,
                description="cycles per second, 1/s",
                low=LEAST_RATE,
                high=LARGEST_RATE,
            ),
            NodeParameter(
                name="watchdog",
                default=0.05,
                description="a drive that gets no process data for this long stops by itself, s",
                low=0.001,
                high=1.0,
            ),
            NodeParameter(
                name="answer_timeout",
                default=0.0,
                description=(
                    "a frame that is not back after this long counts as lost, s; 0: two periods, or 2 ms"
                ),
                low=0.0,
                high=1.0,
            ),
            NodeParameter(
                name="node_timeout",
                default=0.5,
                description="torque goes off if the node sends no goals for this long (it hangs), s",
                low=0.1,
                high=LONGEST_NODE_TIMEOUT,
            ),
            NodeParameter(
                name="distributed_clocks",
                default=True,
                description="whether drives act in step with the first one's clock, which the master follows",
            ),
            *DEVICE_PARAMETERS,
            *SERVO_PARAMETERS,
            *POSITION_PARAMETERS,
            bus=("speed_limit", "following_error"),
        ),
        interfaces=(*SERVO_INTERFACES, *POSITION_INTERFACES),
        example=("interface:=eth0", "positions:='[1]'"),
    )

    def __init__(self, stop: Callable[[], bool] = lambda: False, **arguments: Any) -> None:
        super().__init__("erob", **arguments)
        self._stop = stop

    def create_bus(self) -> ServoBus:
        """Build the bus from the parameters; raises BamError."""
        rate = float(self.get_parameter("rate").value)
        slowest = _LEAST_GOALS / float(self.get_parameter("node_timeout").value)
        if 0.0 < rate < slowest:
            raise OutOfRange(
                "rate",
                rate,
                f"0, or at least {slowest:g}: five goals within node_timeout",
                printed=f"{rate:g} 1/s",
                advice="correct one of the parameters",
            )
        value = {
            parameter.name: self.get_parameter(parameter.name).value
            for parameter in self.ABOUT.parameters
            if not parameter.prefix
        }
        return ErobBus(
            ErobSettings(
                interface=str(value["interface"]),
                joints=tuple(value["joint_names"]),
                positions=tuple(value["positions"]),
                servos=tuple(value["servos"]),
                zeros=tuple(value["zeros"]),
                kp=float(value["kp"]),
                limits=parse_limits(value["limits"], value["joint_names"]),
                speed_limit=float(value["speed_limit"]),
                following_error=float(value["following_error"]),
                layout=str(value["layout"]),
                rate=float(value["cycle_rate"]),
                watchdog=float(value["watchdog"]),
                answer_timeout=float(value["answer_timeout"]),
                node_timeout=float(value["node_timeout"]),
                clock=bool(value["distributed_clocks"]),
            ),
            self._stop,
        )


PROGRAM = NodeProgram(about=ErobNode.ABOUT, make_node=ErobNode)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
