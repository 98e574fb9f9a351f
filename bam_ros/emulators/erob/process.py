# SPDX-License-Identifier: Apache-2.0
"""The emulated segment as a process of its own, for programs that need drives to talk to."""

from __future__ import annotations

import itertools
import os

from bam_ros.emulators.controlled_process import ControlledProcess

_PAIRS = itertools.count()


class VirtualSegmentProcess(ControlledProcess):
    """Starts drives at one end of a pair of interfaces that it makes; a master opens `interface`.

    It executes `control.COMMANDS`. (`pysoem` keeps Python's interpreter to itself while it waits for frames.)

    Args:
        slaves: how many.
        options: further ones of `python -m bam_ros.emulators.erob`, such as "--mass", "8.2".
    """

    def __init__(self, slaves: int = 1, *options: str) -> None:
        number = f"{os.getpid()}{'abcdefghijklmnopqrstuvwxyz'[next(_PAIRS) % 26]}"
        self.interface = f"ec{number}m"
        pair = f"{self.interface}:ec{number}s"
        arguments = ["--create-veth", pair, "--slaves", str(slaves), *options]
        super().__init__("bam_ros.emulators.erob", arguments)
