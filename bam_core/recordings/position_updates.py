# SPDX-License-Identifier: Apache-2.0
"""Finds readings of position that were updated by another clock than they were read by.

A servo, or the driver that asks it, updates the position it reports every so often; a recorder that reads at
another rate gets one that is up to a period old. In 350 logs of a Feetech STS3215, read every 10 ms, they
were updated every 8.00 ms. At 5 rad/s that is up to 40 mrad of error, which no model of a servo explains.

The readings alone show it: between two of them, an arm on the move goes as far as it goes in a whole number
of updates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array

_REACH = 6  # samples to either side that a smooth path is laid through
_DEGREE = 4  # of that path: swings of 4 Hz, sampled at 100 Hz, are within 0.1 ms of it
_MOVES = 0.3  # rad/s; slower, a count of the encoder is worth more time than readings are old
_COUNTS = 4.0  # of the encoder between two readings, at least: fewer make steps of their own
_SMALL = 0.05  # share of steps that may be smaller than a count
_FULL_SPEED = 2.0  # rad/s, from which on all readings determine the time alike
_SOFT = 1e-9  # keeps the normal equations solvable where a gap leaves all other samples on one side
_SMOOTH = 0.05  # rad off that path; more is an impact, or a false reading
_FEWEST = 50  # samples on the move that a clock is sought in
# Periods of reading within which an update's is sought; half of one explains any jitter.
_PERIODS = (0.6, 3.2)
_BIN = 1 / 40  # of a period of reading: what times are rounded to where periods are sought
_FINER = 4  # frequencies per one that the log's length resolves
_PHASES = 40  # per period
_SLIP = 3.0  # what it costs that the clock slips, in readings that are wrong by a period
_DRIFT = 0.1  # and that it drifts by one phase
_MOVES_COST = np.array([0.0, _DRIFT, _DRIFT, _SLIP])
_NEXT, _PREVIOUS = (np.arange(_PHASES) + 1) % _PHASES, (np.arange(_PHASES) - 1) % _PHASES
_AGE_PENALTY = 0.01  # and that a reading is a period old: of clocks that explain all alike, the latest
# Mean change of age from reading to reading, in periods: 0.4 in logs of the STS3215, 0.5 where every second
# reading is repeated. Stamps that are off by a fifth of a period feign a clock near that of reading with 0.14
# to 0.23, so clocks that hardly differ from it are not sought.
_LEAST_CHANGE = 0.3
# Share of that change which a clock leaves at most: 0.2 to 0.54 there, 1.0 and more in other logs.
_EXPLAINED = 0.6
_REPEATED = 0.2  # of the readings on the move, at least, where there is no steady clock; none in sound logs


@dataclass(frozen=True, kw_only=True, eq=False)
class PositionUpdates:
    """When positions were updated.

    Attributes:
        period: of updates, s.
        ages: (n,) s by which each reading is older than its sample, 0 to a period.
    """

    period: float
    ages: Array


def find_updates(time: Array, position: Array) -> PositionUpdates | None:
    """Find the clock by which positions were updated.

    Args:
        time: (n,) s, increasing, at which they were read.
        position: (n,) rad, without false readings.

    Returns:
        The clock; None where positions are as of their times, or where it is unobservable.
    """
    return _by_a_clock(time, position) or _by_repeats(time, position)


def _by_a_clock(time: Array, position: Array) -> PositionUpdates | None:
    """Find a clock that is steady but for slips."""
    if len(time) < _FEWEST:
        return None
    early, weight = _early(time, position)
    if np.count_nonzero(weight) < _FEWEST:
        return None
    spacing = float(np.median(np.diff(time)))
    period = _period(time, early, weight, spacing)
    # What passes between the updates of two readings, by the arm's way.
    intervals, sure = np.diff(time + early), np.minimum(weight[1:], weight[:-1])
    phases = _follow(time, intervals, sure, period)
    ages = np.mod(time - phases, period)
    before = float(np.sum(sure * _wrong(intervals - np.diff(time), period)) / max(np.sum(sure), 1.0))
    after = float(np.sum(sure * _wrong(intervals - np.diff(time - ages), period)) / max(np.sum(sure), 1.0))
    if before < _LEAST_CHANGE or after > _EXPLAINED * before:
        return None
    return PositionUpdates(period=period, ages=ages)


def at_read_times(time: Array, position: Array, ages: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return where the arm was when it was read: on a path through the readings as of their updates.

    Args:
        time: (n,) s, increasing.
        position: (n,) rad.
        ages: (n,) s, of the readings.

    Returns:
        (n,) rad, and (n,) true where readings of later updates determine it; at the end they do not.
    """
    from scipy.interpolate import Akima1DInterpolator  # takes long to load, and most recordings have no need

    # Of readings of one update, the first.
    updates, first = np.unique(np.round(time - ages, 6), return_index=True)
    known = time <= updates[-1]
    path = Akima1DInterpolator(updates, position[first])
    return np.where(known, path(np.clip(time, updates[0], updates[-1])), position), known


