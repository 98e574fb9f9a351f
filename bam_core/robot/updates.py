# SPDX-License-Identifier: Apache-2.0
"""Positions of a robot's joints that were updated by another clock than they were read by."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np

from bam_core.recordings.position_updates import at_read_times, find_updates
from bam_core.robot.run import RobotRun
from bam_core.text.finding import log_findings
from bam_core.text.recording_findings import LatePositions

log = logging.getLogger(__name__)


def as_of_their_times(run: RobotRun) -> RobotRun:
    """Return a run with all positions as of its times, and log where that took a correction.

    Each joint is looked at by itself: servos on two buses have two clocks. See `position_updates`.
    """
    position = run.position.copy()
    periods: dict[str, float] = {}
    for column, joint in enumerate(run.joints):
        read = run.position[:, column]
        updates = find_updates(run.time, read)
        if updates is None:
            continue
        path, _ = at_read_times(run.time, read, updates.ages)  # the last samples stay as they were read
        position[:, column] = path
        periods[joint] = updates.period
    if not periods:
        return run
    finding = LatePositions(
        names=(run.name,),
        total=1,
        periods=tuple(periods.values()),
        median=float(np.median(list(periods.values()))),
        joints=tuple(periods),
    )
    log_findings(log, [finding])
    return replace(run, position=position)
