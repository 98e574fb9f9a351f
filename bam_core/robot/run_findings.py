# SPDX-License-Identifier: Apache-2.0
"""What was left out of a robot's runs while they were loaded, or corrected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bam_core.robot.run import RobotRun
from bam_core.text.finding import Finding
from bam_core.text.robot_run_findings import CountedTurns, RunLeftOut


def run_findings(runs: Sequence[RobotRun]) -> Iterator[Finding]:
    """Return findings about runs of which something does not count, or whose turns were counted."""
    for run in runs:
        if run.wraps:
            yield CountedTurns(run=run.name, wraps=tuple(run.wraps.items()))
        gaps = tuple((_last_sound(run, row), float(run.time[row])) for row in run.restarts)
        if run.left_out or gaps:
            yield RunLeftOut(
                run=run.name,
                readings=tuple(run.left_out.items()),
                gaps=gaps,
                lost=1.0 - float(run.compared(run.joints)[run.in_interval].mean()),
            )


def _last_sound(run: RobotRun, row: int) -> float:
    """Return the time of the last sample before a row with a sound reading of every joint, s."""
    before = row - 1
    while before > 0 and not run.is_sound[before].all():
        before -= 1
    return float(run.time[before])
