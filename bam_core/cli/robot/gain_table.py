# SPDX-License-Identifier: Apache-2.0
"""The joints of a robot with the gains that count in its runs, so that a forgotten one is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bam_core.text.table import format_table

if TYPE_CHECKING:
    from bam_core.robot.run import RobotRun


def gain_table(joints: Sequence[str], types: Mapping[str, str], runs: Sequence[RobotRun]) -> str:
    """Return a row per joint: its servo, and kp, ki and kd, of which runs may have several.

    Args:
        joints: that count.
        types: joint -> servo.
        runs: all of them.
    """
    from bam_core.servo.gains import gain_of

    def values(name: str, joint: str) -> str:
        gains = {gain_of(getattr(run, name), joint) or 0.0 for run in runs}
        return ", ".join(f"{gain:g}" for gain in sorted(gains))

    rows = [(joint, types[joint], *(values(name, joint) for name in ("kp", "ki", "kd"))) for joint in joints]
    return format_table(("joint", "servo", "kp", "ki", "kd"), rows)
