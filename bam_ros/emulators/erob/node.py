# SPDX-License-Identifier: Apache-2.0
"""The `virtual_erob` node: emulated drives with their pendulums on an EtherCAT segment, for any master."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from bam_bench.srv import SetLoad
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from bam_core.errors import BamError, Missing
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators.erob.builder import SegmentSetup, build_segment
from bam_ros.emulators.erob.control import set_load
from bam_ros.emulators.erob.drive import DRIVE_FAULTS
from bam_ros.emulators.erob.faults import SLAVE_FAULTS, parse_faults
from bam_ros.emulators.erob.hidden_drive import SERVOS
from bam_ros.emulators.erob.server import SegmentServer
from bam_ros.emulators.erob.veth import VethPair
from bam_ros.emulators.serving import CLIENT_TIMEOUT
from bam_ros.node.node_about import Interface, NodeAbout
from bam_ros.node.parameters import NodeParameter, declare
from bam_ros.node.process import run_node
from bam_ros.node.running_node import NodeProgram

_DEFAULT = SegmentSetup()


class VirtualErobNode(Node):
    """Serves emulated drives at one end of a pair of interfaces.

    Gives the services `~/set_load` (hang another load, as an operator would) and `~/reveal` (the hidden
    parameters as YAML). It publishes nothing: what the drives do is on their bus.
    """

    ABOUT = NodeAbout(
        name="virtual_erob",
        module="bam_ros.emulators.erob.node",
        purpose=(
            "Emulates eRob drives, each with a pendulum, as slaves of an EtherCAT segment that any master can"
            " run. Their friction and motors are hidden: they are drawn by a seed."
        ),
        parameters=(
            NodeParameter(name="servo", default=_DEFAULT.servo, description=" or ".join(SERVOS)),
            NodeParameter(name="slaves", default=_DEFAULT.slaves, description="how many drives"),
            NodeParameter(
                name="create_veth",
                default="ecat0:ecat1",
                description=(
                    "MASTER:SLAVES, a pair of network interfaces to make and to remove at the end; a master"
                    " opens MASTER; empty: none"
                ),
            ),
            NodeParameter(
                name="interface",
                default="",
                description="network interface to answer at; empty: the pair's SLAVES",
            ),
            NodeParameter(
                name="mass", default=_DEFAULT.pendulum.mass, description="load at the end of the arm, kg"
            ),
            NodeParameter(name="arm_mass", default=_DEFAULT.pendulum.arm_mass, description="uniform arm, kg"),
            NodeParameter(
                name="length", default=_DEFAULT.pendulum.length, description="from the axis to the load, m"
            ),
            NodeParameter(name="seed", default=0, description="of the hidden parameters"),
            NodeParameter(
                name="faults",
                default="",
                description=(
                    "what is broken, in words: drop=P corrupt=P garble=P truncate=P reorder=P (probabilities)"
                    f" delay=SECONDS on the line; {', '.join((*SLAVE_FAULTS, *DRIVE_FAULTS))}, fault=CODE,"
                    " each with @SLAVE, or of every slave; empty repairs it"
                ),
                read_only=False,
            ),
        ),
        interfaces=(
            Interface(
                kind="service",
                name="~/set_load",
                type="bam_bench/SetLoad",
                purpose="hang another load, as an operator would; refused while torque is on",
            ),
            Interface(
                kind="service",
                name="~/reveal",
                type="std_srvs/Trigger",
                purpose="the hidden parameters as YAML, one document for each drive",
            ),
        ),
        example=("servo:=erob80_100", "create_veth:=ecat0:ecat1", "seed:=3"),
    )

    def __init__(self, **arguments: Any) -> None:
        super().__init__("virtual_erob", **arguments)
        value = declare(self, self.ABOUT.parameters)
        setup = SegmentSetup(
            servo=value["servo"],
            slaves=value["slaves"],
            pendulum=PendulumBench(mass=value["mass"], arm_mass=value["arm_mass"], length=value["length"]),
            seed=value["seed"],
        )
        self._pair = VethPair.parse(value["create_veth"]) if value["create_veth"] else None
        interface = value["interface"] or (self._pair.slaves if self._pair else "")
        if not interface:
            raise Missing(
                "interface", "the one of the slaves", advice="name one, or make a pair with create_veth"
            )
        self._title = f"{setup.slaves} x {setup.servo} at {interface}"
        faults = parse_faults(value["faults"].split(), setup.slaves)
        self._server = SegmentServer(build_segment(setup, time.monotonic_ns()), interface, seed=setup.seed)
        self._server.set_faults(faults)
        self._stack = ExitStack()
        self.create_service(SetLoad, "~/set_load", self._set_load)
        self.create_service(Trigger, "~/reveal", self._reveal)
        self.add_on_set_parameters_callback(self._set_parameters)

    def start(self) -> None:
        """Make the pair and open the interface; raises BamError where that cannot be."""
        if self._pair is not None:
            self._stack.enter_context(self._pair)
        self._server.start()
        self._stack.callback(self._server.stop, CLIENT_TIMEOUT)
        gc.collect()
        gc.freeze()  # what is there now stays, so that collections have little to look at
        master = f", master at {self._pair.master}" if self._pair is not None else ""
        self.get_logger().info(f"{self._title}{master}")

    def close(self) -> None:
        """Stop answering, once no master needs it any more to turn torque off, and take the pair away.

        Idempotent.
        """
        self._stack.close()

    def _set_load(self, request: SetLoad.Request, response: SetLoad.Response) -> SetLoad.Response:
        try:
            pendulum = PendulumBench(mass=request.mass, arm_mass=request.arm_mass, length=request.length)
            set_load(self._server, pendulum)
        except BamError as error:
            response.message = str(error)
            return response
        response.success = True
        response.message = f"{pendulum.mass} kg on {pendulum.length} m hangs at rest"
        return response

    def _reveal(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        slaves = self._server.segment.slaves
        response.success = True
        response.message = "---\n".join(slave.bench.hidden.to_yaml() for slave in slaves)
        return response

    def _set_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            for parameter in parameters:
                if parameter.name == "faults":
                    words = parameter.value.split()
                    self._server.set_faults(parse_faults(words, len(self._server.segment.slaves)))
        except BamError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


PROGRAM = NodeProgram(about=VirtualErobNode.ABOUT, make_node=lambda stop: VirtualErobNode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
