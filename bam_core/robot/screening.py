# SPDX-License-Identifier: Apache-2.0
"""From what a source holds of a robot's joints to a run: the checks that logs of a bench get, joint by joint.

Every reader of runs ends here. Readings that cannot be right take no part in any error; see `bad_readings`.
In their place come positions on a smooth path between the sound ones, for simulations that need some posture.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData, Missing
from bam_core.recordings.bad_readings import false_readings, repeated
from bam_core.recordings.left_out import Mask, tell
from bam_core.recordings.neighbours import spread_over
from bam_core.recordings.older_readings import older_readings
from bam_core.recordings.position_jumps import position_jumps
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.robot.declared_unit import require_declared_unit
from bam_core.robot.gaps import sample_gaps
from bam_core.robot.mapped_run import mapped_run
from bam_core.robot.run import RobotRun
from bam_core.robot.value_steps import DEGREES, RADIANS
from bam_core.robot.zero_rows import zero_rows
from bam_core.text.left_out import LeftOut, Reason

_LEAST_SHARE = 0.5
"""Of a joint's readings that must be sound. Where most are not, nothing shows which ones are."""

_LEAST_TIME = 1.0  # s of sound readings that a run with false ones must keep
_TURN = 2.0 * math.pi
_WIDEST = 3.0 * _TURN
"""Between lowest and highest goal, rad. In degrees nearly any motion is wider, in radians hardly one."""
_TURN_ERROR = 0.3  # rad by which a jump may differ from a turn: what the joint moves between two samples
_END_TIME = 0.1  # s at one end of the range that is no turning point
_END_VISITS = 2  # equal to the last digit: friction stops a joint at another count each time
_END_GOALS = 0.1  # rad that goals move in beyond it; where they rest, friction and load can hold a joint
_SAME_OFFSET = 0.1  # rad between two parts' distances from their goals, beyond which one has another zero


def screened_run(
    *,
    name: str,
    joints: Sequence[str],
    time: ArrayLike,
    goal_position: ArrayLike,
    position: ArrayLike,
    recording_map: RecordingMap = NO_MAP,
    sent: Mapping[str, tuple[Array, Array]] | None = None,
    **settings: Any,
) -> RobotRun:
    """Return a run without the readings that cannot be right, in terms of the description's joints.

    Samples that were written twice are dropped, as are those of `zero_rows` and those before every joint has
    a goal and a sound reading. A goal that is missing later is the one before.

    Args:
        name: of the recording.
        joints: names.
        time: (n,), s unless the map has another unit.
        goal_position: (n, joints), rad unless the map has another unit; NaN: not recorded.
        position: (n, joints), likewise.
        recording_map: units, and what each joint is in the description.
        sent: joint -> times and goals, each in force from its time on, where they were given at other times
            than samples; likewise.
        settings: other fields of `RobotRun`.

    Raises:
        BamError: as `RobotRun`; or too few of a joint's readings are sound.
    """
    clock, goals, read = (np.asarray(values, dtype=np.float64) for values in (time, goal_position, position))
    maps = recording_map.joint_maps(joints)
    kept = [column for column, joint in enumerate(maps) if joint is not None]
    if goals.ndim == read.ndim == 2 and goals.shape[1] == read.shape[1] == len(joints):
        goals, read = (recording_map.angle_scale * values[:, kept] for values in (goals, read))
        joints = [joints[column] for column in kept]
        settings = {name: _of_joints(value, joints) for name, value in settings.items()}
    clock = recording_map.time_scale * clock
    joints = tuple(joints)
    shape = (len(clock), len(joints))
    is_complete = clock.ndim == 1 and goals.shape == read.shape == shape and bool(np.all(np.isfinite(clock)))
    if not is_complete:
        return RobotRun(
            name=name, joints=joints, time=clock, goal_position=goals, position=read, **settings
        )  # which refuses it
    twice = repeated(clock, *goals.T, *read.T)
    nowhere = zero_rows(clock, read) & ~twice
    rows = np.flatnonzero(~twice & ~nowhere)
    clock, goals, read = clock[rows], goals[rows], read[rows]  # copies
    # Before turns are counted on: degrees and counts jump by "turns" of 2π rad in any motion.
    recorded = dict(zip(joints, read.T / recording_map.angle_scale, strict=True))
    require_declared_unit(name, recorded, DEGREES if recording_map.unit == DEGREES else RADIANS)
    failed = [tell("position", Reason.SPIKE, nowhere)] if nowhere.any() else []
    left_out: dict[str, list[LeftOut]] = {joint: [*failed] for joint in joints}
    wraps: dict[str, int] = {}
    sound = np.isfinite(read)
    if len(clock) > 1 and np.all(np.diff(clock) > 0.0):
        for column, joint in enumerate(joints):
            if count := _count_turns(goals[:, column], read[:, column]):
                wraps[joint] = count
            for reason, mask in _false(clock, goals[:, column], read[:, column]):
                sound[mask, column] = False
                if reason is not Reason.BESIDE:
                    left_out[joint].append(tell("position", reason, _in_source(mask, rows, len(twice))))
        _add_failed_exchanges(read, sound, left_out, joints, rows, len(twice))
    goals = _held(name, joints, clock, goals)
    try:
        _require_enough(name, joints, clock, read, sound, left_out)
    except BadData as error:
        widest = float(np.max(np.nanmax(goals, axis=0) - np.nanmin(goals, axis=0)))
        raise _in_degrees(name, widest) if widest > _WIDEST else error from None
    begun = sound.all(axis=1) & np.isfinite(goals).all(axis=1)
    first = int(np.argmax(begun)) if begun.any() else 0
    run = RobotRun(
        name=name,
        joints=joints,
        time=clock[first:],
        goal_position=goals[first:],
        position=_bridged(clock, read, sound)[first:],
        sound=None if sound[first:].all() else sound[first:],
        left_out={joint: tuple(parts) for joint, parts in left_out.items() if parts},
        wraps=wraps,
        sent={
            joint: _after(clock[first], goals[first, column], *sent[joint], recording_map)
            for column, joint in enumerate(joints)
            if sent and joint in sent and joint not in wraps  # goals would need their turns counted
        },
        **settings,
    )
    return mapped_run(run, [joint for joint in maps if joint is not None])


