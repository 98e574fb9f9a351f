# SPDX-License-Identifier: Apache-2.0
"""Virtual servos without ROS: `python -m bam_ros.emulators.feetech --servo sts3215 --link /tmp/bam_bus`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bam_ros.emulators.starting import begin
from bam_ros.text.emulator_notices import EmulatorStarts


def main(argv: Sequence[str] | None = None) -> int:
    """Print that it starts before the imports that take seconds, then serve."""
    arguments = begin(argv, EmulatorStarts(kind="feetech"))
    from bam_ros.emulators.dynamixel.command import main as serve
    from bam_ros.emulators.feetech.catalog import default_setup

    return serve(arguments, default_setup())


if __name__ == "__main__":
    sys.exit(main())
