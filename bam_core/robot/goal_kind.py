# SPDX-License-Identifier: Apache-2.0
"""Whether goals are positions of the joints, in the unit of their readings: readings that follow show it.

Tables of commands hold speeds, steps and angles in degrees under the same names. A servo's reading is its
goal of a moment before, up to load and friction. Where it is the integral of the goal, that was a speed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.robot.run import RobotRun

_DEGREE, _COUNT = math.pi / 180.0, 2.0 * math.pi / 4096.0
_UNITS = {"degrees": _DEGREE, "counts of the encoder": _COUNT}
_SAME_SCALE = 1.3  # ratio; servos miss their goals by less, and units differ by 57 and more
_FOLLOWS = 0.9  # correlation of readings with goals that differ from them in their unit alone
_UNLIKE = 0.7  # of the variance, that positions do not leave unexplained
_EXPLAINED = 0.1  # likewise, that the integral of a speed leaves at most, also of what positions leave
_WIDER = 2.5  # readings per goal; no servo moves so far beyond its goals
_AS_WIDE = 0.25  # of the goals' variance; readings that move less show a servo that cannot follow
_LATEST = 0.5  # s by which readings follow
_STEPS = 26  # that are tried
_FEWEST = 50  # samples
_MOVES = 0.05  # rad; of joints that move less nothing shows


class _Followed(NamedTuple):
    """How the readings of a joint are related to its goals, at the delay that fits best."""

    correlation: float
    scale: float
    """Readings per goal."""
    unexplained: float
    """Variance of the difference, in variances of the reading or the goal, whichever is larger."""


def require_goal_positions(run: RobotRun, moving: Sequence[str]) -> None:
    """Refuse goals that are no positions in the unit of the readings.

    Args:
        run: recorded.
        moving: joints whose goals move.

    Raises:
        BadData: goals have another unit than readings, are speeds, or are nothing that the readings follow.
    """
    shown = [joint for joint in moving if _shows(run, joint)]
    relations = {joint: _followed(*_samples(run, joint)) for joint in shown}
    for joint, relation in relations.items():
        _require_one_unit(run, joint, relation)
    if not shown:
        return
    left = {joint: _integral_leaves(*_samples(run, joint)) for joint in shown}
    if all(left[joint] < _EXPLAINED * min(relations[joint].unexplained, 1.0) for joint in shown):
        raise BadData(
            f"{run.name}, goals",
            "are speeds: readings are their integral",
            expected="positions",
            advice="name the columns or the topic of goal positions in a map",
        )
    if all(_is_unlike(run, joint, relations[joint]) for joint in shown):
        raise BadData(
            f"{run.name}, readings",
            "do not follow the goals",
            expected="goals that are positions",
            advice="name their columns in a map; steps, speeds and poses are none",
        )


def _is_unlike(run: RobotRun, joint: str, relation: _Followed) -> bool:
    """Return whether a joint moves otherwise than any servo whose goals these are."""
    return relation.scale > _WIDER or (relation.unexplained > _UNLIKE and _moves_as_wide(run, joint))


def _require_one_unit(run: RobotRun, joint: str, relation: _Followed) -> None:
    if relation.correlation < _FOLLOWS:
        return
    for words, size in _UNITS.items():
        for scale, which in ((size, "goals"), (1.0 / size, "readings")):
            if 1.0 / _SAME_SCALE < relation.scale / scale < _SAME_SCALE:
                raise BadData(
                    f"{run.name}, {which} of '{joint}'",
                    f"are {1.0 / size:.3g} times the others: {words} beside radians",
                    expected="one unit for goals and readings",
                    advice="convert one of them",
                )


def _samples(run: RobotRun, joint: str) -> tuple[Array, Array, Array]:
    """Return (n,) times, goals and readings of a joint where these are sound."""
    column = run.column(joint)
    sound = run.is_sound[:, column]
    return run.time[sound], run.goal_position[sound, column], run.position[sound, column]


def _shows(run: RobotRun, joint: str) -> bool:
    time, goal, read = _samples(run, joint)
    if len(time) < _FEWEST or time[-1] - time[0] < 4.0 * _LATEST:
        return False
    return bool(np.ptp(read) > _MOVES and np.ptp(goal) > 0.0)


def _moves_as_wide(run: RobotRun, joint: str) -> bool:
    _, goal, read = _samples(run, joint)
    return bool(np.var(read) > _AS_WIDE * np.var(goal))


def _followed(time: Array, goal: Array, read: Array) -> _Followed:
    relations = []
    for delay in np.linspace(0.0, _LATEST, _STEPS):
        inside = time - delay >= time[0]
        late, now = np.interp(time[inside] - delay, time, goal), read[inside]
        if np.ptp(late) == 0.0 or np.ptp(now) == 0.0:
            continue
        correlation = float(np.corrcoef(late, now)[0, 1])
        scale = correlation * float(np.std(now) / np.std(late))
        unexplained = float(np.var(now - late) / max(np.var(now), np.var(late)))
        relations.append(_Followed(correlation, scale, unexplained))
    if not relations:
        return _Followed(0.0, 0.0, 0.0)
    best = max(relation.correlation for relation in relations)
    least = min(relation.unexplained for relation in relations)
    scale = next(relation.scale for relation in relations if relation.correlation == best)
    return _Followed(best, scale, least)


def _integral_leaves(time: Array, goal: Array, read: Array) -> float:
    """Return the share of the variance of readings that the integral of goals leaves, at any delay."""
    path = np.concatenate([[0.0], np.cumsum(0.5 * (goal[1:] + goal[:-1]) * np.diff(time))])
    return _followed(time, path, read).unexplained
