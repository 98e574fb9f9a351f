# SPDX-License-Identifier: Apache-2.0
"""Zero offset and command delay of the bench that recorded, fitted while the servo stays as it is.

Both belong to the bench, not to the servo: how the horn was screwed on, and how long bus and driver take. On
another bench than the servo's own they are unknown, and may make most of the error.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.gears.rollout import GearRollout, gear_vector
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, LEAST_DELAY, BenchEffects
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.text.bench_fit_findings import BenchFitted

MOST_RECORDINGS = 50
"""Recordings that are used, every so manieth of those given: two values need no more."""
_MOST_OFFSET = 0.08  # rad; a horn's teeth are 0.25 rad apart, and arms are hung by eye
_MOST_DELAY = 0.05  # s; buses and drivers take 1 to 30 ms
_OFFSETS, _DELAYS = 7, 8  # points of the first grid: 27 mrad and 7 ms apart
_FINEST = 0.01  # of these distances: 0.3 mrad and 0.07 ms
_NEIGHBOURS = np.array([step for step in itertools.product((-1.0, 0.0, 1.0), repeat=2) if any(step)])
_LOW, _HIGH = np.array([-_MOST_OFFSET, LEAST_DELAY]), np.array([_MOST_OFFSET, _MOST_DELAY])


@dataclass(frozen=True, kw_only=True)
class BenchFit:
    """Bench effects with fitted zero offset and command delay.

    Attributes:
        bench_effects: all of them; the other ones are as given.
        recordings: how many they were fitted to.
    """

    bench_effects: BenchEffects
    recordings: int

    def summary(self) -> dict[str, Any]:
        """Return plain values, SI."""
        return {
            "zero_offset": self.bench_effects.zero_offset,
            "command_delay": self.bench_effects.command_delay,
            "fitted_recordings": self.recordings,
        }

    def finding(self, servo: str, error: float, fitted_error: float) -> BenchFitted:
        """Return how much of a servo's mean absolute error is due to the bench.

        Args:
            servo: name.
            error: with the bench as given, rad.
            fitted_error: with the values fitted, rad.
        """
        return BenchFitted(
            servo=servo,
            zero_offset=self.bench_effects.zero_offset,
            command_delay=self.bench_effects.command_delay,
            recordings=self.recordings,
            error=error,
            fitted_error=fitted_error,
        )


def fit_bench(
    servo: ServoLike,
    recordings: Sequence[Recording],
    bench_effects: BenchEffects = IDEAL_BENCH,
    *,
    dt: float | None = None,
    most: int = MOST_RECORDINGS,
) -> BenchFit:
    """Find zero offset and command delay with which the mean absolute error of recordings is least.

    A grid, then steps to neighbours, at half the distance where none is better: the error is smooth in both.

    Args:
        servo: model, library name or file.
        recordings: of one bench.
        bench_effects: of the bench; the search also begins at its zero offset and command delay.
        dt: step of controller and simulation, s; default the firmware's period.
        most: recordings that are used; of more, as many spread evenly over them.

    Raises:
        BamError: the recordings cannot be simulated.
    """
    used = recordings[:: -(-len(recordings) // most)]
    errors = _errors_at(servo, used, bench_effects, dt)
    given = [bench_effects.zero_offset, bench_effects.command_delay]
    axes = (np.linspace(_LOW[0], _HIGH[0], _OFFSETS), np.linspace(_LOW[1], _HIGH[1], _DELAYS))
    points = np.array([given, *itertools.product(*axes)])
    here = errors(points)
    best, least = points[here.argmin()], here.min()
    first = distance = np.array([axis[1] - axis[0] for axis in axes])
    while (distance > _FINEST * first).all():
        points = best + distance * _NEIGHBOURS
        points = points[((points >= _LOW) & (points <= _HIGH)).all(axis=1)]
        if not len(points):  # given values may be outside what is searched
            break
        here = errors(points)
        if here.min() < least:
            best, least = points[here.argmin()], here.min()
        else:
            distance = 0.5 * distance
    return BenchFit(bench_effects=_effects(bench_effects, best), recordings=len(used))


def _effects(bench_effects: BenchEffects, point: Array) -> BenchEffects:
    return replace(bench_effects, zero_offset=float(point[0]), command_delay=float(point[1]))


def _errors_at(
    servo: ServoLike, recordings: Sequence[Recording], bench_effects: BenchEffects, dt: float | None
) -> Callable[[Array], Array]:
    """Return what gives the mean error, rad, at points (points, 2) of zero offset and command delay."""
    model = load_servo(servo)
    rollout: Rollout | GearRollout
    vector: Callable[[ServoModel, BenchEffects], Array]
    if model.gear is None:
        rollout, vector = Rollout.for_servo(recordings, model, dt=dt), parameter_vector
    else:
        rollout, vector = GearRollout(recordings, firmware=model.firmware, dt=dt), gear_vector

    def errors(points: Array) -> Array:
        candidates = np.stack([vector(model, _effects(bench_effects, point)) for point in points])
        return np.asarray(rollout.errors(candidates).mean(axis=1))

    return errors
