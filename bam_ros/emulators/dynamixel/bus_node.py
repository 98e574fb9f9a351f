# SPDX-License-Identifier: Apache-2.0
"""A node that serves one emulated servo and its pendulum on a pseudo-terminal, whoever made the servo."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from bam_bench.srv import SetLoad
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from bam_core.errors import BamError
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus
from bam_ros.emulators.dynamixel.bus_link import default_link
from bam_ros.emulators.dynamixel.line_faults import parse_faults
from bam_ros.emulators.dynamixel.pty_server import PtyServer
from bam_ros.emulators.serving import CLIENT_TIMEOUT
from bam_ros.node.node_about import Interface, NodeAbout
from bam_ros.node.parameters import NodeParameter, declare


class VirtualBusNode(Node):
    """Serves one emulated servo on a pseudo-terminal.

    Gives the services `~/set_load` (hang another load, as an operator would) and `~/reveal` (the hidden
    parameters as YAML). It publishes nothing: what the servo does is on its bus.

    Attributes:
        ABOUT: the node's name, parameters and services; see `virtual_about`.
        SETUP: what is on the bus where parameters leave it open.
    """

    ABOUT: ClassVar[NodeAbout]
    SETUP: ClassVar[BusSetup]

    def __init__(self, **arguments: Any) -> None:
        super().__init__(self.ABOUT.name, **arguments)
        value = declare(self, self.ABOUT.parameters)
        setup = replace(
            self.SETUP,
            servo=value["servo"],
            ids=(value["id"],),
            baud_rate=value["baud_rate"],
            pendulum=PendulumBench(mass=value["mass"], arm_mass=value["arm_mass"], length=value["length"]),
            seed=value["seed"],
            faults=value["faults"].split(),
        )
        is_given = "link" in self._parameter_overrides
        link = value["link"] if is_given else default_link(self.get_namespace())
        self._bus = build_bus(setup, time.monotonic())
        self._servo = self._bus.servos[0]
        self._server = PtyServer(self._bus, link=Path(link) if link else None, wire_time=value["wire_time"])
        self.create_service(SetLoad, "~/set_load", self._set_load)
        self.create_service(Trigger, "~/reveal", self._reveal)
        self.add_on_set_parameters_callback(self._set_parameters)

    def start(self) -> None:
        """Open the terminal; raises BamError where the link cannot be made."""
        self._server.start()
        servo = self._servo
        self.get_logger().info(
            f"{servo.table.title} id {servo.id} at {servo.baud_rate} bit/s: {self._server.path}"
        )

    def close(self) -> None:
        """Close the terminal, once no driver needs it any more to turn torque off; idempotent."""
        self._server.stop(CLIENT_TIMEOUT)

    def _set_load(self, request: SetLoad.Request, response: SetLoad.Response) -> SetLoad.Response:
        try:
            pendulum = PendulumBench(mass=request.mass, arm_mass=request.arm_mass, length=request.length)
        except BamError as error:
            response.message = str(error)
            return response
        with self._server.lock:
            if self._servo.torque_enabled:
                response.message = "load: torque is on (it moves while hands are near); turn it off first"
                return response
            self._servo.bench.set_load(pendulum)
        response.success = True
        response.message = f"{pendulum.mass} kg on {pendulum.length} m hangs at rest"
        return response

    def _reveal(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        response.message = self._servo.bench.hidden.to_yaml()
        return response

    def _set_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            for parameter in parameters:
                if parameter.name == "faults":
                    self._break(parameter.value)
        except BamError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _break(self, words: str) -> None:
        line, broken = parse_faults(words.split(), self._servo.faults)
        with self._server.lock:
            self._bus.faults.drop, self._bus.faults.corrupt = line.get("drop", 0.0), line.get("corrupt", 0.0)
            self._servo.repair()
            for fault in broken:
                self._servo.inject(fault)


def virtual_about(setup: BusSetup, *, servos: str, faults: str) -> NodeAbout:
    """Return what the virtual node of a manufacturer is and takes.

    Args:
        setup: what is on its bus by default.
        servos: that it emulates, in words.
        faults: that its servos have, in words.
    """
    brand = setup.catalog.brand
    name = f"virtual_{brand.lower()}"
    return NodeAbout(
        name=name,
        module=f"bam_ros.emulators.{brand.lower()}.node",
        purpose=(
            f"Emulates a {brand} servo with a pendulum behind a pseudo-terminal, which any client of serial"
            " ports can open. Its friction and motor are hidden: they are drawn by a seed."
        ),
        parameters=(
            NodeParameter(name="servo", default=setup.servo, description=servos),
            NodeParameter(name="id", default=1, description="bus id"),
            NodeParameter(
                name="baud_rate",
                default=setup.baud_rate,
                description="speed that the servo is set to, bit/s",
            ),
            NodeParameter(
                name="link",
                default=str(default_link()),
                description=(
                    "symbolic link to the pseudo-terminal; empty: none; the default has the user's number,"
                    " and the namespace where the node has one"
                ),
            ),
            NodeParameter(
                name="mass", default=setup.pendulum.mass, description="load at the end of the arm, kg"
            ),
            NodeParameter(name="arm_mass", default=setup.pendulum.arm_mass, description="uniform arm, kg"),
            NodeParameter(
                name="length", default=setup.pendulum.length, description="from the axis to the load, m"
            ),
            NodeParameter(name="seed", default=0, description="of the hidden parameters"),
            NodeParameter(
                name="faults",
                default="",
                description=(
                    f"what is broken, in words: drop=P corrupt=P (probabilities on the line), {faults};"
                    " empty repairs it"
                ),
                read_only=False,
            ),
            NodeParameter(
                name="wire_time",
                default=False,
                description="take as long as the bytes would on a real line",
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
                purpose="the hidden parameters as YAML",
            ),
        ),
        example=(f"servo:={setup.servo}", "link:=/tmp/bam_bus", "seed:=3"),
    )
