# SPDX-License-Identifier: Apache-2.0
"""Finds readings that no bench can have produced, so that one of them does not cost a recording.

Buses lose bits, and recorders repeat what they read last. Such readings are found by how far they are from
their neighbours, compared with what neighbours are usually apart, and take no part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData

Mask = NDArray[np.bool_]

# Of 350 real logs of a Feetech STS3215, 55 hold false positions, 62 in all: encoder count 0, 1.7 rad and more
# from their neighbours. Steps of the sound logs are within 0.08 rad of the pace around them.
_SPIKE = 0.1  # rad per usual period from where neighbours say it is, at least,
_SPIKE_ACCELERATION = 250.0  # rad/s² times the square of that period,
_SPIKE_SCALES = 12.0  # and so many times the usual distance around it
_USUAL = 25  # samples to either side that say what is usual
_PACE = 4  # samples to either side whose median step is the pace of the arm
_RUN = 10  # samples; of a longer run, nobody can tell which side of a jump is true
_JUMP = 0.15  # rad beyond the pace around it; what jumps by less may have slipped
_JUMP_PAUSE = 3.0  # periods without a sample, in which an arm may have gone anywhere
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
_SUPPLY = 0.25  # of the usual supply: a reading further from its neighbours is false,
_SUPPLY_RANGES = 1.5  # and so many times what 90 % of readings span: of an XL330, 6 and 8 V in turn
_MOSTLY_OFF = 0.5  # of the readings: then it is no false reading, and `Recording` judges
_SUPPLY_HOLDS = 5  # samples to either side
_SUPPLY_LASTS = 0.5  # of the usual supply: a reading so far from it is false however long it lasts
_TEMPERATURE = 10.0  # K; no motor warms by it within
_TEMPERATURE_HOLDS = 10  # samples to either side
_ALWAYS = 3  # false samples that any recording may have
_FEWEST = 2  # sound samples between which there is a path
MOST = 0.05
"""Share of a log's samples that may be false. Of a log with more, nothing is sure."""


class Reason(Enum):
    """Why readings take no part."""

    SPIKE = "far from those around"
    BESIDE = "beside those"
    FROZEN = "repeated while the arm moved"
    MISSING = "not numbers"
    NO_SUPPLY = "not above 0 V, which no servo that answers can read"
    REPEATED = "samples that were written twice"


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """Readings of one channel that take no part.

    Attributes:
        channel: field of `Recording`, such as "position".
        reason: why.
        samples: how many.
        first: index of the first of them in the file.
    """

    channel: str
    reason: Reason
    samples: int
    first: int

    def __str__(self) -> str:
        """Say it in a few words."""
        what = "reading" if self.samples == 1 else "readings"
        return f"{self.samples} {what} of {self.channel} ({self.reason.value}, first at entry {self.first})"


def without_false_readings(
    columns: Mapping[str, NDArray[Any]],
) -> tuple[dict[str, NDArray[Any]], tuple[LeftOut, ...]]:
    """Return the samples of a recording without those that are false.

    In place of a false position comes one on a smooth path between its neighbours, for the goal of the same
    sample is right and drives the simulation; at the ends, where there is no such path, samples are left out
    as a whole. A false supply or temperature is not known from then on: NaN. Where a larger share than `MOST`
    is false, nothing is left out, and `Recording` refuses the whole by `require_few`.

    Args:
        columns: fields of `Recording` by name, (n,) each: time, position, voltage and temperature at least.
    """
    kept, time = dict(columns), columns["time"]
    if not np.all(np.isfinite(time)):
        return kept, ()  # there is no order to judge by
    left_out: list[LeftOut] = []
    twice = repeated(time, *(columns[name] for name in columns if name != "time"))
    false = np.zeros(len(time), dtype=bool)
    if twice.any():
        left_out.append(_told("time", Reason.REPEATED, twice))
    if np.all(np.diff(time[~twice]) > 0.0):
        velocity = columns.get("velocity", np.full(len(time), np.nan))
        for reason, mask in _of_changes(time[~twice], columns["position"][~twice], velocity[~twice]):
            spread = _where(~twice, mask)
            false |= spread
            if reason is not Reason.BESIDE:
                left_out.append(_told("position", reason, spread))
    sound = ~(twice | false)
    if _too_many(_lost(left_out), len(time)) or sound.sum() < _FEWEST:
        return kept, tuple(left_out)
    for name, reason, find in (
        ("voltage", Reason.NO_SUPPLY, no_supply),
        ("voltage", Reason.SPIKE, false_supply),
        ("temperature", Reason.SPIKE, false_temperature),
    ):
        mask = find(kept[name])
        if mask.any():
            left_out.append(_told(name, reason, mask))
            kept[name] = np.where(mask, np.nan, kept[name])
    if false.any():
        kept |= _bridged(kept, sound, false)
    known = np.flatnonzero(sound)
    stays = ~twice
    stays[: known[0]] = stays[known[-1] + 1 :] = False
    return {name: values[stays] for name, values in kept.items()}, tuple(left_out)


