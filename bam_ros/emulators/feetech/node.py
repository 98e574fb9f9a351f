# SPDX-License-Identifier: Apache-2.0
"""The `virtual_feetech` node: an emulated servo and its pendulum, for any client of serial ports."""

from __future__ import annotations

from collections.abc import Sequence

from bam_ros.emulators.dynamixel.bus_node import VirtualBusNode, virtual_about
from bam_ros.emulators.feetech.catalog import default_setup
from bam_ros.node.process import run_node
from bam_ros.node.running_node import NodeProgram


class VirtualFeetechNode(VirtualBusNode):
    """Serves one emulated Feetech servo; arguments as VirtualBusNode."""

    SETUP = default_setup()
    ABOUT = virtual_about(
        SETUP,
        servos="sts3215, sts3250 or sm8512bl; scs0009, which the driver refuses",
        faults="undervoltage, overvoltage, overheat, overload",
    )


PROGRAM = NodeProgram(about=VirtualFeetechNode.ABOUT, make_node=lambda stop: VirtualFeetechNode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
