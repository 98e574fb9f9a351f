# SPDX-License-Identifier: Apache-2.0
"""Virtual servos without ROS: `python -m bam_ros.emulators.feetech --servo sts3215 --link /tmp/bam_bus`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

_INTERRUPTED = 130


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(_INTERRUPTED)  # nothing is open yet


def main(argv: Sequence[str] | None = None) -> int:
    """Print that it starts before the imports that take seconds, and end quietly when interrupted then."""
    signal.signal(signal.SIGINT, _leave)
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not {"-h", "--help"} & set(arguments):
        print("starting a virtual Feetech bus ...", flush=True)
    from bam_core.servo.pendulum import PendulumBench
    from bam_ros.emulators.dynamixel.builder import BusSetup
    from bam_ros.emulators.dynamixel.command import main as serve
    from bam_ros.emulators.feetech.catalog import FEETECH

    load = PendulumBench(mass=0.5, arm_mass=0.05, length=0.15)
    return serve(arguments, BusSetup(catalog=FEETECH, servo="sts3215", pendulum=load))


if __name__ == "__main__":
    sys.exit(main())