def _bridged(columns: Mapping[str, NDArray[Any]], sound: Mask, false: Mask) -> dict[str, NDArray[Any]]:
    """Return positions with a path over the false ones, and velocities, which are not known there."""
    from scipy.interpolate import PchipInterpolator  # takes long to load, and most recordings have none

    time, position = columns["time"], columns["position"].copy()
    # It does not overshoot.
    position[false] = PchipInterpolator(time[sound], position[sound])(time[false])
    found: dict[str, NDArray[Any]] = {"position": position}
    if "velocity" in columns:
        found["velocity"] = np.where(false, np.nan, columns["velocity"])
    return found


def require_few(left_out: Sequence[LeftOut], samples: int) -> None:
    """Refuse a recording of so many samples if more than `MOST` are false; raises BadData."""
    count = _lost(left_out)
    if _too_many(count, samples):
        parts = [each for each in left_out if _is_lost(each)]
        raise BadData(
            "position",
            f"{count} of {samples} samples cannot be right: {', '.join(map(str, parts))}",
            expected=f"at most {MOST:.0%}",
            advice="check cable and encoder and record it again, or leave it out",
        )


def _is_lost(part: LeftOut) -> bool:
    """Return whether something is lost with these readings; nothing is with what was written twice."""
    return part.channel == "position"


def _lost(left_out: Sequence[LeftOut]) -> int:
    return sum(part.samples for part in left_out if _is_lost(part))


def _too_many(false: float, samples: int) -> bool:
    return false > max(MOST * samples, _ALWAYS)


def _told(channel: str, reason: Reason, mask: Mask) -> LeftOut:
    return LeftOut(
        channel=channel, reason=reason, samples=int(mask.sum()), first=int(np.flatnonzero(mask)[0])
    )


def false_positions(time: Array, position: Array, velocity: Array) -> list[tuple[Reason, Mask]]:
    """Find false positions.

    Args:
        time: (n,) s, increasing.
        position: (n,) rad; may hold values that are not finite.
        velocity: (n,) rad/s as the servo reported it; NaN: not known.

    Returns:
        Reasons and (n,) which samples are false for them; each sample once.
    """
    missing = ~np.isfinite(position)
    spikes = _spikes(time[~missing], position[~missing])
    spike, beside = _where(~missing, spikes), _where(~missing, _beside(spikes))
    sound = ~(missing | spike | beside)
    frozen = _where(sound, _frozen(time[sound], position[sound], velocity[sound]))
    found = (
        (Reason.MISSING, missing),
        (Reason.SPIKE, spike),
        (Reason.BESIDE, beside),
        (Reason.FROZEN, frozen),
    )
    return [(reason, mask) for reason, mask in found if mask.any()]


def no_supply(voltage: Array) -> Mask:
    """Find readings, V, (n,), with which no servo would have answered; none where most are such."""
    off = np.asarray(voltage <= 0.0)
    return off & (np.count_nonzero(off) < _MOSTLY_OFF * len(off))


