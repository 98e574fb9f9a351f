# SPDX-License-Identifier: Apache-2.0
"""The `simulator` node: any robot with servos in MuJoCo, with topics and services of the drivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn

from bam_ros.driver.command_kind import kinds_of
from bam_ros.driver.servo_bus import ServoBus, ServoSample
from bam_ros.driver.servo_node import ServoNode
from bam_ros.node.process import run_node
from bam_ros.node.running_node import NodeProgram
from bam_ros.simulator.about import ABOUT
from bam_ros.simulator.interface import SimulationInterface


class SimulatorNode(ServoNode):
    """Simulates servos. Beyond what drivers have it gives what `SimulationInterface` gives."""

    ABOUT = ABOUT

    def __init__(self, **arguments: Any) -> None:
        super().__init__("simulator", **arguments)
        self._simulation = SimulationInterface(self, lambda: self._active()[1])

    def create_bus(self) -> ServoBus:
        """Build the simulation from the parameters; raises BamError."""
        servos, kp = (self.get_parameter(name).value for name in ("servos", "kp"))
        kinds = kinds_of(self, self.get_parameter("joint_names").value)
        return self._simulation.create_bus(servos, kp=float(kp), kinds=kinds)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build the simulation and publish the robot's description."""
        result = super().on_configure(state)
        if result == TransitionCallbackReturn.SUCCESS:
            self._simulation.describe()
        return result

    def _publish(self, sample: ServoSample, sequence: int) -> None:
        super()._publish(sample, sequence)
        self._simulation.publish(sample)


PROGRAM = NodeProgram(about=SimulatorNode.ABOUT, make_node=lambda stop: SimulatorNode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