def _of_joints(setting: Any, joints: Sequence[str]) -> Any:
    """Return a setting without joints that are left out, where it has a value per joint."""
    if not isinstance(setting, Mapping):
        return setting
    return {joint: value for joint, value in setting.items() if joint in joints}


def _false(time: Array, goal: Array, position: Array) -> list[tuple[Reason, Mask]]:
    """Return reasons and (n,) which readings of a joint are false for them."""
    masks = false_readings(time, position, np.full(len(time), np.nan))
    sound = np.ones(len(time), dtype=bool)
    for _, mask in masks:
        sound &= ~mask
    older = spread_over(sound, older_readings(time[sound], goal[sound], position[sound]))
    if older.any():
        masks = [*masks, (Reason.OLDER, older)]
        sound &= ~older
    shifted = spread_over(sound, _behind_jumps(time[sound], goal[sound], position[sound]))
    if shifted.any():
        masks = [*masks, (Reason.OTHER_ZERO, shifted)]
        sound &= ~shifted
    at_end = spread_over(sound, _at_ends(time[sound], goal[sound], position[sound]))
    return [*masks, (Reason.AT_END, at_end)] if at_end.any() else masks


def _at_ends(time: Array, goal: Array, position: Array) -> Mask:
    """Return (n,) where a joint reads exactly one end of its motion, several times, with goals beyond.

    There is an end stop, or readings are clipped: a model of the servo explains neither.
    """
    at_ends = np.zeros(len(time), dtype=bool)
    if not len(time) or np.ptp(position) < _END_GOALS:  # a joint that hardly moves has no ends to see
        return at_ends
    for end, sign in ((position.max(), 1.0), (position.min(), -1.0)):
        beyond = (position == end) & (sign * (goal - end) > 0.0)
        edges = np.flatnonzero(np.diff(beyond, prepend=False, append=False)).reshape(-1, 2)
        visits = [
            (first, last)
            for first, last in edges
            if time[last - 1] - time[first] >= _END_TIME and np.ptp(goal[first:last]) > _END_GOALS
        ]
        if len(visits) >= _END_VISITS:
            for first, last in visits:
                at_ends[first:last] = True
    return at_ends


def _count_turns(goal: Array, position: Array) -> int:
    """Count on goals and positions over whole turns, in place; return how often positions jumped by some.

    An encoder of one turn begins anew behind it, and many recorders fold angles into ±π.
    """
    known = np.flatnonzero(np.isfinite(position))
    turns = _turns(position[known])
    count = int(np.count_nonzero(turns))
    if not count:
        return 0
    position[known[1:]] -= _TURN * np.cumsum(turns)
    given = np.flatnonzero(np.isfinite(goal))
    goal[given[1:]] -= _TURN * np.cumsum(_turns(goal[given]))
    if len(both := np.intersect1d(known, given)):
        goal += _TURN * np.round(np.median(position[both] - goal[both]) / _TURN)
    return count


def _turns(values: Array) -> Array:
    """Return (n - 1,) by how many whole turns each value jumps from the one before; 0 where it does not."""
    steps = np.diff(values)
    turns = np.round(steps / _TURN)
    return np.where(np.abs(steps - _TURN * turns) < _TURN_ERROR, turns, 0.0)