def _by_repeats(time: Array, position: Array) -> PositionUpdates | None:
    """Find readings that were repeated while the arm moved on, by a slow clock or by none that is steady."""
    steps = np.diff(position)
    edges = np.flatnonzero(steps) + 1
    if len(edges) < 2:
        return None
    starts, ends = edges[:-1], edges[1:]  # of runs of equal readings, the first and last left out
    moves = _COUNTS * _resolution(position)
    into, out = steps[starts - 1], steps[ends - 1]
    passes = (into * out > 0.0) & (np.minimum(np.abs(into), np.abs(out)) >= moves)
    starts, ends = starts[passes], ends[passes]
    read = int(np.sum(ends - starts))
    if read < _FEWEST or read - len(starts) < _REPEATED * read:
        return None
    ages = np.zeros(len(time))
    for start, end in zip(starts, ends, strict=True):
        ages[start:end] = time[start:end] - time[start]
    return PositionUpdates(period=float(np.mean(time[ends] - time[starts])), ages=ages)


def _resolution(position: Array) -> float:
    """Return a count of the encoder, rad: among the smallest steps, of which bridged readings make a few."""
    steps = np.abs(np.diff(position))
    moved = steps[steps > 0.0]
    return float(np.quantile(moved, _SMALL)) if len(moved) else np.inf


def _early(time: Array, position: Array) -> tuple[Array, Array]:
    """Return by how much readings are ahead of a smooth path, (n,) s, and their weights, (n,) 0 to 1."""
    count = len(time)
    places = np.arange(_REACH, count - _REACH)
    windows = places[:, None] + np.arange(-_REACH, _REACH + 1)
    here = time[windows] - time[places][:, None]
    scale = np.max(np.abs(here), axis=1, keepdims=True)
    powers = (here / scale)[:, :, None] ** np.arange(_DEGREE + 1)
    normal = np.einsum("nij,nik->njk", powers, powers) + _SOFT * np.eye(_DEGREE + 1)
    right = np.einsum("nij,ni->nj", powers, position[windows])
    terms = np.linalg.solve(normal, right[:, :, None])[:, :, 0]
    off = position[windows] - np.einsum("nij,nj->ni", powers, terms)
    velocity = terms[:, 1] / scale[:, 0]
    slowest = max(_MOVES, _COUNTS * _resolution(position) / np.median(np.diff(time)))
    moves = (np.abs(velocity) > slowest) & (np.sqrt(np.mean(off**2, axis=1)) < _SMOOTH)
    early, weight = np.zeros(count), np.zeros(count)
    inner = slice(_REACH, count - _REACH)
    early[inner] = np.where(moves, off[:, _REACH] / np.where(moves, velocity, 1.0), 0.0)
    weight[inner] = np.where(moves, np.minimum(np.abs(velocity) / _FULL_SPEED, 1.0) ** 2, 0.0)
    return early, weight


def _period(time: Array, early: Array, weight: Array, spacing: float) -> float:
    """Return the period on whose multiples updates lie best, and better than the times of reading do."""
    bin_ = _BIN * spacing
    start = time[0] - 2.0 * spacing
    count = 1 << int(_FINER * (time[-1] - start + 4.0 * spacing) / bin_).bit_length()

    def spectrum(times: Array) -> Array:
        places = np.clip(((times - start) / bin_).astype(int), 0, count - 1)
        return np.abs(np.fft.rfft(np.bincount(places, weights=weight, minlength=count)))

    frequency = np.fft.rfftfreq(count, bin_)
    gain = spectrum(time + early) - spectrum(time)
    low, high = _PERIODS
    gain[(frequency * low * spacing > 1.0) | (frequency * high * spacing < 1.0)] = -np.inf
    return float(1.0 / frequency[np.argmax(gain)])


def _follow(time: Array, intervals: Array, sure: Array, period: float) -> Array:
    """Return the phase of the clock at every sample, (n,) s: the cheapest way through a log (Viterbi).

    A clock of software slips where its task is late: in the logs of the STS3215, where torque is switched
    off, and now and then.
    """
    phases = period * np.arange(_PHASES) / _PHASES
    ticks = np.floor((time[:, None] - phases) / period)  # updates until each sample
    wrong = sure[:, None] * _wrong(intervals[:, None] - period * np.diff(ticks, axis=0), period)
    wrong += _AGE_PENALTY * np.mod(time[1:, None] - phases, period) / period
    before = np.empty((len(wrong), _PHASES))  # cheapest ways that end at each phase, before each pair
    cost = np.zeros(_PHASES)
    for row, costs_of_phases in enumerate(wrong):
        before[row] = cost
        drifted = np.minimum(cost.take(_NEXT), cost.take(_PREVIOUS)) + _DRIFT
        cost = costs_of_phases + np.minimum(np.minimum(cost, drifted), cost.min() + _SLIP)
    way = np.empty(len(time), dtype=np.intp)
    way[-1] = at = int(np.argmin(cost))
    for row in range(len(wrong) - 1, -1, -1):
        costs = before[row]
        choices = (at, _NEXT[at], _PREVIOUS[at], int(np.argmin(costs)))
        way[row] = at = min(zip(costs.take(choices) + _MOVES_COST, choices, strict=True))[1]
    return phases[way]


def _wrong(seconds: Array, period: float) -> Array:
    """Return errors of times in periods, at most one."""
    return np.minimum(np.abs(seconds) / period, 1.0)
