# SPDX-License-Identifier: Apache-2.0
"""Finds readings that no bench can have produced, so that one of them does not cost a recording.

Buses lose bits, and recorders repeat what they read last. Such readings are found by how far they are from
their neighbours, compared with what neighbours are usually apart, and take no part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.recordings.frozen_positions import find_frozen, those_that_last
from bam_core.recordings.left_out import Mask, lost, tell, too_many
from bam_core.recordings.neighbours import running_median, spread_over
from bam_core.recordings.position_jumps import find_spikes, samples_beside
from bam_core.text.left_out import LeftOut, Reason

_SUPPLY = 0.25  # of the usual supply: a reading further from its neighbours is false,
_SUPPLY_RANGES = 1.5  # and so many times what 90 % of readings span: of an XL330, 6 and 8 V in turn
_MOSTLY_OFF = 0.5  # of the readings: then it is no false reading, and `Recording` judges
_SUPPLY_HOLDS = 5  # samples to either side
_SUPPLY_LASTS = 0.5  # of the usual supply: a reading so far from it is false however long it lasts
_TEMPERATURE = 10.0  # K; no motor warms by it within
_TEMPERATURE_HOLDS = 10  # samples to either side
_BAD_STRETCH = 0.1  # s of false samples; shorter ones are bridged
_LEAST_STRETCH = 1 / 3  # of a recording's samples, without such a stretch, that are worth to be kept,
_SHORTEST_STRETCH = 1.0  # s, and so long at least
_FEWEST = 2  # sound samples between which there is a path


def without_false_readings(
    columns: Mapping[str, NDArray[Any]],
) -> tuple[dict[str, NDArray[Any]], tuple[LeftOut, ...]]:
    """Return the samples of a recording without those that are false.

    In place of a false position comes one on a smooth path between its neighbours, for the goal of the same
    sample is right and drives the simulation; at the ends, where there is no such path, samples are left out
    as a whole. A false supply or temperature is not known from then on: NaN. Where a larger share than `MOST`
    is false, the longest stretch is kept in which it is smaller. Without such a stretch nothing is left out,
    and `Recording` refuses the whole by `require_few`.

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
        left_out.append(tell("time", Reason.REPEATED, twice))
    if np.all(np.diff(time[~twice]) > 0.0):
        velocity = columns.get("velocity", np.full(len(time), np.nan))
        for reason, mask in false_readings(time[~twice], columns["position"][~twice], velocity[~twice]):
            spread = spread_over(~twice, mask)
            false |= spread
            if reason is not Reason.BESIDE:
                left_out.append(tell("position", reason, spread))
    sound = ~(twice | false)
    begin, end = 0, len(time)
    if too_many(lost(left_out), len(time)):
        begin, end = _longest_stretch(time, false)
        left_out = _cut(left_out, sound, begin, end)
    if begin == end or sound.sum() < _FEWEST:
        return kept, tuple(left_out)
    for name, reason, find in (
        ("voltage", Reason.NO_SUPPLY, no_supply),
        ("voltage", Reason.SPIKE, false_supply),
        ("temperature", Reason.SPIKE, false_temperature),
    ):
        mask = find(kept[name])
        if mask.any():
            left_out.append(tell(name, reason, mask))
            kept[name] = np.where(mask, np.nan, kept[name])
    if false.any():
        kept |= _bridged(kept, sound, false)
    known = begin + np.flatnonzero(sound[begin:end])
    stays = ~twice
    stays[: known[0]] = stays[known[-1] + 1 :] = False
    return {name: values[stays] for name, values in kept.items()}, tuple(left_out)


def _longest_stretch(time: Array, false: Mask) -> tuple[int, int]:
    """Return (begin, end) of the longest stretch without long false ones; 0, 0 if it is too short."""
    edges = np.flatnonzero(np.diff(false, prepend=False, append=False)).reshape(-1, 2)
    long = [(start, end) for start, end in edges if time[end - 1] - time[max(start - 1, 0)] >= _BAD_STRETCH]
    begins, ends = [0, *(end for _, end in long)], [*(start for start, _ in long), len(time)]
    begin, end = max(zip(begins, ends, strict=True), key=lambda stretch: stretch[1] - stretch[0])
    is_short = end - begin < _LEAST_STRETCH * len(time) or time[end - 1] - time[begin] < _SHORTEST_STRETCH
    if is_short or too_many(float(false[begin:end].sum()), end - begin):
        return 0, 0
    return int(begin), int(end)