def _of_changes(time: Array, position: Array, velocity: Array) -> list[tuple[Reason, Mask]]:
    """Find false positions; where they are too many, only among those that are not the one before.

    What updates its position seldom goes in jumps, of which each looks like a false reading. Positions that
    stay for longer than any updates are frozen all the same.
    """
    found = false_positions(time, position, velocity)
    if not _too_many(_count(found), len(time)):
        return found
    changed = np.concatenate(([True], np.diff(position) != 0.0))
    among = false_positions(time[changed], position[changed], velocity[changed])
    spread = [(reason, _where(changed, mask)) for reason, mask in among]
    lasting = _lasting(time, dict(found).get(Reason.FROZEN, np.zeros_like(changed)))
    if lasting.any():
        spread.append((Reason.FROZEN, lasting))
    return min(spread, found, key=_count)


def _lasting(time: Array, frozen: Mask) -> Mask:
    """Return those frozen positions, (n,), that stay for long, counted from the measured one before them."""
    lasting = np.zeros(len(frozen), dtype=bool)
    edges = np.flatnonzero(np.diff(frozen, prepend=False, append=False))
    for start, end in edges.reshape(-1, 2):
        lasting[start:end] = _held(time, start - 1, end - 1)
    return lasting


def _count(found: Sequence[tuple[Reason, Mask]]) -> int:
    return sum(int(mask.sum()) for reason, mask in found if reason is not Reason.BESIDE)


def false_supply(voltage: Array) -> Mask:
    """Find readings, V, (n,), that are no supply's: single ones, for a sag lasts, and those far off."""
    known = voltage[np.isfinite(voltage)]
    if not len(known):
        return np.zeros(len(voltage), dtype=bool)
    low, usual, high = np.percentile(known, [5.0, 50.0, 95.0])
    ranges = _SUPPLY_RANGES * (high - low)
    far = np.abs(voltage - usual) > max(_SUPPLY_LASTS * abs(usual), ranges)
    return far | _odd(voltage, _SUPPLY_HOLDS, max(_SUPPLY * abs(usual), ranges))


def false_temperature(temperature: Array) -> Mask:
    """Find single readings, °C, (n,), that no motor reaches so fast."""
    return _odd(temperature, _TEMPERATURE_HOLDS, _TEMPERATURE)


def repeated(time: Array, *channels: Array) -> Mask:
    """Find samples that are the one before, with its time: a recorder wrote them twice.

    Args:
        time: (n,) s.
        channels: (n,) each, all that was measured.
    """
    rows = np.stack([time, *channels])
    same = np.all((rows[:, 1:] == rows[:, :-1]) | (np.isnan(rows[:, 1:]) & np.isnan(rows[:, :-1])), axis=0)
    return np.concatenate(([False], same)) if len(time) else np.zeros(0, dtype=bool)


def _spikes(time: Array, position: Array) -> Mask:
    """Find short runs of positions that begin with a jump, after which the path goes on as before."""
    return _spikes_ahead(time, position) | _spikes_ahead(-time[::-1], position[::-1])[::-1]


def _spikes_ahead(time: Array, position: Array) -> Mask:
    """Find those after the first stretch that is long enough to be trusted."""
    found = np.zeros(len(position), dtype=bool)
    if len(position) < 2 * _RUN:
        return found
    steps = _steps(time, position)
    edges = np.flatnonzero(steps.off > steps.limit) + 1
    since_start = np.concatenate(([0.0], np.cumsum(steps.passed)))
    last = None
    for start, end in zip([0, *edges], [*edges, len(position)], strict=True):
        if last is None:
            last = end - 1 if end - start > _RUN else None
            continue
        expected = position[last] + (since_start[start] - since_start[last]) * steps.pace[start - 1]
        if abs(position[start] - expected) > steps.limit[start - 1] and end - start <= _RUN:
            found[start:end] = True
        else:
            last = end - 1
    return found


