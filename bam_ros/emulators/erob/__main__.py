# SPDX-License-Identifier: Apache-2.0
"""Virtual drives without ROS: `python -m bam_ros.emulators.erob --create-veth ecat0:ecat1 --slaves 2`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bam_ros.emulators.starting import begin
from bam_ros.text.emulator_notices import EmulatorStarts


def main(argv: Sequence[str] | None = None) -> int:
    """Print that it starts before the imports that take seconds, then serve."""
    arguments = begin(argv, EmulatorStarts(kind="erob"))
    from bam_ros.emulators.erob.command import main as serve

    return serve(arguments)


if __name__ == "__main__":
    sys.exit(main())
