# SPDX-License-Identifier: Apache-2.0
"""Finds positions that were read again and again while the arm moved on."""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.left_out import Mask

# Frozen readings: so many equal positions or more, then a jump of at least so much, which is either faster
# than any arm or several times the step after it: an arm that breaks away starts slowly.
_FROZEN = 3  # positions
_FROZEN_JUMP = 0.15  # rad
_FROZEN_SPEED = 60.0  # rad/s
_FROZEN_PAUSE = 3.0  # periods without a sample, after which a jump tells nothing of those before
_FROZEN_GAIN = 3.0  # times the step after
_FROZEN_WAY = 0.01  # rad in two steps before or after: at rest on either side, nothing was missed between
# Or the arm is seen at rest for so long while the servo reports that it moves, or, where it reports nothing,
# after steady motion. In 362 real logs, arms that come to rest for so long have at most 0.55 rad/s and
# 50 rad/s² two readings before, and servos report nothing above 0.5 rad/s meanwhile.
_HELD = 0.1  # s,
_HELD_READINGS = 10  # and so many equal positions at least
_STOP_SPEED = 1.0  # rad/s
_STOP_BRAKING = 100.0  # rad/s² in two readings
_STOP_PACE = 0.6  # of the way of the two readings before, and the reverse: what brakes slows down,
_STOP_WAY = 0.05  # rad in the time `_HELD` before: a slip is shorter
_REPORTED_SPEED = 0.5  # rad/s; slower, it may be noise
_REPORTED_WAY = 0.15  # rad


def find_frozen(time: Array, position: Array, velocity: Array) -> Mask:
    """Find positions that were read again and again while the arm moved on, (n,); not the first of each run.

    Args:
        time: (n,) s, increasing.
        position: (n,) rad, finite.
        velocity: (n,) rad/s as the servo reported it; NaN: not known.
    """
    result = np.zeros(len(position), dtype=bool)
    edges = np.flatnonzero(np.diff(position) != 0.0)
    if not len(edges):
        return result  # an arm that never moves is told by what needs motion
    starts, ends = np.concatenate(([0], edges + 1)), np.concatenate((edges, [len(position) - 1]))
    for start, end in zip(starts, ends, strict=True):
        if end - start + 1 < _FROZEN:
            continue
        reported = np.isfinite(velocity[start : end + 1]).any()
        held = _reported_in_motion if reported else _stopped_at_once
        if _found_elsewhere(time, position, start, end) or (
            _held(time, start, end) and held(time, velocity if reported else position, start, end)
        ):
            result[start + 1 : end + 1] = True  # the first one was measured
    return result


def those_that_last(time: Array, frozen: Mask) -> Mask:
    """Return those frozen positions that stay for long, counted from the measured one before them.

    Args:
        time: (n,) s.
        frozen: (n,) as of `find_frozen`.
    """
    lasting = np.zeros(len(frozen), dtype=bool)
    edges = np.flatnonzero(np.diff(frozen, prepend=False, append=False))
    for start, end in edges.reshape(-1, 2):
        lasting[start:end] = _held(time, start - 1, end - 1)
    return lasting


def _found_elsewhere(time: Array, position: Array, start: int, end: int) -> bool:
    """Return whether the arm is elsewhere at once after equal readings, and moved before or moves after.

    One that sticks and breaks away starts slowly.
    """
    if end + 2 >= len(position):
        return False
    jump = position[end + 1] - position[end]
    step = position[end + 2] - position[end + 1]
    if time[end + 1] - time[end] > _FROZEN_PAUSE * np.median(np.diff(time)):
        return False  # nobody looked meanwhile
    after = abs(position[min(end + 3, len(position) - 1)] - position[end + 1])
    if max(after, abs(position[start] - position[max(start - 2, 0)])) < _FROZEN_WAY:
        return False  # an offset was lost
    fast = abs(jump) > _FROZEN_SPEED * (time[end + 1] - time[end])
    return bool(abs(jump) > _FROZEN_JUMP and (fast or abs(jump) > _FROZEN_GAIN * abs(step)))


def _held(time: Array, start: int, end: int) -> bool:
    return bool(end - start + 1 >= _HELD_READINGS and time[end] - time[start] >= _HELD)


def _stopped_at_once(time: Array, position: Array, start: int, end: int) -> bool:
    """Return whether equal readings follow on motion that no servo ends so fast."""
    if start < 4:
        return False
    before = int(np.searchsorted(time, time[start] - _HELD))
    passed = time[start] - time[start - 2]
    way, way_before = np.abs(np.diff(position[[start, start - 2, start - 4]]))
    return bool(
        way > max(_STOP_SPEED, 0.5 * _STOP_BRAKING * passed) * passed
        and _STOP_PACE < way / max(way_before, 1e-9) < 1.0 / _STOP_PACE
        and abs(position[start] - position[before]) > _STOP_WAY
    )


def _reported_in_motion(time: Array, velocity: Array, start: int, end: int) -> bool:
    """Return whether the servo reports that it goes far during equal readings."""
    reported = velocity[start + 1 : end + 1]
    moving = np.abs(reported) > _REPORTED_SPEED  # false where it is not known
    way = np.cumsum(np.where(moving, reported, 0.0) * np.diff(time[start : end + 1]))
    return float(np.ptp(way)) > _REPORTED_WAY