@dataclass(frozen=True, kw_only=True)
class _Steps:
    """Steps between positions, (n - 1,) each.

    Paces are per time: an arm goes farther while nobody looks, and how far is less sure the longer that is.

    Attributes:
        passed: usual periods.
        pace: usual step per period around, rad.
        off: by how much the step is not what the pace says, rad.
        limit: up to which that is usual, rad.
    """

    passed: Array
    pace: Array
    off: Array
    limit: Array


def _steps(time: Array, position: Array) -> _Steps:
    period = np.median(np.diff(time))
    passed = np.diff(time) / period
    least = max(_SPIKE, _SPIKE_ACCELERATION * period**2)
    steps = np.diff(position)
    pace = _running(steps / passed, _PACE)
    off = np.abs(steps - pace * passed)
    limit = np.maximum(least, _SPIKE_SCALES * _running(off, _USUAL)) * np.maximum(passed, 1.0)
    return _Steps(passed=passed, pace=pace, off=off, limit=limit)


def first_jump(time: Array, position: Array) -> int | None:
    """Return the sample that no arm can have reached from the one before, None where there is none.

    An encoder that loses its offset reads on as before from there, and nobody can tell which side is true.

    Args:
        time: (n,) s, increasing.
        position: (n,) rad, finite.
    """
    jumps = _jumps(time, position)
    if len(jumps) > _ALWAYS:  # what updates its position seldom goes in jumps
        changed = np.flatnonzero(np.diff(position, prepend=np.nan) != 0.0)
        jumps = changed[_jumps(time[changed], position[changed])]
    return int(jumps[0]) if len(jumps) else None


def _jumps(time: Array, position: Array) -> NDArray[np.intp]:
    if len(position) < 2 * _RUN:
        return np.zeros(0, dtype=np.intp)
    steps = _steps(time, position)
    return np.flatnonzero((steps.off > np.maximum(steps.limit, _JUMP)) & (steps.passed < _JUMP_PAUSE)) + 1


def _beside(spikes: Mask) -> Mask:
    """Find the samples beside them: a disturbed exchange spoils them, too, by less than can be told for sure.

    In the real logs, the sample before each of 62 spikes is the mean of the two before that one: made up.
    """
    padded = np.concatenate(([False], spikes, [False]))
    return (padded[:-2] | padded[2:]) & ~spikes


def _frozen(time: Array, position: Array, velocity: Array) -> Mask:
    """Find positions that were read again and again while the arm moved on."""
    found = np.zeros(len(position), dtype=bool)
    edges = np.flatnonzero(np.diff(position) != 0.0)
    if not len(edges):
        return found  # an arm that never moves is told by what needs motion
    starts, ends = np.concatenate(([0], edges + 1)), np.concatenate((edges, [len(position) - 1]))
    for start, end in zip(starts, ends, strict=True):
        if end - start + 1 < _FROZEN:
            continue
        reported = np.isfinite(velocity[start : end + 1]).any()
        held = _reported_in_motion if reported else _stopped_at_once
        if _found_elsewhere(time, position, start, end) or (
            _held(time, start, end) and held(time, velocity if reported else position, start, end)
        ):
            found[start + 1 : end + 1] = True  # the first one was measured
    return found


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


def _odd(values: Array, holds: int, limit: float) -> Mask:
    """Find values further than a limit from the median of those around them."""
    known = np.isfinite(values)
    if known.sum() < 3 or limit <= 0.0:
        return np.zeros(len(values), dtype=bool)
    here = values[known]
    return _where(known, np.abs(here - _running(here, holds)) > limit)


def _running(values: Array, reach: int) -> Array:
    """Return the median of every value and its neighbours, `reach` to either side."""
    padded = np.concatenate((values[reach:0:-1], values, values[-2 : -reach - 2 : -1]))
    if len(padded) < len(values) + 2 * reach:  # fewer values than neighbours
        return np.full(len(values), np.median(values))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
    return np.asarray(np.median(windows, axis=1))


def _where(places: Mask, mask: Mask) -> Mask:
    """Spread a mask of some places over all of them."""
    spread = np.zeros(len(places), dtype=bool)
    spread[places] = mask
    return spread
