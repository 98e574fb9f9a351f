# SPDX-License-Identifier: Apache-2.0
"""Whether readings follow their goals, as in every run of servos, and in no mix-up of columns or clocks.

Datasets whose actions are the next readings have goals that nobody commanded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.robot.goal_kind import require_goal_positions
from bam_core.robot.run import RobotRun

_MOVES = 0.05  # rad; of joints whose goals change by less nothing shows
_COPIED = 0.95  # of the samples in motion at which reading and goal are the same number
_COPIED_LATER = 5  # samples by which one may be later
_FARTHEST = 0.5  # s that readings may be ahead of goals, or behind them
_LEAST_AHEAD = 0.02  # s, and one and a half samples: what recorders' clocks are apart
_FEWEST = 50  # samples
_BETTER = 0.5  # of the squares that are left, of periodic motions too


def copied_joints(run: RobotRun) -> tuple[str, ...]:
    """Return joints whose readings are their goals, number for number: nobody measured them."""
    return tuple(joint for joint in _moving(run) if _is_copied(run, joint))


def repeated_joints(run: RobotRun) -> tuple[str, ...]:
    """Return joints whose readings are their goals of some samples before, number for number."""
    samples = range(1, _COPIED_LATER + 1)
    return tuple(joint for joint in _moving(run) if any(_is_copied(run, joint, later) for later in samples))


def require_followed(run: RobotRun) -> None:
    """Refuse a run whose readings are its goals, come before them, or are of something else.

    Raises:
        BadData: with what is wrong.
    """
    moving = _moving(run)
    if moving and copied_joints(run) == moving:
        raise BadData(
            f"{run.name}, readings",
            "are the goals, number for number",
            expected="what the servos measured",
            advice="record their positions",
        )
    ahead = [lead for joint in moving if (lead := _lead(run, joint)) is not None]
    if moving and len(ahead) == len(moving):
        raise BadData(
            f"{run.name}, readings",
            f"come {float(np.median(ahead)):.2g} s before their goals",
            expected="readings that follow goals",
            advice="exchange goals and readings, or correct the stamps of one of them",
        )
    require_goal_positions(run, moving)


def without_joints(run: RobotRun, joints: Collection[str]) -> RobotRun:
    """Return a run without some of its joints."""
    if not joints:
        return run
    kept = [joint for joint in run.joints if joint not in joints]
    columns = [run.column(joint) for joint in kept]

    def of_kept(values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {joint: values[joint] for joint in kept if joint in values}

    return replace(
        run,
        joints=tuple(kept),
        goal_position=run.goal_position[:, columns],
        position=run.position[:, columns],
        sound=None if run.sound is None else run.sound[:, columns],
        left_out=of_kept(run.left_out),
        wraps=of_kept(run.wraps),
        sent=of_kept(run.sent),
        kp=of_kept(run.kp),
        kd=of_kept(run.kd),
        ki=of_kept(run.ki),
        goal_acceleration=of_kept(run.goal_acceleration),
    )


def _moving(run: RobotRun) -> tuple[str, ...]:
    return tuple(joint for joint in run.joints if np.ptp(run.goal_position[:, run.column(joint)]) > _MOVES)


def _is_copied(run: RobotRun, joint: str, later: int = 0) -> bool:
    """Return whether readings are the goals of so many samples before."""
    column = run.column(joint)
    goal, read, sound = (values[:, column] for values in (run.goal_position, run.position, run.is_sound))
    changed = np.flatnonzero(np.diff(goal) != 0.0) + 1
    changed = changed[changed + later < len(read)]
    changed = changed[sound[changed + later]]
    return len(changed) > 1 and float(np.mean(goal[changed] == read[changed + later])) > _COPIED


def _lead(run: RobotRun, joint: str) -> float | None:
    """Return by how much readings are ahead of goals, s; None: they are not, or nothing shows it."""
    sound = run.is_sound[:, run.column(joint)]
    time, goal, read = (
        values[sound]
        for values in (run.time, *(of[:, run.column(joint)] for of in (run.goal_position, run.position)))
    )
    if len(time) < _FEWEST or time[-1] - time[0] < 4.0 * _FARTHEST:
        return None
    period = float(np.median(np.diff(time)))
    leads = np.arange(-_FARTHEST, _FARTHEST + 0.5 * period, period)
    left = np.array([_left(time, goal, read, lead) for lead in leads])
    best = float(leads[np.argmin(left)])
    if best < max(_LEAST_AHEAD, 1.5 * period) or left.min() > _BETTER * left[leads <= 0.5 * period].min():
        return None
    return best


def _left(time: Array, goal: Array, read: Array, lead: float) -> float:
    """Return the variance of how far readings are from the goals `lead` s later."""
    inside = (time + lead > time[0]) & (time + lead < time[-1])
    return float(np.var(read[inside] - np.interp(time[inside] + lead, time, goal)))
