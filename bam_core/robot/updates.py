# SPDX-License-Identifier: Apache-2.0
"""Positions of a robot's joints that were updated by another clock than they were read by."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from bam_core.recordings.position_updates import at_read_times, find_updates
from bam_core.robot.run import RobotRun

log = logging.getLogger(__name__)


def as_of_their_times(run: RobotRun) -> RobotRun:
    """Return a run with all positions as of its times, and say where that took a correction.

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
    log.warning(
        "%s: positions of %s were updated every %s ms only, so that readings are up to so much older than "
        "their times; taken as of when they were updated",
        run.name,
        _named(periods),
        " or ".join(sorted({f"{1e3 * period:.1f}" for period in periods.values()})),
    )
    return replace(run, position=position)


def _named(joints: Iterable[str], most: int = 3) -> str:
    names = list(joints)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
