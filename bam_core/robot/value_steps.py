# SPDX-License-Identifier: Apache-2.0
"""What the steps between values show of their unit.

An encoder has whole counts, 4096 per turn in the servos of hobby arms. So its readings are multiples of one
step: 360/4096 degrees, 2π/4096 rad, 1 count, or 200/N for shares of a range of N counts, -100 to 100.
Counts of different joints make equal steps; ranges that a calibration found hardly ever do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bam_core.arrays import Array

DEGREES, RADIANS, NORMALISED, COUNTS = "deg", "rad", "normalised", "counts"

COUNTS_PER_TURN = 4096
"""Of the encoders of Feetech STS and DYNAMIXEL X servos, and in all of LeRobot's own arms."""

LEROBOT_DEGREES = 360.0 / (COUNTS_PER_TURN - 1)
"""What LeRobot's motor buses call so many degrees is one count."""
STEPS: Mapping[str, tuple[float, ...]] = {
    # As LeRobot writes degrees since 0.2, and as the encoder has them.
    DEGREES: (LEROBOT_DEGREES, 360.0 / COUNTS_PER_TURN),
    RADIANS: (2.0 * math.pi / (COUNTS_PER_TURN - 1), 2.0 * math.pi / COUNTS_PER_TURN),
    COUNTS: (1.0,),
}
"""Unit -> steps that all joints have alike."""

_SHARES = 200.0  # from -100 to 100
SAME_STEP = 1e-4  # relative; half of by how much the two of degrees differ, other ranges by far more
_LEAST_VALUES = 20  # distinct ones, from which the step between them is known
_OFF_GRID = 0.05  # of a step, of values in single precision
_LEAST_STEP = 5e-4  # a third of a count in rad; values in single precision have no finer steps
_WHOLE = 0.01  # counts by which a range may seem to be no whole number
_NARROWEST, _TURN_END = 100, COUNTS_PER_TURN - 1  # counts of a calibrated range


@dataclass(frozen=True, kw_only=True)
class UnitProof:
    """What the values of some joints show.

    Attributes:
        unit: "deg", "rad", "counts" or "normalised"; None: nothing.
        steps: joint -> step between its values, of those that have one.
        ranges: joint -> counts of the range that "normalised" values are shares of.
    """

    unit: str | None
    steps: Mapping[str, float]
    ranges: Mapping[str, int] = field(default_factory=dict)


def unit_proof(positions: Mapping[str, Array]) -> UnitProof:
    """Return what the values of joints show of their unit.

    Args:
        positions: joint -> (samples,) measured. Joints with few distinct values do not count.
    """
    steps = {name: step for name, values in positions.items() if (step := value_step(values)) is not None}
    for unit, expected in STEPS.items():
        for one in expected:
            if steps and all(abs(step / one - 1.0) < SAME_STEP for step in steps.values()):
                return UnitProof(unit=unit, steps=steps)
    ranges = {name: count for name, step in steps.items() if (count := _range(step)) is not None}
    # Joints that share one range were rounded to decimals, or are in a unit of their own.
    is_shares = len(ranges) == len(steps) and len(set(ranges.values())) > 1
    within = all(float(np.nanmax(np.abs(positions[name]))) <= 0.5 * _SHARES + steps[name] for name in steps)
    if is_shares and within:
        return UnitProof(unit=NORMALISED, steps=steps, ranges=ranges)
    return UnitProof(unit=None, steps=steps)


def range_counts(values: Array) -> int | None:
    """Return the counts of the range that values from -100 to 100 are shares of; None if nothing shows it."""
    step = value_step(values)
    return None if step is None else _range(step)


def _range(step: float) -> int | None:
    counts = _SHARES / step
    is_range = _NARROWEST <= counts <= _TURN_END + _WHOLE and abs(counts - round(counts)) < _WHOLE
    return round(counts) if is_range else None


def value_step(values: Array) -> float | None:
    """Return the step of which all differences are multiples; None where there is none, or too few values."""
    distinct = np.unique(values[np.isfinite(values)])
    if len(distinct) < _LEAST_VALUES:
        return None
    differences = np.diff(distinct)
    step = float(differences[differences > _LEAST_STEP].min(initial=np.inf))
    if not np.isfinite(step):
        return None
    for _ in range(3):  # the farther away a value, the better it shows the step
        counts = np.round((distinct - distinct[0]) / step)
        step = float((distinct[-1] - distinct[0]) / counts[-1])
    off = np.abs((distinct - distinct[0]) / step - np.round((distinct - distinct[0]) / step))
    return step if off.max() < _OFF_GRID else None