def _cut(left_out: Sequence[LeftOut], sound: Mask, begin: int, end: int) -> list[LeftOut]:
    """Return what is left out where only the samples from `begin` to `end` are kept; the same if none are."""
    if begin == end:
        return list(left_out)
    rest = sound.copy()
    rest[begin:end] = False
    parts = [replace(part, cut=True) for part in left_out]
    return [*parts, replace(tell("position", Reason.REST, rest), cut=True)] if rest.any() else parts


def _bridged(columns: Mapping[str, NDArray[Any]], sound: Mask, false: Mask) -> dict[str, NDArray[Any]]:
    """Return positions with a path over the false ones, and velocities, which are not known there."""
    from scipy.interpolate import PchipInterpolator  # takes long to load, and most recordings have none

    time, position = columns["time"], columns["position"].copy()
    # It does not overshoot.
    position[false] = PchipInterpolator(time[sound], position[sound])(time[false])
    result: dict[str, NDArray[Any]] = {"position": position}
    if "velocity" in columns:
        result["velocity"] = np.where(false, np.nan, columns["velocity"])
    return result


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
    spikes = find_spikes(time[~missing], position[~missing])
    spike, beside = spread_over(~missing, spikes), spread_over(~missing, samples_beside(spikes))
    sound = ~(missing | spike | beside)
    frozen = spread_over(sound, find_frozen(time[sound], position[sound], velocity[sound]))
    masks = (
        (Reason.MISSING, missing),
        (Reason.SPIKE, spike),
        (Reason.BESIDE, beside),
        (Reason.FROZEN, frozen),
    )
    return [(reason, mask) for reason, mask in masks if mask.any()]


def false_readings(time: Array, position: Array, velocity: Array) -> list[tuple[Reason, Mask]]:
    """Return what `false_positions` does; where it is too much, only among those that are not the one before.

    What updates its position seldom goes in jumps, of which each looks like a false reading. Positions that
    stay for longer than any updates are frozen all the same.
    """
    changes = false_positions(time, position, velocity)
    if not too_many(_count(changes), len(time)):
        return changes
    changed = np.concatenate(([True], np.diff(position) != 0.0))
    among = false_positions(time[changed], position[changed], velocity[changed])
    spread = [(reason, spread_over(changed, mask)) for reason, mask in among]
    lasting = those_that_last(time, dict(changes).get(Reason.FROZEN, np.zeros_like(changed)))
    if lasting.any():
        spread.append((Reason.FROZEN, lasting))
    return min(spread, changes, key=_count)


def _count(masks: Sequence[tuple[Reason, Mask]]) -> int:
    return sum(int(mask.sum()) for reason, mask in masks if reason is not Reason.BESIDE)


def no_supply(voltage: Array) -> Mask:
    """Find readings, V, (n,), with which no servo would have answered; none where most are such."""
    off = np.asarray(voltage <= 0.0)
    return off & (np.count_nonzero(off) < _MOSTLY_OFF * len(off))


def false_supply(voltage: Array) -> Mask:
    """Find readings, V, (n,), that are no supply's: single ones, for a sag lasts, and those far off."""
    known = voltage[np.isfinite(voltage)]
    if not len(known):
        return np.zeros(len(voltage), dtype=bool)
    low, usual, high = np.percentile(known, [5.0, 50.0, 95.0])
    ranges = _SUPPLY_RANGES * (high - low)
    is_outlier = np.abs(voltage - usual) > max(_SUPPLY_LASTS * abs(usual), ranges)
    return is_outlier | _odd(voltage, _SUPPLY_HOLDS, max(_SUPPLY * abs(usual), ranges))


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


def _odd(values: Array, holds: int, limit: float) -> Mask:
    """Find values further than a limit from the median of those around them."""
    known = np.isfinite(values)
    if known.sum() < 3 or limit <= 0.0:
        return np.zeros(len(values), dtype=bool)
    here = values[known]
    return spread_over(known, np.abs(here - running_median(here, holds)) > limit)
