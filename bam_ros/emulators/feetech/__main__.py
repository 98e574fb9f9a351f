# SPDX-License-Identifier: Apache-2.0
"""Virtual servos without ROS: `python -m bam_ros.emulators.feetech --servo sts3215 --link /tmp/bam_bus`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bam_ros.emulators.starting import begin


def main(argv: Sequence[str] | None = None) -> int:
    """Print that it starts before the imports that take seconds, then serve."""
    arguments = begin(argv, "a virtual Feetech bus")
    from bam_core.servo.pendulum import PendulumBench
    from bam_ros.emulators.dynamixel.builder import BusSetup
    from bam_ros.emulators.dynamixel.command import main as serve
    from bam_ros.emulators.feetech.catalog import FEETECH

    load = PendulumBench(mass=0.5, arm_mass=0.05, length=0.15)
    return serve(arguments, BusSetup(catalog=FEETECH, servo="sts3215", pendulum=load))


if __name__ == "__main__":
    sys.exit(main())
