# SPDX-License-Identifier: Apache-2.0
"""The `virtual_dynamixel` node: an emulated servo and its pendulum, for any client of serial ports."""

from __future__ import annotations

from collections.abc import Sequence

from bam_ros.emulators.dynamixel.builder import BusSetup
from bam_ros.emulators.dynamixel.bus_node import VirtualBusNode, virtual_about
from bam_ros.node.process import run_node
from bam_ros.node.running_node import NodeProgram


class VirtualDynamixelNode(VirtualBusNode):
    """Serves one emulated Dynamixel servo; arguments as VirtualBusNode."""

    SETUP = BusSetup()
    ABOUT = virtual_about(
        SETUP,
        servos="mx64, mx64_2, mx106, mx106_2 or xl330",
        faults="undervoltage, overvoltage, overheat, overload, and with Protocol 2.0 encoder, shock",
    )


PROGRAM = NodeProgram(about=VirtualDynamixelNode.ABOUT, make_node=lambda stop: VirtualDynamixelNode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
