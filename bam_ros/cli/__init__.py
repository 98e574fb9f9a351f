# SPDX-License-Identifier: Apache-2.0
"""The command ``bam`` with the commands that need ROS 2. ROS 2 itself is imported by those, when they run."""

from __future__ import annotations

from collections.abc import Sequence

from bam_core.cli import CORE_COMMANDS, Command
from bam_core.cli import main as core_main

ROS_COMMANDS: tuple[Command, ...] = (
    Command("servos", "list servos and models, show a servo, or describe a new one", "bam_ros.cli.servos"),
    Command("record", "record a session on the bench", "bam_ros.cli.record"),
    Command("robot record", "play a motion on a whole robot and record it", "bam_ros.cli.robot_record"),
    Command("demo", "record, identify and simulate a virtual servo", "bam_ros.cli.demo"),
)
"""Commands added to those of `bam_core`, or taking their place."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``bam``; see `bam_core.cli.main`."""
    return core_main(argv, (*CORE_COMMANDS, *ROS_COMMANDS))