def _behind_jumps(time: Array, goal: Array, position: Array) -> Mask:
    """Return (n,) where a position has another zero than where it is nearest to its goals."""
    shifted = np.zeros(len(time), dtype=bool)
    jumps = position_jumps(time, position)
    if not len(jumps):
        return shifted
    parts = np.split(np.arange(len(time)), jumps)
    offsets = np.array([np.nanmedian(position[part] - goal[part]) for part in parts])
    if not np.all(np.isfinite(offsets)):
        return shifted
    least = float(np.abs(offsets).min())
    for part, offset in zip(parts, offsets, strict=True):
        shifted[part] = abs(offset) - least > _SAME_OFFSET
    return shifted


def _add_failed_exchanges(
    read: Array,
    sound: NDArray[np.bool_],
    left_out: dict[str, list[LeftOut]],
    joints: Sequence[str],
    rows: NDArray[np.intp],
    samples: int,
) -> None:
    """Leave out zeros of other joints where one joint read 0 and cannot have been there, in place.

    A recorder writes 0 for all joints of an exchange that failed. Near its zero, a joint hides that.
    """
    if len(joints) < 2:
        return
    failed = np.any(~sound & (read == 0.0), axis=1)
    for column, joint in enumerate(joints):
        zero = failed & sound[:, column] & (read[:, column] == 0.0)
        if zero.any() and read[:, column].any():
            sound[zero, column] = False
            left_out[joint].append(tell("position", Reason.SPIKE, _in_source(zero, rows, samples)))


def _in_source(mask: Mask, rows: NDArray[np.intp], samples: int) -> Mask:
    """Return (samples,) a mask of the rows that were not written twice, as one of all rows."""
    spread = np.zeros(samples, dtype=bool)
    spread[rows[mask]] = True
    return spread


def _held(name: str, joints: Sequence[str], time: Array, goals: Array) -> Array:
    """Return goals of which those that were not recorded are the ones before; NaN before the first.

    Raises:
        Missing: a joint has no goal at all, or none for so long that samples would count as missing.
    """
    known = np.isfinite(goals)
    if known.all():
        return goals
    held = goals.copy()
    for column, joint in enumerate(joints):
        given = np.flatnonzero(known[:, column])
        if not len(given):
            raise Missing(f"{name}, goal_position of '{joint}'", "a number")
        if len(gaps := sample_gaps(np.append(time[given], time[-1]))):
            row = int(given[gaps[0] - 1]) + 1
            raise Missing(f"{name}, goal_position of '{joint}', sample {row}", "a number")
        newest = np.searchsorted(given, np.arange(len(time)), side="right") - 1
        held[:, column] = np.where(newest >= 0, goals[given[np.maximum(newest, 0)], column], np.nan)
    return held


def _require_enough(
    name: str,
    joints: Sequence[str],
    time: Array,
    read: Array,
    sound: NDArray[np.bool_],
    left_out: dict[str, list[LeftOut]],
) -> None:
    """Refuse a run of which too little is sound; raises BadData."""
    if sound.all() or not len(time):
        return
    for joint, known in zip(
        joints, np.atleast_1d(np.isfinite(read).any(axis=0)), strict=True
    ):  # of NaN alone
        if not known:
            raise Missing(f"{name}, position of '{joint}', sample 0", "a number")
    period = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    for column, joint in enumerate(joints):
        count = int(sound[:, column].sum())
        if sound[:, column].all() or (count >= _LEAST_SHARE * len(time) and count * period >= _LEAST_TIME):
            continue
        why = ", ".join(part.phrase for part in left_out[joint])
        raise BadData(
            f"{name}, position of '{joint}'",
            f"{len(time) - count} of {len(time)} samples cannot be right: {why}",
            expected=f"{_LEAST_SHARE:.0%} of them sound, {_LEAST_TIME:g} s at least",
            advice="check cable and encoder, record it again, or leave it out",
        )


def _after(
    first: float, goal: float, time: Array, goals: Array, recording_map: RecordingMap
) -> tuple[Array, Array]:
    """Return goals in s and rad from the first sample on, at which `goal` is in force."""
    time = recording_map.time_scale * time
    later = (time > first) & np.isfinite(goals)
    return np.append(first, time[later]), np.append(goal, recording_map.angle_scale * goals[later])


def _in_degrees(name: str, widest: float) -> BadData:
    """Return the refusal of a run whose goals, and thus not its readings alone, are too wide for rad."""
    return BadData(
        f"{name}, goal_position",
        f"is {widest:.0f} rad wide, and readings jump by whole turns: these seem to be degrees",
        expected="rad",
        advice="give the unit, such as --unit deg or unit: deg in a map",
    )


def _bridged(time: Array, read: Array, sound: NDArray[np.bool_]) -> Array:
    """Return (n, joints) positions with a path over those that are not sound; at the ends they rest."""
    if sound.all():
        return read
    from scipy.interpolate import PchipInterpolator  # takes long to load, and most runs need none

    bridged = read.copy()
    for column, known in enumerate(sound.T):
        if known.all() or known.sum() < 2:
            continue
        inner = np.clip(time[~known], time[known][0], time[known][-1])
        bridged[~known, column] = PchipInterpolator(time[known], read[known, column])(inner)
    return bridged
