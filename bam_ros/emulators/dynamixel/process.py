# SPDX-License-Identifier: Apache-2.0
"""The emulated bus as a process of its own, for programs that need servos to talk to."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bam_ros.emulators.controlled_process import ControlledProcess

DYNAMIXEL = "bam_ros.emulators.dynamixel"


class VirtualBusProcess(ControlledProcess):
    """Starts servos behind a pseudo-terminal; a client opens `port`, a link that stays when it is replugged.

    It executes `control.COMMANDS`.

    Args:
        servo: key in the catalog of the module.
        ids: bus id of each servo.
        options: further ones of `python -m bam_ros.emulators.dynamixel`, such as "--mass", "0.5".
        module: that is started.
    """

    def __init__(self, servo: str, ids: Sequence[int] = (1,), *options: str, module: str = DYNAMIXEL) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="bam_bus_")
        self.port = str(Path(self._directory.name) / "bus")
        arguments = ["--servo", servo, "--id", *map(str, ids), "--link", self.port, *options]
        super().__init__(module, arguments)

    def stop(self) -> None:
        """End it and take the link away; idempotent."""
        super().stop()
        self._directory.cleanup()
